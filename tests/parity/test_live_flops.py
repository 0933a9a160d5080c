"""The float operations of graphs built by TensorFlow match formulas written by hand."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tfprof
from parity.original import IS_INSTALLED
from tfprof.measures.flop_rules import registry
from tfprof.measures.flop_rules.aten_movement import ELSEWHERE

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(not IS_INSTALLED, reason="TensorFlow is not installed"),
]


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    """The folder with the graphs and `ops.json`."""
    folder = tmp_path_factory.mktemp("graphs")
    writer = Path(__file__).with_name("flop_graphs.py")
    ran = subprocess.run(
        [sys.executable, writer, folder], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return folder


@pytest.fixture(scope="module")
def signatures(graphs):
    return json.loads((graphs / "ops.json").read_text())


def test_the_float_ops_of_a_convolutional_network_match_its_formula(graphs):
    ledger = tfprof.load(graphs / "cnn.pb").flops()

    pixels = 8 * 16 * 16
    conv = pixels * 12 * (3 * 3 * 3) * 2
    dense = 8 * 768 * 10 * 2
    parameters = 3 * 3 * 3 * 12 + 12 + 768 * 10  # `scale` is used as the offset, too
    assert ledger["Conv2D"].forward == conv
    assert ledger["Conv2DBackpropFilter"].backward == conv
    assert ledger["FusedBatchNormV3"].forward == 7 * pixels * 12 + 4 * 12
    assert ledger["FusedBatchNormGradV3"].backward == 9 * pixels * 12 + 6 * 12
    assert ledger["Relu"].forward == ledger["ReluGrad"].backward == pixels * 12
    assert ledger["MaxPool"].forward == 4 * 768 * 8
    assert ledger["MaxPoolGrad"].backward == 5 * 768 * 8
    assert (ledger["MatMul"].forward, ledger["MatMul"].backward) == (dense, 2 * dense)
    assert ledger["SparseSoftmaxCrossEntropyWithLogits"].forward == 8 * (5 * 10 + 3)
    assert ledger["ResourceApplyMomentum"].optimizer == 4 * parameters
    assert ledger.uncounted == ()


def test_the_float_ops_of_an_lstm_match_its_formula(graphs):
    ledger = tfprof.load(graphs / "lstm.pb").flops()

    product = 2 * 4 * 11 * 24
    assert ledger["BlockLSTM"].forward == 7 * (product + 23 * 4 * 6)
    assert ledger["BlockLSTMGrad"].backward == 7 * (2 * product + 28 * 4 * 6)
    assert ledger.uncounted == ()


def test_the_float_ops_of_a_transformer_layer_match_its_formula(graphs):
    ledger = tfprof.load(graphs / "transformer.pb").flops()

    count, width, inner = 2 * 16, 32, 128
    assert ledger["Einsum"].forward == 4 * 2 * count * width**2 + 2 * 2 * count * 16 * width
    assert ledger["Softmax"].forward == 5 * 2 * 4 * 16 * 16
    assert ledger["MatMul"].forward == 2 * 2 * count * width * inner
    assert ledger["Relu"].forward == count * inner
    assert ledger["Mean"].forward == 2 * count * width
    assert ledger["SquaredDifference"].forward == 2 * count * width
    assert ledger["Rsqrt"].forward == 2 * count
    assert ledger.uncounted == ()


def test_every_rule_is_for_an_op_of_tensorflow_or_pytorch(signatures):
    # Only some builds have oneDNN's ops. `test_torch_arguments.py` checks `aten::`.
    ours = {kind for kind in registry.kinds() if not kind.startswith(("_Mkl", "aten::"))}

    assert ours - signatures.keys() == {"Buffer", "Parameter", "Slot", *ELSEWHERE}


def test_an_optimizer_is_counted_by_its_gradient(signatures):
    optimizers = [kind for kind in registry.kinds() if re.match("(Resource|Sparse)*Apply", kind)]

    assert optimizers
    for kind in optimizers:
        position = int(re.search(r"N\(input (\d+)\)", registry.rule_of(kind).__doc__)[1])
        assert signatures[kind][position] in ("grad", "delta"), kind
