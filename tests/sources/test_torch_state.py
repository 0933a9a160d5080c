"""Which tensors of a checkpoint are those of the model, and damaged and hostile checkpoints."""

import io
import pickle
import zipfile
from pathlib import Path

import pytest

import tfprof
from tfprof.errors import InputError

SAMPLES = Path(__file__).parents[1] / "samples" / "pytorch"


class Call:
    """Is pickled as a call of a function or class that need not exist."""

    def __init__(self, name, *args, state=None):
        module, _, self.__qualname__ = name.rpartition(".")
        self.target, self.args, self.state = Global(module, self.__qualname__), args, state


class Global:
    """Is pickled as the name of a function or class that need not exist."""

    def __init__(self, module, name):
        self.module, self.name = module, name


class Storage:
    """Is pickled as a reference to values."""

    def __init__(self, key, count, kind="FloatStorage"):
        self.about = ("storage", Global("torch", kind), key, "cpu", count)


class Pickler(pickle._Pickler):
    """Writes the classes above."""

    def persistent_id(self, value):
        return value.about if isinstance(value, Storage) else None

    def save(self, value, save_persistent_id=True):
        if isinstance(value, Global):
            self.write(b"c" + f"{value.module}\n{value.name}\n".encode())
        elif isinstance(value, Call):
            self.save(value.target)
            self.save(value.args)
            self.write(b"R")
            if value.state is not None:
                self.save(value.state)
                self.write(b"b")
        else:
            super().save(value, save_persistent_id)


def pickled(value):
    out = io.BytesIO()
    pickler = Pickler(out, 2)
    pickler.fast = True
    pickler.dump(value)
    return out.getvalue()


def tensor(*shape, key="0", offset=0, count=1000, strides=None, kind="FloatStorage"):
    usual, step = [], 1
    for size in reversed(shape):
        usual.insert(0, step)
        step *= size
    storage = Storage(key, count, kind)
    strides = tuple(usual) if strides is None else strides
    name = "torch._utils._rebuild_tensor_v2"
    return Call(name, storage, offset, shape, strides, False, None)


def archive(path, structure, values=("0", "1", "2"), kind=zipfile.ZIP_STORED):
    """An archive of a pickle and values of a thousand floats."""
    data = structure if isinstance(structure, bytes) else pickled(structure)
    with zipfile.ZipFile(path, "w", kind) as file:
        file.writestr("a/data.pkl", data)
        file.writestr("a/byteorder", "little")
        for key in values:
            file.writestr(f"a/data/{key}", bytes(4000))
    return path


def shapes(path):
    ops = tfprof.load(path).columns.ops
    return {ops.name[row]: ops.shape[row] for row in range(len(ops))}


def refusal(path):
    with pytest.raises(InputError) as caught:
        tfprof.load(path)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(path))
    return caught.value.trouble


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.pt"


def test_a_table_of_tensors_is_the_model(path):
    archive(path, {"a.w": tensor(2, 3), "a.b": tensor(3, key="1")})

    assert shapes(path) == {"a/b": (3,), "a/w": (2, 3)}


def test_tables_in_tables_are_scopes(path):
    archive(path, {"params": {"one": {"w": tensor(2)}, "two": {"w": tensor(3, key="1")}}})

    assert shapes(path) == {"params/one/w": (2,), "params/two/w": (3,)}


def test_several_models_in_a_checkpoint_all_count_under_their_keys(path):
    archive(path, {"G": {"w": tensor(2)}, "D": {"w": tensor(2, key="1")}, "epoch": 3})

    assert shapes(path) == {"D/w": (2,), "G/w": (2,)}


def test_an_average_of_the_model_is_not_counted_again(path):
    archive(path, {"ema": {"w": tensor(2)}, "model": {"w": tensor(2, key="1")}})

    assert shapes(path) == {"w": (2,)}
    notes = " ".join(tfprof.load(path).notes)
    assert "its parameters are those of `model`" in notes
    assert "contains copies of them, which are not counted: `ema`" in notes


@pytest.mark.parametrize(
    "average",
    [
        {"module.w": tensor(2, key="1"), "module.v": tensor(3), "n_averaged": tensor(key="2")},
        {"decay": 0.9, "shadow_params": [tensor(2, key="1"), tensor(3)]},
    ],
)
def test_an_average_with_names_of_its_own_is_not_counted_again(average, path):
    archive(path, {"model": {"w": tensor(2), "v": tensor(3)}, "ema": average})

    assert shapes(path) == {"v": (3,), "w": (2,)}
    assert "contains copies of them" in " ".join(tfprof.load(path).notes)


def test_a_teacher_of_another_size_is_a_model_of_its_own(path):
    archive(path, {"model": {"w": tensor(2)}, "teacher": {"w": tensor(9, key="1")}})

    assert shapes(path) == {"model/w": (2,), "teacher/w": (9,)}


@pytest.mark.parametrize("kind", ["FloatStorage", "ByteStorage"])
def test_scores_and_random_states_in_tables_are_not_a_model(kind, path):
    shape = (5,) if kind == "ByteStorage" else ()
    other = {"best": tensor(*shape, key="1", kind=kind)}
    archive(path, {"state_dict": {"w": tensor(2)}, "callbacks": {"Checkpoint": other}})

    assert shapes(path) == {"w": (2,)}
    notes = " ".join(tfprof.load(path).notes)
    assert "its parameters are those of `state_dict`." in notes
    assert "other tensors, which are not counted: `callbacks.Checkpoint.best`" in notes


def test_other_tensors_beside_a_model_are_named(path):
    archive(path, {"model": {"w": tensor(2), "v": tensor(1)}, "rng_state": tensor(8, key="1")})

    assert "other tensors, which are not counted: `rng_state`" in " ".join(tfprof.load(path).notes)


def test_unknown_objects_beside_the_tensors_do_not_matter(path):
    config = Call("my.project.Config", state={"lr": 0.1, "sub": Call("my.project.Sub")})
    archive(path, {"model": {"w": tensor(2)}, "config": config, "when": Call("datetime.now")})

    assert shapes(path) == {"w": (2,)}


def test_tensors_of_unknown_kinds_are_noted(path):
    sparse = Call("torch._utils._rebuild_sparse_tensor", 1, (tensor(2), tensor(2), (9, 9)))
    archive(path, {"w": tensor(2), "s": sparse})

    assert shapes(path) == {"w": (2,)}
    note = (
        "contains 1 tensor of an unknown kind, not counted as parameters: `_rebuild_sparse_tensor`."
    )
    assert note in " ".join(tfprof.load(path).notes)


def test_a_distributed_tensor_has_the_shape_of_the_whole(path):
    name, layout = "torch._utils._rebuild_wrapper_subclass", Call("torch.serialization._get_layout")
    kind = Global("torch.distributed.tensor", "DTensor")
    args = (kind, Global("torch", "float32"), (8, 4), (4, 1), 0, layout, "cpu", False)
    state = (None, {"_local_tensor": tensor(2, 4)})
    function = Global("torch._utils", "_rebuild_wrapper_subclass")
    whole = Call("torch._tensor._rebuild_from_type_v2", function, kind, args, state)
    archive(path, {"w": whole, "v": Call(name, *args)})

    assert shapes(path) == {"v": (8, 4), "w": (8, 4)}
    assert "unknown kind" not in " ".join(tfprof.load(path).notes)


def test_parameters_that_deepspeed_distributes_have_their_stated_shapes(path):
    stated = [{"w": Call("torch.Size", (8, 4))}]
    archive(path, {"module": {"w": tensor(0), "b": tensor(3)}, "param_shapes": stated})

    assert shapes(path) == {"b": (3,), "w": (8, 4)}


def test_the_flat_parts_of_a_distributed_optimizer_are_not_a_model(path):
    flat = {"zero_stage": 3, "fp32_flat_groups": [tensor(100)]}
    archive(path, {"optimizer_state_dict": flat})

    assert refusal(path).startswith("contains no tensors of a model; ")


@pytest.mark.parametrize("kind", ["QInt8Storage", "QUInt8Storage"])
def test_quantised_tensors_are_parameters_that_are_not_trained(kind, path):
    archive(path, {"a.weight": tensor(5, 3, kind=kind), "a.bias": tensor(5, key="1")})
    profile = tfprof.load(path)

    assert profile.scope(select=["params"])["_TFProfRoot"]["total_params"] == 20
    trained = profile.scope(select=["params"], account_type_regexes=["_trainable_variables"])
    assert trained["_TFProfRoot"]["total_params"] == 5


def test_packed_weights_are_noted(path):
    packed = tensor(4, 2, key="1", kind="IntStorage")
    archive(path, {"a.qweight": packed, "a.scales": tensor(4), "steps": tensor(kind="LongStorage")})
    profile = tfprof.load(path)

    assert profile.scope(select=["params"])["_TFProfRoot"]["total_params"] == 4
    (note,) = [note for note in profile.layers().notes if "packed weights" in note]
    assert "contains 1 tensor of integers (8 values)" in note
    assert note.endswith("not counted as parameters: `a.qweight`.")


def test_nothing_that_is_named_in_a_file_is_called(path, tmp_path):
    made = tmp_path / "made"
    archive(path, {"w": tensor(2), "x": Call("os.mkdir", str(made)), "y": Call("os.abort")})

    assert shapes(path) == {"w": (2,)}
    assert not made.exists()


def test_tensors_in_one_storage_are_one_only_if_they_are_the_same(path):
    same = {"a": tensor(4), "b": tensor(4), "c": tensor(4, offset=4), "d": tensor(2, 2)}
    archive(path, same)

    assert shapes(path) == {"a": (4,), "b": None, "c": (4,), "d": (2, 2)}


def test_values_of_transposed_tensors_are_in_the_order_of_their_shape(path):
    archive(path, {"w": tensor(2, 3, strides=(1, 2))})

    assert tfprof.load(path).columns.tensors.read("w").shape == (2, 3)


def test_parameters_of_an_optimizer_that_fit_no_model_have_numbers(path):
    state = {0: {"m": tensor(5, key="1")}}
    optimizer = {"state": state, "param_groups": [{"params": [0]}]}
    archive(path, {"model": {"w": tensor(2)}, "opt": optimizer})

    assert shapes(path)["opt/m/0"] == (5,)


def test_an_optimizer_may_name_its_parameters(path):
    groups = [{"params": [0], "param_names": ["w"]}]
    optimizer = {"state": {0: {"m": tensor(2, key="1")}}, "param_groups": groups}
    archive(path, {"model": {"w": tensor(2), "v": tensor(3)}, "opt": optimizer})

    assert shapes(path)["opt/m/w"] == (2,)


def test_optimizers_in_a_list_are_found(path):
    optimizer = {"state": {0: {"m": tensor(2, key="1")}}, "param_groups": [{"params": [0]}]}
    archive(path, {"state_dict": {"w": tensor(2)}, "optimizer_states": [optimizer]})

    assert shapes(path) == {"optimizer_states/0/m/w": (2,), "w": (2,)}


def test_a_frozen_parameter_of_a_module_is_not_trained(path):
    frozen = Call("torch._utils._rebuild_parameter", tensor(2), False, None)
    state = {"_parameters": {"w": frozen}, "_buffers": {}, "_modules": {}}
    archive(path, Call("my.Net", state=state))
    profile = tfprof.load(path)

    assert shapes(path) == {"Net/w": (2,)}
    types = profile.columns.ops.types.of(0)
    assert "_trainable_variables" not in types


def test_weights_in_several_checkpoints_have_an_index(tmp_path):
    archive(tmp_path / "a.bin", {"u": tensor(2)})
    archive(tmp_path / "b.bin", {"v": tensor(2)})
    (tmp_path / "pytorch_model.bin.index.json").write_text(
        '{"weight_map": {"u": "a.bin", "v": "b.bin"}}'
    )

    assert shapes(tmp_path) == {"u": (2,), "v": (2,)}


# Damaged and hostile files.


@pytest.mark.parametrize(
    ("bad", "trouble"),
    [
        (tensor(2000), "has a tensor that is larger than its values"),
        (tensor(4, offset=997), "has a tensor that is larger than its values"),
        (tensor(4, offset=-1), "has a tensor at an impossible place"),
        (tensor(-1), "has a tensor with an impossible shape"),
        (tensor(2**62, 2**62), "has a tensor with an impossible shape"),
        (tensor(2, strides=(1, 1)), "has a tensor with impossible strides"),
        (tensor(2, strides=(-1,)), "has a tensor with impossible strides"),
        (tensor(2, key="9"), "lacks the values data/9"),
        (tensor(2, key="../../x"), "lacks the values data/../../x"),
    ],
)
def test_impossible_tensors_are_refused(bad, trouble, path):
    archive(path, {"w": bad})

    assert refusal(path) == f"{trouble}; save it again or fetch it again."


def test_a_file_without_tensors_is_refused(path):
    archive(path, {"a": 1})

    assert refusal(path).startswith("contains no tensors of a model; ")


def test_a_damaged_structure_is_refused(path):
    archive(path, pickled({"w": tensor(2)})[:-5])

    assert refusal(path).startswith("ends early or is damaged at byte ")


def test_a_structure_that_unpacks_to_too_much_is_refused(path):
    archive(path, b"\x80\x02" + bytes(1 << 26), kind=zipfile.ZIP_DEFLATED)

    assert refusal(path) == "is damaged: its part a/data.pkl is too large."


def test_a_checkpoint_that_is_cut_short_is_refused(path):
    path.write_bytes((SAMPLES / "checkpoint.pt").read_bytes()[:-100])

    assert refusal(path).startswith("is a PyTorch file that is cut short or damaged; ")


def test_an_old_checkpoint_that_is_cut_short_is_refused(path):
    path.write_bytes((SAMPLES / "old.pt").read_bytes()[:500])

    assert refusal(path).startswith("ends early or is damaged at byte ")


def test_modules_that_contain_themselves_are_read_once(path):
    # A module whose table of modules contains the module.
    data = (
        b"\x80\x02cm\nNet\n)\x81q\x00}(X\x0b\x00\x00\x00_parameters}X\x08\x00\x00\x00_buffers}"
        b"X\x08\x00\x00\x00_modules}X\x01\x00\x00\x00mh\x00sub."
    )
    archive(path, data)

    assert refusal(path).startswith("contains no tensors of a model; ")


def test_tables_that_repeat_each_other_are_read_once(path):
    archive(path, b"".join(_repeated()))

    assert shapes(path) == {"w": (1,)}


def _repeated():
    """A list of a list twice, and so on; at the end a table with a tensor."""
    yield pickled({"w": tensor(1)})[:-1] + b"q\x00"
    for number in range(20):
        yield b"0](" + 2 * (b"h" + bytes([number])) + b"eq" + bytes([number + 1])
    yield b"."


def test_very_deep_tables_are_not_searched(path):
    value = {"w": tensor(1)}
    for _ in range(60):
        value = {"a": value}
    archive(path, value)

    assert refusal(path).startswith("contains no tensors of a model; ")
