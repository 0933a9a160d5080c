"""The tensors of a checkpoint as variables: their names and roles."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from tfprof.errors import InputError
from tfprof.formats.messages import message_class
from tfprof.formats.object_graph import OBJECT_GRAPH
from tfprof.formats.tensors import TensorEntry
from tfprof.sources.tf_variables import Role, variables_of

KEY = "{}/.ATTRIBUTES/VARIABLE_VALUE"


@dataclass
class Saved:
    """A checkpoint in memory."""

    shapes: dict[str, tuple[int, ...]]
    objects: bytes = b""
    dtypes: dict[str, str] = field(default_factory=dict)

    @property
    def tensors(self):
        shapes = {OBJECT_GRAPH: (), **self.shapes} if self.objects else self.shapes
        return tuple(
            TensorEntry(name, self.dtypes.get(name, "float32"), shape, 1)
            for name, shape in sorted(shapes.items())
        )

    def read(self, _):
        return np.array(self.objects, object)


def roles(saved):
    return {variable.name: variable.role for variable in variables_of("model.ckpt", saved)}


def objects(*nodes):
    """The encoded objects; each is a dict of children, names of variables by key, and slots."""
    graph = message_class("tensorflow.TrackableObjectGraph")()
    for children, variables, slots in nodes:
        node = graph.nodes.add()
        for name, number in children.items():
            node.children.add(local_name=name, node_id=number)
        for path, full_name in variables.items():
            node.attributes.add(full_name=full_name, checkpoint_key=KEY.format(path))
        for number in slots:
            node.slot_variables.add(slot_variable_node_id=number)
    return graph.SerializeToString()


def test_slots_of_a_named_checkpoint_are_below_the_variable_of_the_same_shape():
    shapes = {"w": (2, 3), "w/Adam": (2, 3), "w/Adam_1": (2, 3), "w/scale": (3,), "b": (3,)}

    assert roles(Saved(shapes)) == {
        "w": Role.PARAMETER,
        "w/Adam": Role.OPTIMIZER,
        "w/Adam_1": Role.OPTIMIZER,
        "w/scale": Role.PARAMETER,
        "b": Role.PARAMETER,
    }


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("beta1_power", Role.OPTIMIZER),
        ("tower/beta2_power_1", Role.OPTIMIZER),
        ("training/Adam/dense/kernel/m", Role.OPTIMIZER),
        ("encoder/kernel_slot_vr", Role.OPTIMIZER),
        ("global_step", Role.STATE),
        ("model/global_step", Role.STATE),
        ("beta", Role.PARAMETER),
        ("training/kernel", Role.PARAMETER),
    ],
)
def test_variables_of_optimizers_and_counters_have_known_names(name, role):
    assert roles(Saved({name: ()})) == {name: role}


def test_text_is_not_a_parameter():
    assert roles(Saved({"words": (5,)}, dtypes={"words": "string"})) == {"words": Role.STATE}


def test_variables_with_the_same_name_are_named_by_their_path():
    graph = objects(
        ({"a": 1, "b": 2, "c": 3}, {}, []),
        ({}, {"a": "kernel"}, []),
        ({}, {"b": "kernel"}, []),
        ({}, {"c": "bias"}, []),
    )
    shapes = {KEY.format(name): (2,) for name in "abc"}

    assert list(roles(Saved(shapes, graph))) == ["a", "b", "bias"]


def test_a_slot_variable_belongs_to_the_optimizer_wherever_it_is():
    graph = objects(
        ({"layer": 1, "trainer": 2}, {}, []),
        ({"kernel": 3}, {}, []),
        ({}, {}, [4]),
        ({"slot": 4}, {"layer/kernel": "dense/kernel"}, []),
        ({}, {"layer/kernel/.OPTIMIZER_SLOT/trainer/m": "dense/kernel/m"}, []),
    )
    shapes = {
        KEY.format("layer/kernel"): (2,),
        KEY.format("layer/kernel/.OPTIMIZER_SLOT/trainer/m"): (2,),
    }

    assert roles(Saved(shapes, graph)) == {
        "dense/kernel": Role.PARAMETER,
        "dense/kernel/m": Role.OPTIMIZER,
    }


def test_metrics_are_not_parameters():
    graph = objects(({"keras_api": 1}, {}, []), ({}, {"keras_api/metrics/0/total": "total"}, []))

    assert roles(Saved({KEY.format("keras_api/metrics/0/total"): ()}, graph)) == {
        "total": Role.STATE
    }


def test_objects_may_form_cycles_and_refer_to_missing_objects():
    graph = objects(({"self": 0, "missing": 7, "w": 1}, {}, [9]), ({"up": 0}, {"w": "w"}, []))

    assert list(roles(Saved({KEY.format("w"): (1,)}, graph))) == ["w"]


def test_a_damaged_list_of_variables_is_an_error():
    with pytest.raises(InputError, match="its list of variables cannot be read"):
        roles(Saved({"w": ()}, b"\xff\xff"))
