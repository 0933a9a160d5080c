"""Which variables of a SavedModel belong to the model."""

import pytest

from tfprof.formats.messages import message_class
from tfprof.formats.saved_objects import SavedObjects


class Program:
    """A SavedObjectGraph under construction; each object is given by its attributes."""

    def __init__(self):
        self.message = message_class("tensorflow.SavedObjectGraph")()
        self.root = self.object()

    def object(self, **attributes):
        self.message.nodes.add()
        number = len(self.message.nodes) - 1
        self.assign(number, **attributes)
        return number

    def assign(self, number, **attributes):
        for name, value in attributes.items():
            self.message.nodes[number].children.add(local_name=name, node_id=value)

    def variable(self, name, *dims, trainable=True):
        node = self.message.nodes.add()
        node.variable.name, node.variable.trainable = name, trainable
        for size in dims:
            node.variable.shape.dim.add(size=size)
        node.variable.shape.SetInParent()
        return len(self.message.nodes) - 1

    def list(self, *values):
        return self.object(**{str(place): value for place, value in enumerate(values)})

    def function(self, name, *bound):
        self.message.concrete_functions[name].bound_inputs.extend(bound)
        node = self.message.nodes.add()
        node.bare_concrete_function.concrete_function_name = name
        return len(self.message.nodes) - 1

    def names(self):
        found = SavedObjects.of(self.message)
        return [found.variables[number].name for number in found.model_variables]


@pytest.fixture
def program():
    return Program()


def test_variables_of_attributes_belong_to_the_model_once(program):
    kernel = program.variable("kernel", 3, 4)
    layer = program.object(kernel=kernel)
    program.assign(program.root, first=layer, again=layer, tied=program.object(kernel=kernel))

    assert program.names() == ["kernel"]
    assert SavedObjects.of(program.message).variables[kernel].shape == (3, 4)


def test_a_list_of_variables_in_the_root_decides(program):
    kernel, copy = program.variable("kernel", 2), program.variable("kernel", 2)
    listed = program.list(kernel)
    program.assign(
        program.root,
        variables=listed,
        trainable_variables=program.list(kernel),
        _all_variables=program.list(copy),
    )

    assert SavedObjects.of(program.message).model_variables == (kernel,)


def test_variables_of_frozen_layers_are_not_trainable(program):
    kernel, frozen = program.variable("kernel", 2), program.variable("frozen", 2)
    program.assign(
        program.root,
        variables=program.list(kernel, frozen),
        trainable_variables=program.list(kernel),
    )
    variables = SavedObjects.of(program.message).variables

    assert variables[kernel].is_trainable
    assert not variables[frozen].is_trainable


@pytest.mark.parametrize("attribute", ["optimizer", "metrics", "keras_api"])
def test_state_of_optimizers_and_metrics_does_not_belong_to_the_model(program, attribute):
    kernel, slot = program.variable("kernel", 2), program.variable("momentum", 2)
    other = program.object(momentum=slot, trained=kernel)
    program.assign(program.root, **{"kernel": kernel, attribute: other})

    assert program.names() == ["kernel"]


def test_an_optimizer_is_recognised_by_its_attributes(program):
    kernel, step = program.variable("kernel", 2), program.variable("step")
    rate, slot = program.variable("rate"), program.variable("momentum", 2)
    other = program.object(_iterations=step, _learning_rate=rate, momentum=slot)
    program.assign(program.root, kernel=kernel, updates=other)

    assert program.names() == ["kernel"]


def test_variables_that_a_signature_does_not_read_are_listed(program):
    kernel, mean = program.variable("kernel", 2), program.variable("mean", 2)
    program.assign(program.root, kernel=kernel, mean=mean)
    found = SavedObjects.of(program.message)

    assert found.unread("serving_default", {"kernel": kernel}) == [mean]
    assert found.unread("serving_default", {"kernel": -1, "mean": mean}) == []


def test_a_variable_that_is_read_under_another_id_is_not_listed(program):
    kernel, copy = program.variable("kernel", 2), program.variable("kernel", 2)
    program.assign(program.root, kernel=kernel, _all_variables=program.list(copy))
    found = SavedObjects.of(program.message)

    assert found.unread("serving_default", {"kernel_1": copy}) == []


@pytest.mark.parametrize("is_raw_bound", [True, False])
def test_a_weight_of_a_keras_layer_and_the_variable_in_it_are_one_variable(program, is_raw_bound):
    raw, weight = program.variable("dense/kernel", 2), program.variable("dense/kernel", 2)
    layer = program.object(kernel=weight, _inbound_nodes=program.list())
    program.assign(program.root, raw=raw, layer=layer)
    bound, other = (raw, weight) if is_raw_bound else (weight, raw)
    program.function("f", bound)
    found = SavedObjects.of(program.message)

    assert found.model_variables == (bound,)
    assert other in found.variables


def test_unused_variables_with_the_name_of_another_one_count_unless_a_layer_wraps_them(program):
    one, other = program.variable("w", 2), program.variable("w", 2)
    program.assign(program.root, one=program.object(w=one), other=program.object(w=other))
    program.function("f", one)

    assert SavedObjects.of(program.message).model_variables == (one, other)


def test_variables_of_other_signatures_are_not_listed(program):
    both, own, other = (program.variable(name, 2) for name in ("both", "own", "other"))
    signatures = program.object(
        encode=program.function("f", both, own), decode=program.function("g", both, other)
    )
    program.assign(program.root, both=both, own=own, other=other, signatures=signatures)
    found = SavedObjects.of(program.message)

    assert found.unread("encode", {"both": both}) == [own]


def test_references_to_missing_objects_are_ignored(program):
    program.assign(program.root, layer=99, signatures=-5)

    assert program.names() == []
    assert SavedObjects.of(message_class("tensorflow.SavedObjectGraph")()).model_variables == ()
