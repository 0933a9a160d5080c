"""Writes the checkpoints of this folder, and the values that TensorFlow reads back from them."""

import json
import shutil
from pathlib import Path

import ml_dtypes
import numpy as np
import tensorflow as tf

HERE = Path(__file__).parent
FLOATS = [-2.0, -0.5, 0.0, 1.0, 1.5, 240.0]
FLOAT8 = ["e5m2", "e4m3fn", "e4m3fnuz", "e4m3b11fnuz", "e5m2fnuz"]
QUANTISED = {
    "qint8": "int8",
    "quint8": "uint8",
    "qint16": "int16",
    "quint16": "uint16",
    "qint32": "int32",
}
WHOLE = ""


def numbers() -> dict[str, np.ndarray]:
    """A small array of each type that numpy supports."""
    values: dict[str, np.ndarray] = {}
    for name in ("float16", "float32", "float64"):
        values[f"types/{name}"] = np.array([*FLOATS, np.inf, 1 / 3], name).reshape(2, 4)
    for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
        limits = np.iinfo(name)
        values[f"types/{name}"] = np.array([limits.min, 0, 1, 77, limits.max], name)
    for name in ("complex64", "complex128"):
        values[f"types/{name}"] = np.array([1 + 2j, -3.5j, 0], name)
    values["types/bool"] = np.array([[True, False], [False, True]])
    values["scalars/step"] = np.array(1234567890123, "int64")
    values["scalars/rate"] = np.array(0.001, "float32")
    values["empty/rows"] = np.zeros((0, 3), "float32")
    values["empty/cols"] = np.zeros((2, 0), "int32")
    return values


def strings() -> dict[str, tf.Tensor]:
    """String tensors: empty, arbitrary bytes, and lengths of one and two varint bytes."""
    return {
        "types/string": tf.constant([[b"", b"a"], [b"\x00\xff\xfe", b"x" * 200]]),
        "scalars/note": tf.constant("caf\u00e9"),
        "empty/words": tf.constant([], dtype=tf.string),
    }


def rare() -> dict[str, tf.Tensor]:
    """Arrays of the types that numpy does not support."""
    values = {"types/bfloat16": tf.constant(np.array(FLOATS, ml_dtypes.bfloat16))}
    for kind in FLOAT8:
        name = f"float8_{kind}"
        values[f"types/{name}"] = tf.constant(
            np.arange(256, dtype="uint8").view(getattr(ml_dtypes, name))
        )
    for name, held in (
        ("int4", [-8, -1, 0, 7]),
        ("uint4", [0, 1, 15]),
        ("int2", [-2, 1]),
        ("uint2", [3]),
    ):
        values[f"types/{name}"] = tf.constant(np.array(held, getattr(ml_dtypes, name)))
    return values | quantised(QUANTISED)


def quantised(kinds: dict[str, str]) -> dict[str, tf.Tensor]:
    """Four values of each quantised type; `kinds` gives the plain type with the same bits."""
    return {
        f"types/{name}": tf.bitcast(tf.constant([0, 1, 100, 127], plain), name)
        for name, plain in kinds.items()
    }


def pieces() -> tuple[dict[str, list[tuple[str, np.ndarray]]], ...]:
    """Partitioned tensors, split into two shards: for each name, slices and their values."""
    tall = np.arange(600, dtype="float32").reshape(300, 2)
    grid = np.arange(24, dtype="int64").reshape(4, 6)
    first = {
        "parts/tall": [("300 2 0,200:-", tall[:200])],
        "parts/grid": [("4 6 0,2:0,3", grid[:2, :3]), ("4 6 0,2:3,3", grid[:2, 3:])],
    }
    second = {
        "parts/tall": [("300 2 200,100:-", tall[200:])],
        "parts/grid": [("4 6 2,2:0,6", grid[2:])],
    }
    return first, second


def write_bundle(prefix: Path) -> None:
    """Write a V2 checkpoint of two shards."""
    halves: list[list[tuple[str, str, object]]] = [[], []]
    for at, (name, value) in enumerate({**numbers(), **strings(), **rare()}.items()):
        halves[at % 2].append((name, WHOLE, value))
    for half, parts in zip(halves, pieces(), strict=True):
        half.extend((name, place, value) for name, saved in parts.items() for place, value in saved)
    temporary = [f"{prefix}-part-{at}" for at in range(2)]
    for part, half in zip(temporary, halves, strict=True):
        names, places, values = zip(*half, strict=True)
        tf.raw_ops.SaveV2(prefix=part, tensor_names=names, shape_and_slices=places, tensors=values)
    tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=temporary, destination_prefix=str(prefix))


def write_v1(path: Path) -> None:
    """Write a V1 checkpoint of one file with the Saver, with a variable in three partitions."""
    v1 = tf.compat.v1
    unsaved = ("types/uint32", "types/uint64")
    plain = {name: value for name, value in numbers().items() if name not in unsaved}
    with tf.Graph().as_default(), v1.Session() as session:
        held = plain | {
            "types/string": [b"", b"a", b"\x00\xff\xfe", b"x" * 200],
            "scalars/note": "caf\u00e9",
        }
        for name, value in held.items():
            v1.get_variable(name, initializer=tf.constant(value), use_resource=False)
        v1.get_variable(
            "parts/tall",
            shape=(300, 2),
            initializer=rows,
            partitioner=v1.fixed_size_partitioner(3),
            use_resource=False,
        )
        session.run(v1.global_variables_initializer())
        saver = v1.train.Saver(write_version=v1.train.SaverDef.V1)
        saver.save(session, str(path), write_meta_graph=False, write_state=False)


def rows(shape: list[int], partition_info: object, **_: object) -> np.ndarray:
    """The rows of `parts/tall` in one partition."""
    first = partition_info.var_offset[0]
    return np.arange(600, dtype="float32").reshape(300, 2)[first : first + shape[0]]


def write_v1_shards(prefix: Path) -> None:
    """Write a V1 checkpoint of two files, with tensors that are split between both."""
    extra = [quantised({name: QUANTISED[name] for name in ("qint8", "quint8", "qint32")}), {}]
    for at, parts in enumerate(pieces()):
        saved = [(name, place, value) for name, held in parts.items() for place, value in held]
        saved += [(name, WHOLE, value) for name, value in extra[at].items()]
        saved.append((f"only/{at}", WHOLE, np.array([at], "float32")))
        names, places, values = zip(*saved, strict=True)
        tf.raw_ops.SaveSlices(
            filename=f"{prefix}-{at:05}-of-00002",
            tensor_names=names,
            shapes_and_slices=places,
            data=values,
        )


def expected(path: str) -> dict[str, object]:
    """Type, shape and flat values of every tensor, as TensorFlow reads them."""
    reader = tf.train.load_checkpoint(path)
    kinds = reader.get_variable_to_dtype_map()
    return {
        name: {
            "dtype": kinds[name].name,
            "shape": shape,
            "values": listed(value_of(reader, path, name, kinds[name])),
        }
        for name, shape in sorted(reader.get_variable_to_shape_map().items())
    }


def value_of(reader: object, path: str, name: str, kind: tf.DType) -> object:
    """One tensor; in V1 checkpoints only the op can read partitioned tensors and rare types."""
    if Path(f"{path}.index").exists():
        return reader.get_tensor(name)
    restored = tf.raw_ops.Restore(file_pattern=path, tensor_name=name, dt=kind)
    if kind.is_quantized:
        restored = tf.bitcast(restored, QUANTISED[kind.name])
    return restored.numpy()


def listed(value: object) -> list[object]:
    """The values in a form that JSON supports: complex as pairs, bytes in hexadecimal."""
    array = np.asarray(value)
    if array.dtype.names:
        array = array[array.dtype.names[0]]
    if array.dtype.kind == "c":
        return [[float(one.real), float(one.imag)] for one in array.ravel()]
    if array.dtype.kind in "OS":
        return [bytes(one).hex() for one in array.ravel()]
    if array.dtype.kind == "V":
        array = array.astype("float32")
    return array.ravel().tolist()


def main() -> None:
    for folder in ("v2", "v1", "v1_shards"):
        shutil.rmtree(HERE / folder, ignore_errors=True)
        (HERE / folder).mkdir()
    write_bundle(HERE / "v2" / "model.ckpt")
    write_v1(HERE / "v1" / "model.ckpt")
    write_v1_shards(HERE / "v1_shards" / "model.ckpt")
    answers = {
        "v2": expected(str(HERE / "v2" / "model.ckpt")),
        "v1": expected(str(HERE / "v1" / "model.ckpt")),
        "v1_shards": expected(str(HERE / "v1_shards" / "model.ckpt-?????-of-00002")),
    }
    for name, tensors in answers.items():
        lines = ",\n".join(
            f"{json.dumps(key)}: {json.dumps(held)}" for key, held in tensors.items()
        )
        (HERE / name / "expected.json").write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
