"""The checkers of the original; `tests/parity` compares their texts with the original's."""

import pytest

from build import CPU, GPU, GPU_STREAM, op, profile, run
from tfprof.advisor import accelerator_utilization, expensive_operations, operations
from tfprof.errors import MissingInputError


def classic(checker, p):
    return [finding.classic for finding in checker.check(p)]


# Utilisation


@pytest.mark.parametrize(
    ("busy", "words"), [(49, "low utilization: 0.49"), (50, "utilization: 0.50")]
)
def test_a_utilization_below_one_half_is_called_low(busy, words):
    p = profile(run("a", 100, device=GPU), run("a", busy, device=GPU_STREAM))

    (finding,) = accelerator_utilization.check(p)

    assert finding.classic == f"device: {GPU} {words}"
    assert finding.evidence.to_dicts() == [{"device": GPU, "busy_micros": busy, "of_micros": 100}]
    assert finding.gain is None


def test_each_op_counts_in_its_last_step():
    p = profile(
        run("a", 100, step=0, device=GPU),
        run("a", 90, step=0, device=GPU_STREAM),
        run("a", 100, step=1, device=GPU),
        run("a", 20, step=1, device=GPU_STREAM),
    )

    assert classic(accelerator_utilization, p) == [f"device: {GPU} low utilization: 0.20"]


def test_without_an_accelerator_there_is_no_finding():
    assert classic(accelerator_utilization, profile(run("a", 100, device=CPU))) == []


# Operations


def test_unfused_batch_norm_is_found_with_its_gain():
    p = profile(op("n/BatchNorm/mul", "Mul"), run("n/BatchNorm/mul", 30), run("b", 70, start=1030))

    (finding,) = operations.check(p)

    assert finding.classic == "Maybe use faster FusedBatchNorm instead of BatchNorm"
    assert finding.ops == ("n/BatchNorm/mul",)
    assert str(finding.gain) == "at most 30us of 100us of the step (30.00%)"


def test_batch_norm_that_never_ran_has_no_gain():
    (finding,) = operations.check(profile(op("BatchNorm")))

    assert finding.gain is None


@pytest.mark.parametrize("fused", [op("a", "FusedBatchNorm"), op("a", types=["FusedBatchNorm"])])
def test_batch_norm_is_not_reported_if_any_op_is_fused(fused):
    assert classic(operations, profile(op("BatchNorm"), fused)) == []


def nhwc(device, data_format="NHWC"):
    conv = op("c", "Conv2D", attributes={"data_format": data_format})
    return profile(op("b", "Conv2D"), conv, run("c", device=device), run("b", device=device))


def test_nhwc_on_a_gpu_is_found():
    (finding,) = operations.check(nhwc(GPU))

    assert finding.classic == "Found operation using NHWC data_format on GPU. Maybe NCHW is faster."
    assert finding.ops == ("c",)


@pytest.mark.parametrize("p", [nhwc(CPU), nhwc(GPU, "NCHW"), nhwc(GPU, 3), profile()])
def test_other_formats_and_devices_are_not_reported(p):
    assert classic(operations, p) == []


# Expensive operations


def test_the_most_expensive_kinds_scopes_and_lines_are_reported():
    line = ["main.py:1:main", "net.py:2:f"]
    p = profile(
        op("n/a", "MatMul", code=line),
        op("m/b", "Add", code=["main.py:1:main", "net.py:9:g"]),
        run("n/a", 3000),
        run("m/b", 1000),
    )

    kinds, scopes, lines = expensive_operations.check(p)

    assert kinds.classic == (
        "top 1 operation type: MatMul, cpu: 3.00ms, accelerator: 0us, total: 3.00ms (75.00%)\n"
        "top 2 operation type: Add, cpu: 1.00ms, accelerator: 0us, total: 1.00ms (25.00%)"
    )
    assert kinds.sentence == "The most expensive kinds, `MatMul`, `Add`, take 100% of the time."
    assert scopes.classic == (
        "top 1 graph node: n, cpu: 0us, accelerator: 0us, total: 0us\n"
        "top 2 graph node: m, cpu: 0us, accelerator: 0us, total: 0us"
    )
    # The evidence has the totals, which the text of the original lacks.
    assert [row["total_micros"] for row in scopes.evidence.to_dicts()] == [3000, 1000]
    assert lines.classic == (
        "net.py:2:f, cpu: 3.00ms, accelerator: 0us, total: 3.00ms\n"
        "net.py:9:g, cpu: 1.00ms, accelerator: 0us, total: 1.00ms"
    )


def test_without_code_lines_kinds_and_scopes_are_reported_before_the_error():
    findings = expensive_operations.check(profile(run("a", 3000)))

    assert next(findings).classic.startswith("top 1 operation type: a")
    assert next(findings).classic.startswith("top 1 graph node: a")
    with pytest.raises(MissingInputError, match="--op_log_path"):
        next(findings)


def test_cheap_scopes_are_not_reported():
    findings = expensive_operations.check(profile(run("a", 99)))

    assert next(findings).classic.startswith("top 1 operation type: a")
    with pytest.raises(MissingInputError):
        next(findings)


def test_the_error_without_a_step_names_the_file_to_give():
    with pytest.raises(MissingInputError, match="--run_meta_path"):
        list(expensive_operations.check(profile(op("a"))))


def test_the_iterators_of_the_input_pipeline_are_not_expensive_ops():
    p = profile(
        op("tf_data/Root", "Iterator::Root"),
        op("net/a", "MatMul"),
        run("tf_data/Root", 9000),
        run("net/a", 500),
    )
    kinds, scopes = reported(p)

    assert kinds.ops == ("MatMul",)
    assert "take 100% of the time" in kinds.sentence
    assert scopes.ops == ("net",)


def reported(p):
    """The findings before the error about missing code lines."""
    found = []
    with pytest.raises(MissingInputError):
        found.extend(expensive_operations.check(p))
    return found
