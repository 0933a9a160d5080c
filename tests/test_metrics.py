"""The one table of metrics agrees with itself and with the columns that reports show."""

import pytest

from tfprof.metrics import (
    BY_KEY,
    EXPANSIONS,
    EXPLANATIONS,
    GATHERED_ORDER,
    METRICS,
    NUMBERS,
    ORDER_KEYS,
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
def test_a_metric_explains_itself_in_a_sentence(metric):
    assert metric.sentence.endswith(".")
    assert ": " in metric.sentence


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.key)
def test_a_metric_requires_what_some_source_provides(metric):
    assert any(metric.needs in source.brings for source in SOURCES)


def test_what_stands_on_lines_of_its_own_heads_no_column():
    unlabelled = [metric.key for metric in METRICS if not metric.label]

    assert unlabelled == ["tensor_value", "num_hidden_ops"]


def test_no_two_columns_have_the_same_heading():
    labels = [metric.label for metric in METRICS if metric.label]

    assert len(set(labels)) == len(labels)


def test_every_order_key_is_the_name_the_occurrence_or_a_number():
    numbers = {metric.key for metric in METRICS if metric.is_number}

    assert set(ORDER_KEYS) == {"name", "occurrence", *numbers}


def test_every_threshold_is_the_occurrence_or_a_number():
    assert set(THRESHOLD_KEYS) == set(ORDER_KEYS) - {"name"}


def test_every_threshold_is_an_option():
    thresholds = [name.removeprefix("min_") for name in VIEW_OPTIONS if name.startswith("min_")]

    assert thresholds == list(THRESHOLD_KEYS)


def test_every_number_is_summed_with_exact_times_and_the_two_counts_of_occurrence():
    numbers = [metric.key for metric in METRICS if metric.is_number]

    exact = ["nanos", "accelerator_nanos", "cpu_nanos"]

    assert list(NUMBERS) == [*numbers, *exact, "runs", "definitions"]


def test_what_a_word_expands_to_is_what_it_explains():
    assert EXPANSIONS.keys() == EXPLANATIONS.keys()
    assert all(set(EXPANSIONS[key]) == set(EXPLANATIONS[key]) for key in EXPANSIONS)


def test_a_gathered_view_orders_every_number():
    assert set(GATHERED_ORDER) == {metric.key for metric in METRICS if metric.is_number}


def test_columns_of_single_ops_begin_with_parameters():
    assert columns(*EVERYTHING) == [
        "params",
        "float_ops",
        "bytes",
        "peak_bytes",
        "residual_bytes",
        "output_bytes",
        "micros",
        "accelerator_micros",
        "cpu_micros",
        "device",
        "op_types",
        "occurrence",
        "input_shapes",
        "tensor_value",
        "num_hidden_ops",
    ]


def test_columns_of_gathered_ops_begin_with_memory():
    assert columns(*EVERYTHING, gathered=True) == [
        "bytes",
        "peak_bytes",
        "residual_bytes",
        "output_bytes",
        "micros",
        "accelerator_micros",
        "cpu_micros",
        "params",
        "float_ops",
        "device",
        "op_types",
        "occurrence",
        "input_shapes",
        "tensor_value",
        "num_hidden_ops",
    ]


def test_micros_brings_three_columns():
    assert columns("micros") == ["micros", "accelerator_micros", "cpu_micros"]


def test_micros_explains_cpu_time_before_accelerator_time():
    explained = [metric.key for metric in EXPLANATIONS["micros"]]

    assert explained == ["micros", "cpu_micros", "accelerator_micros"]


def test_a_part_of_the_time_can_be_selected_alone():
    assert columns("cpu_micros") == ["cpu_micros"]


def test_a_part_of_the_time_appears_once_beside_the_whole():
    assert columns("cpu_micros", "micros") == ["micros", "accelerator_micros", "cpu_micros"]


def test_nothing_selected_brings_no_columns():
    assert columns() == []
