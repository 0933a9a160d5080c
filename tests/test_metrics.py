"""The registry of metrics is consistent, also with options, sources and columns."""

import pytest

from tfprof.metrics import (
    BY_KEY,
    EXPANSIONS,
    EXPLANATIONS,
    GATHERED_ORDER,
    METRICS,
    NUMBERS,
    ORDER_KEYS,
    PARTS,
    THRESHOLD_KEYS,
    selected_columns,
)
from tfprof.options import VIEW_OPTIONS
from tfprof.sources.registry import SOURCES

EVERYTHING = tuple(sorted(BY_KEY))


def columns(*select, gathered=False):
    return [metric.key for metric in selected_columns(select, gathered=gathered)]


def test_no_two_metrics_share_a_key():
    assert len(BY_KEY) == len(METRICS)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.key)
def test_a_metric_has_an_explanatory_sentence(metric):
    assert metric.sentence.endswith(".")
    assert ": " in metric.sentence


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.key)
def test_a_metric_requires_what_some_source_provides(metric):
    assert any(metric.needs in source.brings for source in SOURCES)


def test_only_metrics_shown_on_lines_of_their_own_have_no_column_heading():
    unlabelled = [metric.key for metric in METRICS if not metric.label]

    assert unlabelled == ["held_bytes", "tensor_value", "num_hidden_ops"]


def test_no_two_columns_have_the_same_heading():
    labels = [metric.label for metric in METRICS if metric.label]

    assert len(set(labels)) == len(labels)


def test_the_order_keys_are_name_occurrence_and_every_number():
    numbers = {metric.key for metric in METRICS if metric.is_number}

    assert set(ORDER_KEYS) == {"name", "occurrence", *numbers}


def test_the_thresholds_are_occurrence_and_every_number_that_is_no_part_of_another():
    assert set(THRESHOLD_KEYS) == set(ORDER_KEYS) - {"name", *PARTS}


@pytest.mark.parametrize("key", PARTS)
def test_a_part_has_the_unit_and_needs_of_its_whole(key):
    part, whole = BY_KEY[key], BY_KEY[BY_KEY[key].part_of]

    assert (part.unit, part.needs) == (whole.unit, whole.needs)
    assert not whole.part_of


def test_every_threshold_is_an_option():
    thresholds = [name.removeprefix("min_") for name in VIEW_OPTIONS if name.startswith("min_")]

    assert thresholds == list(THRESHOLD_KEYS)


def test_every_number_is_summed_with_exact_times_and_the_two_counts_of_occurrence():
    numbers = [metric.key for metric in METRICS if metric.is_number]

    exact = [
        *("nanos", "forward_nanos", "backward_nanos"),
        *("accelerator_nanos", "forward_accelerator_nanos", "backward_accelerator_nanos"),
        *("cpu_nanos", "transfer_nanos"),
    ]

    assert list(NUMBERS) == [*numbers, *exact, "runs", "definitions"]


def test_a_key_explains_the_columns_it_expands_to():
    assert EXPANSIONS.keys() == EXPLANATIONS.keys()
    assert all(set(EXPANSIONS[key]) == set(EXPLANATIONS[key]) for key in EXPANSIONS)


def test_a_gathered_view_orders_every_number_that_is_no_part_of_another():
    numbers = {metric.key for metric in METRICS if metric.is_number}

    assert set(GATHERED_ORDER) == numbers - {*PARTS}


def test_columns_of_single_ops_start_with_parameters():
    assert columns(*EVERYTHING) == [
        "layer_class",
        "output_shape",
        "params",
        "trainable_params",
        "other_params",
        "slots",
        "float_ops",
        "forward_float_ops",
        "backward_float_ops",
        "macs",
        "forward_macs",
        "backward_macs",
        "bytes",
        "peak_bytes",
        "residual_bytes",
        "output_bytes",
        "held_bytes",
        "micros",
        "forward_micros",
        "backward_micros",
        "accelerator_micros",
        "forward_accelerator_micros",
        "backward_accelerator_micros",
        "cpu_micros",
        "transfer_micros",
        "device",
        "op_types",
        "occurrence",
        "input_shapes",
        "tensor_value",
        "num_hidden_ops",
    ]


def test_columns_of_gathered_ops_start_with_memory():
    assert columns(*EVERYTHING, gathered=True) == [
        "bytes",
        "peak_bytes",
        "residual_bytes",
        "output_bytes",
        "micros",
        "accelerator_micros",
        "cpu_micros",
        "transfer_micros",
        "params",
        "slots",
        "float_ops",
        "macs",
        "layer_class",
        "output_shape",
        "trainable_params",
        "other_params",
        "forward_float_ops",
        "backward_float_ops",
        "forward_macs",
        "backward_macs",
        "held_bytes",
        "forward_micros",
        "backward_micros",
        "forward_accelerator_micros",
        "backward_accelerator_micros",
        "device",
        "op_types",
        "occurrence",
        "input_shapes",
        "tensor_value",
        "num_hidden_ops",
    ]


def test_micros_selects_three_columns():
    assert columns("micros") == ["micros", "accelerator_micros", "cpu_micros"]


def test_micros_explains_cpu_time_before_accelerator_time():
    explained = [metric.key for metric in EXPLANATIONS["micros"]]

    assert explained == ["micros", "cpu_micros", "accelerator_micros"]


def test_cpu_time_can_be_selected_alone():
    assert columns("cpu_micros") == ["cpu_micros"]


def test_cpu_time_appears_only_once_if_selected_with_micros():
    assert columns("cpu_micros", "micros") == ["micros", "accelerator_micros", "cpu_micros"]


def test_an_empty_selection_has_no_columns():
    assert columns() == []
