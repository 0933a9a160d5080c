"""PyTorch modules are counted without running them, and the numbers are PyTorch's own."""

import re
from collections import OrderedDict
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import live_programs
import tfprof
from asking import ROOT, outline, total
from tfprof.measures import flops
from tfprof.model.ops import OutputShapes, Phase

torch = pytest.importorskip("torch", reason="profiles modules of PyTorch")

import torch_models as models  # noqa: E402 -- needs PyTorch
from torch import nn  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402
from torch.utils.flop_counter import FlopCounterMode  # noqa: E402

pytestmark = [pytest.mark.live, live_programs.only_own_warnings]

IDS = torch.zeros((2, 7), dtype=torch.long)


@contextmanager
def unfused():
    """Attention and recurrent layers as products, which PyTorch's own counter knows on a CPU."""
    was_enabled = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(False)
    try:
        with sdpa_kernel(SDPBackend.MATH):
            yield
    finally:
        torch._C._set_mkldnn_enabled(was_enabled)


def counted_by_pytorch(module, *inputs, backward=False, **keywords):
    """The float operations that PyTorch itself counts."""
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with FlopCounterMode(display=False) as counter:
            output = module(*inputs, **keywords)
            if backward:
                leaves = torch.utils._pytree.tree_leaves(output)
                sum(one.sum() for one in leaves if one.requires_grad).backward()
    finally:
        torch.backends.mha.set_fastpath_enabled(True)
    return counter.get_total_flops()


def encoder():
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)


MODELS = {
    "convolutional": (models.Convolutional, (torch.zeros(2, 3, 16, 16),), {}),
    "recurrent": (models.Recurrent, (torch.zeros(2, 7, 6),), {}),
    "language": (models.Language, (IDS,), {}),
    "loss": (models.Language, (IDS,), {"labels": IDS}),
    "encoder": (encoder, (torch.zeros(2, 5, 16),), {}),
}


@pytest.mark.parametrize("name", MODELS)
def test_products_have_the_float_operations_that_pytorch_counts(name):
    make, inputs, keywords = MODELS[name]
    module = make()

    with unfused():
        found = tfprof.load(module, *inputs, **keywords)
        expected = counted_by_pytorch(module, *inputs, **keywords)

    assert 2 * found.flops().macs == expected > 0
    assert not found.flops().uncounted


@pytest.mark.parametrize("name", ["recurrent", "language", "loss", "encoder"])
def test_the_backward_pass_has_the_float_operations_that_pytorch_counts(name):
    make, inputs, keywords = MODELS[name]
    module = make()

    with unfused():
        found = tfprof.load(module, *inputs, **keywords, backward=True)
        expected = counted_by_pytorch(module, *inputs, backward=True, **keywords)

    assert 2 * found.flops().macs == expected
    assert not found.flops().uncounted


def test_checkpoints_count_the_forward_pass_twice():
    with unfused():
        once, twice = (
            tfprof.load(models.Language(is_checkpointed=flag), IDS, backward=True).flops()
            for flag in (False, True)
        )
        module = models.Language(is_checkpointed=True)
        expected = counted_by_pytorch(module, IDS, backward=True)

    assert 2 * twice.macs == expected
    assert twice.ledger.forward_macs == once.ledger.forward_macs
    assert twice.macs > once.macs


@pytest.mark.parametrize("name", MODELS)
def test_parameters_are_those_of_the_module(name):
    make, inputs, keywords = MODELS[name]
    module = make()

    found = tfprof.load(module, *inputs, **keywords).scope(select=["trainable_params", "params"])

    trained = sum(one.numel() for one in module.parameters())
    assert total(found.view, "trainable_params")[ROOT] == trained
    assert total(found.view, "params")[ROOT] == trained  # buffers are state, not parameters


@pytest.mark.parametrize("name", MODELS)
def test_the_shapes_of_results_are_not_needed(name):
    make, inputs, keywords = MODELS[name]
    found = tfprof.load(make(), *inputs, **keywords).columns
    called = replace(found, ops=replace(found.ops, outputs=OutputShapes.none(len(found.ops))))

    both = [flops.count(columns).per_run.tolist() for columns in (found, called)]

    assert both[0] == both[1]
    assert sum(both[0]) > 0


def test_layers_are_the_modules_with_their_classes_and_output_shapes():
    found = tfprof.load(models.Language(layers=1), IDS).layers()

    assert outline(found.view) == [
        "Language",
        "  Language/embed",
        "  Language/blocks",
        "    Language/blocks/0",
        "      Language/blocks/0/norm",
        "      Language/blocks/0/attn",
        "        Language/blocks/0/attn/qkv",
        "        Language/blocks/0/attn/proj",
        "      Language/blocks/0/mlp",
        "        Language/blocks/0/mlp/0",
        "        Language/blocks/0/mlp/1",
        "        Language/blocks/0/mlp/2",
        "        Language/blocks/0/mlp/3",
        "  Language/head",
    ]
    rows = {row["name"]: row for row in found.to_dict()["rows"]}
    qkv = rows["Language/blocks/0/attn/qkv"]
    assert (qkv["layer_class"], qkv["output_shape"]) == (["Linear"], [2, 7, 48])


def test_ops_are_in_the_scopes_of_their_modules():
    columns = tfprof.load(models.Language(), IDS, labels=IDS, backward=True).columns
    names = list(columns.ops.name)

    assert "Language/blocks/1/attn/qkv/aten::addmm" in names
    assert "Language/blocks/1/attn/qkv/weight" in names
    assert "Language/aten::_log_softmax" in names
    backward = names.index("Language/blocks/1/attn/qkv/AddmmBackward0/aten::mm")
    assert columns.phase[backward] == Phase.BACKWARD
    assert names[columns.forward_of[backward]] == "Language/blocks/1/attn/qkv/aten::addmm"


def test_ops_are_at_the_lines_of_the_program_that_called_them():
    columns = tfprof.load(models.Language(), IDS, backward=True).columns
    names = list(columns.ops.name)

    for name in ("aten::addmm", "AddmmBackward0/aten::mm"):
        op = names.index(f"Language/blocks/0/attn/qkv/{name}")
        stack = columns.code.stack(int(columns.ops.code[op]))
        assert stack[-1].text == "parts = self.qkv(hidden).chunk(3, -1)"
        assert (
            stack[0].function == test_ops_are_at_the_lines_of_the_program_that_called_them.__name__
        )


def test_ops_take_the_weights_and_the_results_of_others():
    graph = tfprof.load(nn.Linear(3, 4), torch.zeros(2, 3)).columns.ops
    names = list(graph.name)
    product = names.index("Linear/aten::addmm")

    found = [names[source] for source in graph.inputs.source[graph.inputs.of(product)].tolist()]

    assert found == ["Linear/bias", "Linear/aten::t"]


def test_a_shared_parameter_counts_once():
    module = models.Language()

    found = tfprof.load(module).scope(select="params", max_depth=10)

    assert "Language/head/weight" not in found
    assert found["Language/embed/weight"]["params"] == module.embed.weight.numel()


class Rotated(nn.Module):
    """A layer with an activation that other layers have too, and a module that they are given."""

    def __init__(self, activation):
        super().__init__()
        self.linear, self.activations = nn.Linear(4, 4), nn.ModuleList([activation])

    def forward(self, x, head):
        return head(self.activations[0](self.linear(x)))


class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        activation = nn.Tanh()
        self.head = nn.Linear(4, 4)
        self.layers = nn.ModuleList([Rotated(activation), Rotated(activation)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x, self.head)
        return x


def test_each_caller_of_a_shared_module_has_what_it_did_there():
    answer = tfprof.load(Shared(), torch.zeros(3, 4), backward=True).layers(
        select=["float_ops", "forward_float_ops", "params"], max_depth=9
    )

    forward = {row["name"]: row["total_forward_float_ops"] for row in answer}
    product = 2 * 3 * 4 * 4
    for number in range(2):
        assert forward[f"Shared/layers/{number}"] == 2 * product + 3 * 4
        assert forward[f"Shared/layers/{number}/activations/0"] == 3 * 4
        assert forward[f"Shared/layers/{number}/Linear_0"] == product
    assert answer["Shared/head"]["total_params"] == 4 * 4 + 4
    assert answer["Shared/layers/0"]["total_params"] == 4 * 4 + 4
    found = {one["name"]: one for one in answer.to_dict()["shared_modules"]}
    assert found.keys() == {"Shared/head", "Shared/layers/0/activations/0"}
    assert (found["Shared/head"]["callers"], found["Shared/head"]["params"]) == (2, 20)


def test_without_inputs_only_parameters_are_known():
    found = tfprof.load(models.Language())

    answer = found.scope(select=["params", "float_ops"])
    assert total(answer.view, "params")[ROOT] > 0
    assert any("pass an example of its inputs" in note for note in answer.notes)
    assert len(found.columns.layers) == 24


def test_the_module_and_its_inputs_stay_as_they_are():
    module, images = models.Convolutional(), torch.ones(2, 3, 16, 16)
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}

    tfprof.load(module, images, backward=True)

    assert all(torch.equal(before[name], one) for name, one in module.state_dict().items())
    assert all(parameter.grad is None for parameter in module.parameters())
    assert type(images) is torch.Tensor
    assert torch.backends.mha.get_fastpath_enabled()


def test_tensors_that_a_module_keeps_have_values_afterwards():
    class Keeping(nn.Module):
        def __init__(self):
            super().__init__()
            self.count, self.seen, self.table = torch.zeros(()), [], {}

        def forward(self, rows):
            self.count += 1
            self.rows = rows * 2
            self.seen.append(self.rows)
            self.table["rows"] = self.rows
            return self.rows + self.count

    module = Keeping()
    count = module.count

    tfprof.load(module, torch.zeros(3))

    assert module.count is count
    assert (count.item(), module.seen, module.table) == (0, [], {})
    assert not hasattr(module, "rows")
    assert torch.equal(module(torch.ones(3)), torch.full((3,), 3.0))


def test_containers_of_a_module_that_refuse_changes_stay_as_they_are():
    class Frozen(OrderedDict):
        def refuse(self, *_):
            raise TypeError("frozen")

        __setitem__ = update = clear = refuse

    class Configured(nn.Module):
        def __init__(self):
            super().__init__()
            self.config = Frozen()
            OrderedDict.__setitem__(self.config, "width", 3)
            OrderedDict.__setitem__(self.config, "scale", torch.ones(3))

        def forward(self, rows):
            return rows * self.config["scale"]

    module = Configured()
    scale = module.config["scale"]

    tfprof.load(module, torch.zeros(3))

    assert list(module.config) == ["width", "scale"]
    assert module.config["scale"] is scale


def test_a_module_may_decide_by_constants():
    class Constant(nn.Module):
        def __init__(self):
            super().__init__()
            self.is_doubled, self.times = torch.tensor(True), [torch.tensor(3)]

        def forward(self, rows):
            rows = rows * 2 if self.is_doubled else rows
            for _ in range(int(self.times[0])):
                rows = rows + 1
            return rows

    assert tfprof.load(Constant(), torch.zeros(5)).flops().float_ops == 20


def test_a_module_on_the_meta_device_takes_inputs_from_any():
    with torch.device("meta"):
        module = models.Language()

    found = tfprof.load(module, IDS)

    assert found.flops().macs == tfprof.load(models.Language(), IDS).flops().macs


def test_a_large_model_needs_no_memory_for_its_values():
    with torch.device("meta"):
        module = nn.Sequential(*(nn.Linear(100_000, 100_000, bias=False) for _ in range(3)))

    found = tfprof.load(module, torch.zeros(1, 100_000))

    assert found.flops().float_ops == 6 * 10**10


def test_compiled_and_wrapped_modules_are_counted_as_the_module_inside():
    class OptimizedModule(nn.Module):
        """What `torch.compile` returns."""

        def __init__(self, module):
            super().__init__()
            self._orig_mod = module

    found = tfprof.load(nn.DataParallel(OptimizedModule(nn.Linear(3, 4))), torch.zeros(2, 3))

    assert found.flops().float_ops == 48
    assert next(iter(found.columns.layers.name)) == "Linear"


def test_a_compiled_module_inside_is_counted():
    module = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
    module[0].compile(backend="eager")

    assert tfprof.load(module, torch.zeros(2, 3)).flops().macs == 24


def test_outputs_may_be_data_classes():
    @dataclass
    class Output:
        logits: object

    class Classifier(nn.Linear):
        def forward(self, rows):
            return Output(super().forward(rows))

    found = tfprof.load(Classifier(3, 4), torch.zeros(2, 3), backward=True)

    assert found.flops().macs == 48
    assert found.columns.layers.output_shape[0] == (2, 4)


def test_a_module_that_is_called_twice_has_both_calls():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(3, 3)

        def forward(self, rows):
            return self.inner(self.inner(rows))

    found = tfprof.load(Twice(), torch.zeros(2, 3))

    assert found.flops().float_ops == 72
    assert "Twice/inner/aten::addmm#2" in list(found.columns.ops.name)


# Errors.


class Deciding(nn.Module):
    """A module whose calls depend on values."""

    def forward(self, rows):
        return rows * 2 if rows.sum() > 0 else rows


@pytest.mark.parametrize(
    ("module", "inputs", "keywords", "message"),
    [
        (
            Deciding(),
            (torch.zeros(3),),
            {},
            r"Deciding.forward after .*test_torch_load.py:\d+ needs",
        ),
        (nn.Linear(3, 4), (torch.zeros(2, 5),), {}, r"Linear.forward fails .*check the inputs"),
        (nn.LazyLinear(4), (torch.zeros(2, 5),), {}, r"weight of LazyLinear has no shape yet"),
        (nn.Identity(), (torch.zeros(3),), {"backward": True}, "no output of Identity requires"),
    ],
)
def test_what_cannot_be_counted_is_one_line_that_says_what_to_do(module, inputs, keywords, message):
    with pytest.raises(tfprof.CaptureError, match=message) as caught:
        tfprof.load(module, *inputs, **keywords)

    assert "\n" not in str(caught.value)


def test_an_error_is_not_also_logged_by_pytorch():
    code = "import torch, tfprof; tfprof.load(torch.nn.Linear(3, 4), torch.zeros(2, 5))"
    failed = live_programs.finished("-c", code)

    assert "check the inputs" in failed.stderr
    assert "failed while attempting to run meta" not in failed.stderr


def test_torch_script_is_refused():
    scripted = torch.jit.trace(nn.Linear(3, 4), torch.zeros(2, 3))

    with pytest.raises(tfprof.CaptureError, match=r"is TorchScript, .* load the module it was"):
        tfprof.load(scripted, torch.zeros(2, 3))


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"batch_size": 3}, r"Linear.forward has no argument `batch_size`"),
        ({"backward": 1}, r"`backward` takes True or False, not 1"),
        ({"backward": True}, "needs an example of the inputs"),
    ],
)
def test_unknown_keywords_are_refused(keywords, message):
    with pytest.raises(tfprof.OptionError, match=message):
        tfprof.load(nn.Linear(3, 4), **keywords)


def test_without_pytorch_loading_a_module_says_what_to_install(monkeypatch):
    module = nn.Linear(3, 4)
    monkeypatch.setitem(__import__("sys").modules, "torch", None)

    with pytest.raises(tfprof.CaptureError, match=r"pip install 'tfprof\[torch\]'"):
        tfprof.load(module)


def test_the_example_of_the_manual_prints_what_it_says(capsys):
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "pytorch.md").read_text("utf-8")
    parts = r"```python\n(import torch\n(?:.*\n)*?)```\n\n```\n((?:.*\n)*?)```"
    code, shown = re.search(parts, page).groups()

    exec(compile(code, "example.py", "exec"), {"__name__": "__main__"})  # noqa: S102 -- our page

    assert capsys.readouterr().out == shown
