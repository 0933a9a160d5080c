"""Output shapes of Keras layers."""

import pytest

from tfprof.sources.keras_shapes import output_shape

IMAGE = (-1, 32, 30, 3)
SERIES = (-1, 10, 4)

CASES = [
    ("InputLayer", {"batch_shape": [None, 4]}, [], (-1, 4)),
    ("Dropout", {}, [IMAGE], IMAGE),
    ("Dense", {"units": 5}, [SERIES], (-1, 10, 5)),
    ("Embedding", {"output_dim": 6}, [(-1, 7)], (-1, 7, 6)),
    ("Flatten", {}, [SERIES], (-1, 40)),
    ("Flatten", {}, [(-1, -1, 4)], (-1, -1)),
    ("Reshape", {"target_shape": [5, -1]}, [SERIES], (-1, 5, 8)),
    ("Reshape", {"target_shape": [8, 5]}, [SERIES], (-1, 8, 5)),
    ("Permute", {"dims": [2, 1]}, [SERIES], (-1, 4, 10)),
    ("RepeatVector", {"n": 3}, [(-1, 4)], (-1, 3, 4)),
    ("LSTM", {"units": 6, "return_sequences": True}, [SERIES], (-1, 10, 6)),
    ("GRU", {"units": 6}, [SERIES], (-1, 6)),
    ("LSTM", {"units": 6, "return_state": True}, [SERIES], None),
    (
        "Bidirectional",
        {"layer": {"class_name": "LSTM", "config": {"units": 6}}, "merge_mode": "concat"},
        [SERIES],
        (-1, 12),
    ),
    (
        "TimeDistributed",
        {"layer": {"class_name": "Dense", "config": {"units": 6}}},
        [SERIES],
        (-1, 10, 6),
    ),
    ("MultiHeadAttention", {"output_shape": None}, [SERIES, (-1, 5, 4)], SERIES),
    ("Add", {}, [SERIES, SERIES], SERIES),
    ("Add", {}, [SERIES, (-1, 1, 4)], None),
    ("Concatenate", {"axis": -1}, [SERIES, (-1, 10, 6)], (-1, 10, 10)),
    ("Conv2D", {"filters": 8, "kernel_size": [3, 3], "strides": [2, 1]}, [IMAGE], (-1, 15, 28, 8)),
    (
        "Conv2D",
        {"filters": 8, "kernel_size": [3, 3], "strides": [2, 2], "padding": "same"},
        [IMAGE],
        (-1, 16, 15, 8),
    ),
    (
        "Conv2D",
        {"filters": 8, "kernel_size": [3, 3], "data_format": "channels_first"},
        [(-1, 3, 32, -1)],
        (-1, 8, 30, -1),
    ),
    ("Conv1D", {"filters": 8, "kernel_size": [3], "dilation_rate": [2]}, [SERIES], (-1, 6, 8)),
    ("Conv1D", {"filters": 8, "kernel_size": [3], "padding": "causal"}, [SERIES], (-1, 10, 8)),
    ("DepthwiseConv2D", {"kernel_size": [3, 3], "depth_multiplier": 2}, [IMAGE], (-1, 30, 28, 6)),
    (
        "Conv2DTranspose",
        {"filters": 2, "kernel_size": [3, 3], "strides": [2, 2]},
        [IMAGE],
        (-1, 65, 61, 2),
    ),
    (
        "Conv2DTranspose",
        {"filters": 2, "kernel_size": [3, 3], "strides": [2, 2], "padding": "same"},
        [IMAGE],
        (-1, 64, 60, 2),
    ),
    ("MaxPooling2D", {"pool_size": [2, 2], "strides": [2, 2]}, [IMAGE], (-1, 16, 15, 3)),
    ("AveragePooling1D", {"pool_size": [3], "strides": None}, [SERIES], (-1, 3, 4)),
    ("GlobalAveragePooling2D", {}, [IMAGE], (-1, 3)),
    ("GlobalMaxPooling2D", {"keepdims": True}, [IMAGE], (-1, 1, 1, 3)),
    ("ZeroPadding2D", {"padding": [[1, 2], [0, 1]]}, [IMAGE], (-1, 35, 31, 3)),
    ("ZeroPadding1D", {"padding": [1, 2]}, [SERIES], (-1, 13, 4)),
    ("Cropping2D", {"cropping": [[1, 1], [2, 3]]}, [IMAGE], (-1, 30, 25, 3)),
    ("UpSampling2D", {"size": [2, 3]}, [IMAGE], (-1, 64, 90, 3)),
    ("UpSampling1D", {"size": 2}, [SERIES], (-1, 20, 4)),
    ("MyLayer", {}, [SERIES], None),
    ("Dense", {}, [SERIES], None),
    ("Dense", {"units": 3}, [None], None),
]


@pytest.mark.parametrize(("kind", "config", "inputs", "expected"), CASES)
def test_the_output_shape_follows_from_the_configuration(kind, config, inputs, expected):
    assert output_shape(kind, config, inputs) == expected
