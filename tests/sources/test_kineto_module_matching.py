"""Modules of random models are never given the name of another one."""

from collections import Counter
from dataclasses import dataclass, field
from random import Random

import pytest

from tfprof.sources.kineto.attribute_paths import matched
from tfprof.sources.kineto.module_calls import Called
from tfprof.sources.kineto.python_calls import Instances

SIZES = (4, 8, 16)
NAMES = ("embed", "attn", "mlp", "norm", "head")


@dataclass
class Module:
    class_name: str  # empty for a list of modules, which is not called
    own: dict[str, tuple[int, ...]] = field(default_factory=dict)
    inner: dict[str, "Module"] = field(default_factory=dict)


def chance(seed):
    return Random(seed)  # noqa: S311 -- no secret


def leaf(random):
    rows, columns = random.choice(SIZES), random.choice(SIZES)
    matrix, vector = {"weight": (rows, columns)}, {"weight": (rows,), "bias": (rows,)}
    owns = {
        "Linear": matrix | {"bias": (rows,)},
        "Projection": matrix,
        "Embedding": matrix,
        "LayerNorm": vector,
        "BatchNorm1d": vector | {"running_mean": (rows,), "running_var": (rows,)},
        "Scale": {"scale": (rows,)},
        "ReLU": {},
    }
    class_name = random.choice(list(owns))
    return Module(class_name, owns[class_name])


def module(random, depth):
    if depth == 0 or random.random() < 0.3:
        return leaf(random)
    class_name = random.choice(["Block", "Encoder", "Sequential"])
    names = random.sample(NAMES, random.randint(2, 4))
    inner = {name: module(random, depth - 1) for name in names}
    if random.random() < 0.3:
        seed = random.random()
        equal = [module(chance(seed), depth - 1) for _ in range(random.randint(2, 4))]
        inner["layers"] = Module("", inner=dict(zip("0123", equal, strict=False)))
    if class_name == "Sequential":
        inner = {str(place): one for place, one in enumerate(inner.values()) if one.class_name}
    return Module(class_name, inner=inner)


def parameters(one, path=()):
    found = {".".join((*path, name)): shape for name, shape in one.own.items()}
    for name, inner in one.inner.items():
        found |= parameters(inner, (*path, name))
    return found


def calls(random, one, shuffled, path=()):
    """The path, class, caller and inputs of each module, in the order of the calls."""
    found = []
    if one.class_name:
        batch = random.choice([(2,), (2,), ()])
        activation = (*batch, random.choice(SIZES), random.choice(SIZES))
        inputs = [Counter([*one.own.values(), activation])] if not one.inner else []
        found.append((path, one.class_name, -1, inputs))
    outermost = len(found) - 1
    inner = list(one.inner.items())
    if shuffled and one.class_name not in ("", "Sequential"):
        random.shuffle(inner)
    for name, each in inner:
        before = len(found)
        for at, kind, above, inputs in calls(random, each, shuffled, (*path, name)):
            found.append((at, kind, outermost if above < 0 else before + above, inputs))
    return found


@pytest.mark.parametrize("is_in_order", [True, False], ids=["in order", "in any order"])
def test_modules_of_random_models_have_their_own_names_or_none(is_in_order):
    named = modules = 0
    for seed in range(200):
        random = chance(seed)
        model = Module("Model", inner={name: module(random, 2) for name in NAMES[:4]})
        rows = calls(random, model, shuffled=not is_in_order)
        truth, classes, callers, inputs = zip(*rows, strict=True)
        names = [f"{class_name}_{row}" for row, class_name in enumerate(classes)]
        called = Called(Instances(names, classes, callers), inputs)
        known = list(parameters(model).items())
        if not is_in_order:
            random.shuffle(known)

        found = matched(called, dict(known), is_in_order=is_in_order)

        paths = found.path if found else [None] * len(rows)
        assert [
            (path, true)
            for path, true in zip(paths, truth, strict=True)
            if path not in (None, true)
        ] == []
        named += sum(path is not None for path in paths)
        modules += len(rows)
    assert named / modules > 0.8
