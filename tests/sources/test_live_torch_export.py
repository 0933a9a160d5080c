"""Programs that PyTorch exports now have its parameters and its count of float operations."""

import pytest
from packaging.version import Version

import tfprof
from live_programs import only_own_warnings

torch = pytest.importorskip("torch", minversion="2.8", reason="PyTorch is not installed")
nn = torch.nn
flop_counter = pytest.importorskip("torch.utils.flop_counter")
pytest.importorskip("torch.nn.attention")

pytestmark = [pytest.mark.live, only_own_warnings]


class Cnn(nn.Module):
    """Convolutions of all kinds."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.depthwise = nn.Conv2d(8, 8, 3, groups=8, dilation=2)
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.wave = nn.Conv1d(4, 2, 5)
        self.head = nn.Linear(2, 10)

    def forward(self, x):
        x = torch.relu(self.norm(self.stem(x)))
        x = self.up(self.depthwise(x)).flatten(2)
        return self.head(self.wave(x).mean(-1))


class Attention(nn.Module):
    """A transformer with causal attention and products of its own."""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)
        self.mix = nn.Parameter(torch.randn(4, 16, 16))

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, 2, 8).permute(2, 0, 3, 1, 4).unbind(0)
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        y = self.out(y.transpose(1, 2).reshape(batch, length, width))
        y = torch.baddbmm(y, y, self.mix[:batch])
        return torch.einsum("bij,bkj->bik", y, x) + y @ x.transpose(1, 2)


class Shared(nn.Module):
    """A module that is called twice, and one that never is."""

    def __init__(self):
        super().__init__()
        self.twice, self.never = nn.Linear(8, 8), nn.Linear(5, 5)

    def forward(self, x):
        return self.twice(torch.tanh(self.twice(x)))


def encoder():
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)


CASES = {
    "cnn": (Cnn, (4, 3, 16, 16)),
    "attention": (Attention, (4, 6, 16)),
    "shared": (Shared, (3, 8)),
    "encoder": (encoder, (4, 6, 16)),
    "lstm": (lambda: nn.LSTM(4, 6, num_layers=2, bidirectional=True), (5, 3, 4)),
}
since_2_13 = pytest.mark.skipif(
    Version(torch.__version__) < Version("2.13"), reason="older versions cannot export it"
)
every_model = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=since_2_13 if name == "lstm" else ()) for name in CASES]
)


def exported(name, path, *, is_decomposed=False):
    """The module and the example of a case, after its program was written to `path`."""
    make, shape = CASES[name]
    model, example = make().train(), torch.randn(shape)
    program = torch.export.export(model, (example,))
    if is_decomposed:
        program = program.run_decompositions()
    torch.export.save(program, path)
    return model, example


@every_model
@pytest.mark.parametrize("is_decomposed", [False, True], ids=["whole", "decomposed"])
def test_products_convolutions_and_attention_count_as_in_pytorch(name, is_decomposed, tmp_path):
    model, example = exported(name, tmp_path / "a.pt2", is_decomposed=is_decomposed)
    # PyTorch does not count its fast implementations of attention and LSTMs on a CPU.
    math = torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH)
    plain = torch.backends.mkldnn.flags(enabled=False)
    with math, plain, flop_counter.FlopCounterMode(display=False) as counter:
        model(example)

    ledger = tfprof.load(tmp_path / "a.pt2").flops()

    assert 2 * ledger.to_dict()["macs"] == counter.get_total_flops()


@every_model
def test_parameters_are_those_of_the_module(name, tmp_path):
    model, _ = exported(name, tmp_path / "a.pt2")
    profile = tfprof.load(tmp_path / "a.pt2")

    total = profile.scope(select=["params"])["_TFProfRoot"]["total_params"]
    assert total == sum(one.numel() for one in model.parameters())


def test_a_module_that_is_called_twice_has_the_ops_of_both_calls(tmp_path):
    exported("shared", tmp_path / "a.pt2")
    names = list(tfprof.load(tmp_path / "a.pt2").columns.ops.name)

    assert {"Shared/twice/aten::linear", "Shared/twice/aten::linear#2"} <= {*names}


def test_all_shapes_follow_from_another_batch(tmp_path):
    dims = ({0: torch.export.Dim("batch", min=2, max=64)},)
    for size, name in ((3, "three"), (5, "five")):
        program = torch.export.export(
            Cnn().eval(), (torch.randn(size, 3, 16, 16),), dynamic_shapes=dims
        )
        torch.export.save(program, tmp_path / f"{name}.pt2")
    five = tfprof.load(tmp_path / "five.pt2").columns.ops
    asked = tfprof.load(tmp_path / "three.pt2", batch_size=5).columns.ops

    assert list(asked.name) == list(five.name)
    for op in range(len(five)):
        assert asked.outputs.of_op(op) == five.outputs.of_op(op)


class Frozen(nn.Module):
    """A part that is not trained and one that runs in another type."""

    def __init__(self):
        super().__init__()
        self.body, self.mixed, self.head = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 4)

    def forward(self, x):
        with torch.no_grad():
            x = self.body(x)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            x = self.mixed(x)
        return self.head(x.float())


def test_ops_without_gradients_and_in_another_type_count(tmp_path):
    torch.export.save(torch.export.export(Frozen(), (torch.zeros(3, 8),)), tmp_path / "m.pt2")
    layers = tfprof.load(tmp_path / "m.pt2").layers(select=["macs"])

    found = {row["name"]: row["total_macs"] for row in layers}
    assert found["Frozen/body"] == found["Frozen/mixed"] == 3 * 8 * 8
    assert found["Frozen/head"] == 3 * 8 * 4


@pytest.mark.parametrize(
    "dtype",
    [
        *(torch.int8, torch.bfloat16),
        *(pytest.param(one, marks=since_2_13) for one in (torch.uint32, torch.uint64)),
    ],
)
def test_tensors_of_all_types_have_their_values(dtype, tmp_path):
    model = nn.Module()
    model.register_buffer("w", torch.tensor([1, 2, 3]).to(dtype))
    model.forward = lambda x: (x, model.w)
    torch.export.save(torch.export.export(model, (torch.zeros(2),)), tmp_path / "m.pt2")
    tensors = tfprof.load(tmp_path / "m.pt2").columns.tensors

    (name,) = [name for name in tensors.name if name.endswith("w")]
    assert tensors.read(name).tolist() == [1, 2, 3]


class Ensemble(nn.Module):
    """A linear layer for each example of a batch, and for each of its three members."""

    def __init__(self):
        super().__init__()
        self.members = nn.Parameter(torch.randn(3, 8, 4))

    def forward(self, x):
        per_member = torch.func.vmap(lambda row, weight: row @ weight, in_dims=(None, 0))
        return torch.func.vmap(per_member, in_dims=(0, None))(x, self.members)


@since_2_13
def test_ops_of_vmap_count_for_each_example(tmp_path):
    program = torch.export.export(Ensemble(), (torch.zeros(5, 2, 8),))
    torch.export.save(program, tmp_path / "m.pt2")
    ledger = tfprof.load(tmp_path / "m.pt2").flops().to_dict()

    assert ledger["macs"] == 5 * 3 * (2 * 8 * 4)
    assert ledger["float_ops"] == 2 * ledger["macs"]


def test_a_size_that_occurs_only_in_products_and_sums_is_known(tmp_path):
    half = torch.export.Dim("half", min=1, max=64)
    program = torch.export.export(
        Shared(), (torch.zeros(6, 8),), dynamic_shapes={"x": {0: 2 * half}}
    )
    torch.export.save(program, tmp_path / "m.pt2")
    profile = tfprof.load(tmp_path / "m.pt2")

    assert profile.flops().to_dict()["macs"] == 2 * 6 * 8 * 8
    assert "leaves sizes open, which count as in its example" in " ".join(profile.notes)
