"""Questions about changed recordings (XSpace) end with an answer or an error of ours."""

import gzip
import random
from pathlib import Path

import pytest

import tfprof
from tfprof.errors import TfprofError
from tfprof.formats import wire
from tfprof.metrics import METRICS

SEEDS = range(30)
SAMPLE = Path(__file__).parents[1] / "samples" / "capture"
RECORDING = gzip.decompress((SAMPLE / "plugins/profile/sample/host.xplane.pb.gz").read_bytes())
SELECT = [metric.key for metric in METRICS if metric.key != "tensor_value"]

# The messages in each message, by field.
NESTED = {
    "space": {1: "plane"},
    "plane": {3: "line", 4: "entry", 5: "entry", 6: "stat"},
    "line": {4: "event"},
    "entry": {2: "metadata"},
    "metadata": {5: "stat"},
    "event": {4: "stat"},
    "stat": {},
}
NUMBERS = (0, 1, 2, 5, 2**31, 10**12, 10**15, 2**62, 2**63 - 1, 2**63, 2**64 - 1)
TEXTS = (
    *(b"", b"/", b"\xff\xfe", b"a:b", b"Steps", b"train", b"/device:GPU:0", b"/host:CPU"),
    *(b"Iterator::", b"Iterator::A::B", b"Iterator::Root::" * 50, b"group_id", b"step_num"),
)


def changed(data, chance, kind="space"):
    """The message with one change somewhere in it."""
    fields = [
        [number, type_, data[start:end] if type_ == wire.SPAN else start]
        for number, type_, start, end in wire.fields(data)
    ]
    inner = [
        at
        for at, (number, type_, _) in enumerate(fields)
        if type_ == wire.SPAN and number in NESTED[kind]
    ]
    if inner and chance.random() < 0.85:
        at = chance.choice(inner)
        fields[at][2] = changed(fields[at][2], chance, NESTED[kind][fields[at][0]])
    elif fields:
        change(fields, chance, NESTED[kind])
    return b"".join(written(*field) for field in fields)


def change(fields, chance, nested):
    at = chance.randrange(len(fields))
    number, type_, _ = fields[at]
    action = chance.random()
    if action < 0.5 and type_ == wire.VARINT:
        fields[at][2] = chance.choice(NUMBERS)
    elif action < 0.5 and type_ == wire.SPAN and number not in nested:
        fields[at][2] = chance.choice(TEXTS)
    elif action < 0.65:
        del fields[at]
    elif action < 0.85:
        fields.insert(chance.randrange(len(fields)), list(fields[at]))
    else:
        chance.shuffle(fields)


def written(number, type_, value):
    if type_ == wire.VARINT:
        return wire.encoded(number << 3) + wire.encoded(value)
    if type_ == wire.SPAN:
        return wire.encoded(number << 3 | 2) + wire.encoded(len(value)) + value
    return b""  # floating-point numbers, which no answer uses


def questions(profile, folder):
    for view in ("scope", "graph", "code", "op", "layers"):
        yield lambda view=view: getattr(profile, view)(select=SELECT, max_depth=100).table
    yield lambda: profile.flops().report
    yield lambda: profile.memory().report
    yield lambda: profile.advise().text()
    yield lambda: (str(profile.step_times()), profile.step_times().to_dict())
    yield lambda: profile.write_timeline(folder / "timeline.json")
    yield lambda: profile.save(folder / "saved") and tfprof.load(folder / "saved")
    yield profile.info


@pytest.mark.parametrize("seed", SEEDS)
def test_a_changed_recording_is_answered_or_refused(seed, tmp_path):
    chance = random.Random(seed)  # noqa: S311 -- no secret
    data = RECORDING
    for _ in range(chance.choice((1, 2, 5, 40))):
        data = changed(data, chance)
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(data)
    beside = [SAMPLE / "graph.pb.gz"] if seed % 2 else []
    try:
        profile = tfprof.load(path, *beside)
    except TfprofError:
        return
    for question in questions(profile, tmp_path):
        try:
            question()
        except TfprofError as error:
            assert "\n" not in str(error)  # noqa: PT017 -- answers are fine as well
