"""The float operations of every kind of PyTorch with a rule, compared with hand-computed numbers.

Shapes are stated as in traces: by the position of the argument, without outputs.
"""

import pytest

from counting import counted, counted_macs
from tfprof.measures.flop_rules import registry
from tfprof.measures.flop_rules.aten import aten

ONE = [(2, 3)]  # 6 elements
PAIR = [(3, 1), (4,)]  # 12 elements
IMAGE, WEIGHT = (2, 4, 9, 9), (8, 2, 3, 3)  # two groups
PLAIN = {"stride": (2, 2), "padding": (1, 1), "dilation": (1, 1)}  # 5 x 5 outputs
PRODUCTS = 2 * 8 * 25 * 18  # of the convolution
QUERY, KEY, VALUE = (2, 3, 5, 4), (2, 3, 7, 4), (2, 3, 7, 6)
HEADS = [(2, 5, 3, 4), (2, 7, 3, 4), (2, 7, 3, 6)]
LSTM = [(20, 3), (20, 5), (20,), (20,)]  # I 3, H 5
GRU = [(15, 3), (15, 5), (15,), (15,)]
PLAIN_CELL = [(5, 3), (5, 5), (5,), (5,)]
STATE = (1, 2, 5)
SEQUENCE = (7, 2, 3)  # T 7, B 2, I 3
ROWS = 14
LSTM_NUMBER = ROWS * (2 * 160 + 40 + 5 * 18)
GRU_NUMBER = ROWS * (2 * 120 + 30 + 5 * 14)
PLAIN_NUMBER = ROWS * (2 * 40 + 10 + 5)
LISTS = [(2, 3), (4,)]  # 10 elements
POOL = {"kernel_size": (3, 3), "stride": (2, 2), "padding": (1, 1), "ceil_mode": False}

# The dims that inputs lack, and those that are summed.
OF_BILINEAR = {
    "expand1": (1, 3),
    "expand2": (0,),
    "expand3": (1, 2),
    "sumdim": (2, 3),
    "unroll_dim": 1,
}

# Ops, the facts about one, and the number.
CASES = [
    # One operation per element.
    (
        (
            "abs(_) absolute(_) acos(_) acosh(_) arccos(_) arcsin(_) arctan(_) asin(_) "
            "asinh(_) atan(_) atanh(_) ceil(_) cos(_) cosh(_) deg2rad(_) digamma(_) erf(_) "
            "erfc(_) erfinv(_) exp(_) exp2(_) expm1(_) fix(_) floor(_) frac(_) i0(_) isfinite "
            "isinf isnan isneginf isposinf lgamma(_) log(_) log10(_) log1p(_) log2(_) "
            "nan_to_num(_) neg(_) negative(_) rad2deg(_) reciprocal(_) relu(_) "
            "round(_) sgn(_) sign(_) signbit sin(_) sinc(_) sinh(_) special_entr special_erfcx "
            "special_i0e special_i1 special_i1e special_log_ndtr special_ndtri sqrt(_) "
            "square(_) tan(_) tanh(_) trunc(_) threshold(_) amax amin aminmax argmax argmin "
            "count_nonzero cummax cummin cumprod(_) cumsum(_) mean median mode nanmean "
            "nanmedian nansum prod sum trace max min adaptive_avg_pool1d adaptive_avg_pool2d "
            "adaptive_avg_pool3d _adaptive_avg_pool2d _adaptive_avg_pool3d adaptive_max_pool1d "
            "adaptive_max_pool2d adaptive_max_pool3d bincount histc embedding_backward "
            "embedding_dense_backward segment_reduce max_pool2d_with_indices_backward "
            "max_pool3d_with_indices_backward adaptive_max_pool2d_backward "
            "adaptive_max_pool3d_backward upsample_nearest1d_backward "
            "upsample_nearest2d_backward upsample_nearest3d_backward "
            "_upsample_nearest_exact1d_backward _upsample_nearest_exact2d_backward "
            "_upsample_nearest_exact3d_backward reflection_pad1d_backward "
            "reflection_pad2d_backward reflection_pad3d_backward replication_pad1d_backward "
            "replication_pad2d_backward replication_pad3d_backward threshold_backward"
        ),
        {"stated": ONE},
        6,
    ),
    (
        (
            "add(_) arctan2(_) atan2(_) clamp_max(_) clamp_min(_) copysign(_) div(_) divide(_) "
            "eq(_) float_power(_) floor_divide(_) fmax fmin fmod(_) gcd(_) ge(_) greater(_) "
            "greater_equal(_) gt(_) heaviside(_) hypot(_) igamma(_) igammac(_) lcm(_) le(_) "
            "less(_) less_equal(_) logaddexp logaddexp2 lt(_) maximum minimum mul(_) "
            "multiply(_) ne(_) nextafter(_) not_equal(_) pow(_) remainder(_) rsub sub(_) "
            "subtract(_) true_divide(_) max min"
        ),
        {"stated": PAIR},
        12,
    ),
    ("add(_) mul(_)", {"stated": [(2, 3), None, None]}, 6),
    ("add", {"stated": [(2, 3), ()]}, 6),
    (
        "index_add(_) index_reduce(_) scatter_add(_) scatter_reduce(_)",
        {"stated": [(9,), None, (6,), (6,)]},
        6,
    ),
    ("nll_loss_backward nll_loss2d_backward", {"stated": [(), (6, 9), (6,)]}, 6),
    # Several operations per element, for 6 elements.
    (
        (
            "rsqrt(_) clamp(_) clip(_) hardtanh(_) relu6(_) leaky_relu(_) prelu _prelu_kernel "
            "rrelu_with_noise softshrink hardshrink norm linalg_vector_norm linalg_norm "
            "linalg_matrix_norm frobenius_norm _fused_dropout _masked_scale hardtanh_backward "
            "leaky_relu_backward rrelu_with_noise_backward softshrink_backward "
            "hardshrink_backward native_dropout_backward dropout(_) feature_dropout(_) "
            "alpha_dropout(_) native_dropout"
        ),
        {"stated": ONE},
        12,
    ),
    ("dropout", {"stated": ONE, "train": False}, 0),
    ("dropout", {"stated": ONE, "train": True, "p": 0.0}, 0),
    (
        (
            "elu(_) celu(_) softplus logit(_) elu_backward sigmoid_backward tanh_backward "
            "hardsigmoid_backward logit_backward mse_loss l1_loss dist"
        ),
        {"stated": ONE},
        18,
    ),
    (
        (
            "selu(_) sigmoid(_) special_expit hardsigmoid(_) log_sigmoid log_sigmoid_forward "
            "softplus_backward hardswish_backward log_sigmoid_backward _prelu_kernel_backward "
            "var var_mean std std_mean logsumexp _softmax_backward_data "
            "_log_softmax_backward_data"
        ),
        {"stated": ONE},
        24,
    ),
    (
        (
            "silu(_) mish(_) hardswish(_) softmax _softmax _safe_softmax logcumsumexp gelu(_) "
            "soft_margin_loss kl_div"
        ),
        {"stated": ONE},
        30,
    ),
    ("gelu(_)", {"stated": ONE, "approximate": "tanh"}, 54),
    ("smooth_l1_loss huber_loss", {"stated": ONE}, 36),
    ("binary_cross_entropy", {"stated": ONE}, 48),
    ("silu_backward binary_cross_entropy_with_logits glu_backward", {"stated": ONE}, 54),
    ("gelu_backward", {"stated": ONE}, 66),
    ("gelu_backward", {"stated": ONE, "approximate": "tanh"}, 90),
    ("mish_backward upsample_bilinear2d_backward", {"stated": ONE}, 72),
    ("polygamma", {"stated": [None, (2, 3)]}, 6),
    ("upsample_linear1d_backward", {"stated": ONE}, 24),
    ("upsample_trilinear3d_backward", {"stated": ONE}, 192),
    ("upsample_bicubic2d_backward", {"stated": ONE}, 288),
    ("glu", {"stated": ONE}, 15),
    ("mse_loss_backward", {"stated": [(), (2, 3)]}, 18),
    ("_adaptive_avg_pool2d_backward _adaptive_avg_pool3d_backward", {"stated": [(2,), (2, 3)]}, 12),
    ("smooth_l1_loss_backward huber_loss_backward", {"stated": [(), (2, 3)]}, 24),
    ("binary_cross_entropy_backward soft_margin_loss_backward", {"stated": [(), (2, 3)]}, 36),
    (
        "nll_loss nll_loss_nd nll_loss_forward nll_loss2d nll_loss2d_forward",
        {"stated": [(6, 9), (6,)]},
        12,
    ),
    ("xlogy(_) special_xlog1py", {"stated": PAIR}, 24),
    ("isclose cross linalg_cross dist", {"stated": PAIR}, 36),
    ("addcmul(_) addcdiv(_) lerp(_)", {"stated": [*PAIR, (3, 4)]}, 36),
    ("_cdist_forward", {"stated": [(2, 3, 5), (2, 4, 5)]}, 3 * 2 * 12 * 5),
    ("_cdist_backward", {"stated": [(2, 3, 4), (2, 3, 5), (2, 4, 5)]}, 4 * 2 * 12 * 5),
    ("cosine_similarity", {"stated": PAIR}, 72),
    # Normalisation, for 2 x 4 x 9 x 9 elements.
    (
        (
            "batch_norm native_batch_norm cudnn_batch_norm miopen_batch_norm "
            "_batch_norm_impl_index _native_batch_norm_legit "
            "_native_batch_norm_legit_functional"
        ),
        {"stated": [IMAGE], "training": True},
        7 * 648 + 16,
    ),
    ("batch_norm native_batch_norm", {"stated": [IMAGE], "training": False}, 3 * 648 + 16),
    (
        "_batch_norm_with_update _batch_norm_with_update_functional",
        {"stated": [IMAGE]},
        7 * 648 + 16,
    ),
    (
        "_native_batch_norm_legit_no_training _batch_norm_no_update",
        {"stated": [IMAGE]},
        3 * 648 + 16,
    ),
    ("native_batch_norm_backward", {"stated": [IMAGE, IMAGE], "train": True}, 9 * 648 + 24),
    ("native_batch_norm_backward", {"stated": [IMAGE, IMAGE], "train": False}, 6 * 648 + 16),
    ("batch_norm_backward", {"stated": [IMAGE, IMAGE], "update": True}, 9 * 648 + 24),
    ("cudnn_batch_norm_backward miopen_batch_norm_backward", {"stated": [IMAGE]}, 9 * 648 + 24),
    ("instance_norm", {"stated": [IMAGE]}, 7 * 648 + 32),
    (
        "layer_norm native_layer_norm",
        {"stated": [(2, 3, 5), None, (5,), (5,)], "normalized_shape": (5,)},
        8 * 30 + 18,
    ),
    (
        "layer_norm native_layer_norm",
        {"stated": [(2, 3, 5), None], "normalized_shape": (3, 5)},
        6 * 30 + 6,
    ),
    (
        "rms_norm _fused_rms_norm",
        {"stated": [(2, 3, 5), None, (5,)], "normalized_shape": (5,)},
        4 * 30 + 18,
    ),
    ("rms_norm", {"stated": [(2, 3, 5), None, None], "normalized_shape": (5,)}, 3 * 30 + 18),
    ("native_group_norm", {"stated": [IMAGE], "group": 2}, 8 * 648 + 12),
    ("group_norm", {"stated": [IMAGE], "num_groups": 2}, 8 * 648 + 12),
    ("native_layer_norm_backward native_group_norm_backward", {"stated": [(2, 3), (2, 3)]}, 78),
    ("_fused_rms_norm_backward", {"stated": [(2, 3), (2, 3)]}, 54),
    ("_weight_norm _weight_norm_interface", {"stated": [(2, 3), (2, 1)]}, 18 + 4),
    (
        "_weight_norm_interface_backward _weight_norm_differentiable_backward",
        {"stated": [(2, 3), (2, 3), (2, 1), (2, 1)]},
        30 + 8,
    ),
    ("log_softmax _log_softmax", {"stated": ONE, "dim": 1}, 32),
    ("log_softmax _log_softmax", {"stated": ONE, "dim": 0}, 33),
    ("cross_entropy_loss", {"stated": [(2, 3), (2,)]}, 36),
    ("cross_entropy_loss", {"stated": [(2, 3, 5), (2, 5)]}, 180),
    ("cross_entropy_loss", {"stated": [(2, 3), (2, 3)]}, 44),
    # Products.
    ("mm _int_mm _scaled_mm", {"stated": [(2, 3), (3, 4)]}, 48),
    ("bmm", {"stated": [(5, 2, 3), (5, 3, 4)]}, 240),
    ("mv", {"stated": [(2, 3), (3,)]}, 12),
    ("dot vdot", {"stated": [(3,), (3,)]}, 6),
    ("addmm(_) _addmm_activation", {"stated": [(4,), (2, 3), (3, 4)]}, 48),
    ("addmv(_)", {"stated": [(2,), (2, 3), (3,)]}, 12),
    ("baddbmm(_) addbmm(_)", {"stated": [(5, 2, 4), (5, 2, 3), (5, 3, 4)]}, 240),
    ("matmul linalg_matmul", {"stated": [(7, 1, 2, 3), (5, 3, 4)]}, 7 * 240),
    ("matmul", {"stated": [(5, 2, 3), (3,)]}, 60),
    ("matmul", {"stated": [(3,), (5, 3, 4)]}, 120),
    ("inner", {"stated": [(2, 3), (4, 3)]}, 48),
    ("linear", {"stated": [(5, 2, 3), (4, 3), (4,)]}, 240),
    ("bilinear", {"stated": [(7, 2), (7, 3), (5, 2, 3), (5,)]}, 2 * 7 * (30 + 15)),
    ("_trilinear", {"stated": [(7, 2), (5, 2, 3), (7, 3)], **OF_BILINEAR}, 14 * (30 + 15) + 7 * 5),
    ("einsum", {"stated": [None, (5, 2, 3), (5, 3, 4)], "equation": "bij,bjk->bik"}, 240),
    ("einsum", {"stated": [None, (2, 3), (3, 4)], "equation": "ij,jk"}, 48),
    ("einsum", {"stated": [None, (2, 3), (3, 4), (4, 5)], "equation": "ij,jk,kl->il"}, 48 + 80),
    ("outer ger", {"stated": [(3,), (4,)]}, 12),
    ("addr(_)", {"stated": [(3, 4), (3,), (4,)]}, 24),
    ("cholesky linalg_cholesky linalg_cholesky_ex", {"stated": [(2, 3, 3)]}, 18),
    (
        (
            "linalg_lu_factor linalg_lu_factor_ex linalg_lu linalg_det _linalg_det "
            "linalg_slogdet _linalg_slogdet slogdet logdet det"
        ),
        {"stated": [(2, 3, 3)]},
        36,
    ),
    ("inverse linalg_inv linalg_inv_ex", {"stated": [(2, 3, 3)]}, 108),
    ("_fft_c2c", {"stated": [(3, 8)], "dim": (1,)}, 5 * 24 * 3),
    ("_fft_r2c", {"stated": [(3, 8)], "dim": (0, 1)}, 5 * 24 * 5 // 2),
    # Convolutions.
    (
        (
            "conv2d mkldnn_convolution cudnn_convolution miopen_convolution "
            "miopen_depthwise_convolution _conv_depthwise2d slow_conv_dilated2d thnn_conv2d "
            "_slow_conv2d_forward"
        ),
        {"stated": [IMAGE, WEIGHT], **PLAIN},
        2 * PRODUCTS,
    ),
    ("conv2d", {"stated": [IMAGE[1:], WEIGHT], **PLAIN}, PRODUCTS),
    ("conv2d", {"stated": [IMAGE, WEIGHT], "output": (2, 8, 5, 5)}, 2 * PRODUCTS),
    ("conv2d", {"stated": [IMAGE, WEIGHT], **PLAIN, "dilation": (3, 1)}, 2 * 2 * 8 * 15 * 18),
    ("cudnn_convolution_relu", {"stated": [IMAGE, WEIGHT], **PLAIN}, 2 * PRODUCTS + 400),
    (
        "convolution _convolution convolution_overrideable",
        {"stated": [IMAGE, WEIGHT], **PLAIN, "transposed": False},
        2 * PRODUCTS,
    ),
    (
        "convolution _convolution convolution_overrideable",
        {"stated": [IMAGE, (4, 3, 3, 3)], "transposed": True},
        2 * 648 * 27,
    ),
    (
        (
            "conv_transpose1d conv_transpose2d conv_transpose3d cudnn_convolution_transpose "
            "miopen_convolution_transpose slow_conv_transpose2d slow_conv_transpose3d"
        ),
        {"stated": [IMAGE, (4, 3, 3, 3)]},
        2 * 648 * 27,
    ),
    (
        "conv1d",
        {"stated": [(2, 4, 9), (8, 4, 3)], "stride": 2, "padding": 1, "dilation": 1},
        2 * 2 * 8 * 5 * 12,
    ),
    (
        "conv3d slow_conv3d slow_conv3d_forward conv_depthwise3d slow_conv_dilated3d",
        {
            "stated": [(2, 4, 3, 3, 3), (8, 4, 3, 3, 3)],
            "stride": (1,),
            "padding": (1, 1, 1),
            "dilation": (1, 1, 1),
        },
        2 * 2 * 8 * 27 * 108,
    ),
    (
        "convolution_backward convolution_backward_overrideable",
        {
            "stated": [(2, 8, 5, 5), IMAGE, WEIGHT],
            "transposed": False,
            "output_mask": (True, True, True),
        },
        4 * PRODUCTS,
    ),
    (
        "convolution_backward",
        {
            "stated": [(2, 8, 5, 5), IMAGE, WEIGHT],
            "transposed": False,
            "output_mask": (False, True, True),
        },
        2 * PRODUCTS,
    ),
    (
        "convolution_backward",
        {
            "stated": [(2, 3, 11, 11), IMAGE, (4, 3, 3, 3)],
            "transposed": True,
            "output_mask": (True, True, False),
        },
        4 * 648 * 27,
    ),
    (
        "_slow_conv2d_backward",
        {"stated": [(2, 8, 5, 5), IMAGE, WEIGHT], "output_mask": (True, True, True)},
        4 * PRODUCTS,
    ),
    # Attention.
    (
        (
            "scaled_dot_product_attention _scaled_dot_product_flash_attention "
            "_scaled_dot_product_efficient_attention _scaled_dot_product_cudnn_attention "
            "_scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_attention_math "
            "_scaled_dot_product_attention_math_for_mps "
            "_scaled_dot_product_fused_attention_overrideable"
        ),
        {"stated": [QUERY, KEY, VALUE]},
        2 * 6 * 35 * 10,
    ),
    (
        (
            "_scaled_dot_product_flash_attention_backward "
            "_scaled_dot_product_efficient_attention_backward "
            "_scaled_dot_product_cudnn_attention_backward "
            "_scaled_dot_product_flash_attention_for_cpu_backward "
            "_scaled_dot_product_fused_attention_overrideable_backward"
        ),
        {"stated": [(2, 3, 5, 6), QUERY, KEY, VALUE]},
        2 * 6 * 35 * 24,
    ),
    (
        "_flash_attention_forward _efficient_attention_forward _cudnn_attention_forward",
        {"stated": HEADS},
        2 * 6 * 35 * 10,
    ),
    (
        "_flash_attention_backward _efficient_attention_backward _cudnn_attention_backward",
        {"stated": [(2, 5, 3, 6), *HEADS]},
        2 * 6 * 35 * 24,
    ),
    (
        "_native_multi_head_attention",
        {"stated": [(2, 5, 4)] * 3 + [None, None, (12, 4), (12,), (4, 4), (4,)]},
        2 * (10 * 64 + 2 * 10 * 5 * 4),
    ),
    (
        "_transformer_encoder_layer_fwd",
        {
            "stated": [(2, 5, 4), None, None, (12, 4), (12,), (4, 4), (4,)]
            + [None] * 3
            + [(4,)] * 4
            + [(6, 4), (6,), (4, 6), (4,)]
        },
        2 * (10 * 64 + 400 + 10 * 48) + 18 * 40 + 60 + 5 * 60,
    ),
    # Recurrent layers.
    ("lstm", {"stated": [SEQUENCE, STATE, STATE, *LSTM, None]}, LSTM_NUMBER),
    ("lstm", {"stated": [(14, 3), (7,), STATE, STATE, *LSTM, None]}, LSTM_NUMBER),
    ("lstm", {"stated": [(14, 3), (1, 5), (1, 5), *LSTM, None]}, LSTM_NUMBER),
    ("lstm", {"stated": [SEQUENCE, STATE, STATE, *LSTM[:2], None]}, ROWS * (2 * 160 + 90)),
    ("gru", {"stated": [SEQUENCE, STATE, *GRU, None]}, GRU_NUMBER),
    ("rnn_tanh rnn_relu", {"stated": [SEQUENCE, STATE, *PLAIN_CELL, None]}, PLAIN_NUMBER),
    (
        "_cudnn_rnn miopen_rnn",
        {"stated": [SEQUENCE, *LSTM, None, (200,), STATE, STATE], "mode": 2},
        LSTM_NUMBER,
    ),
    ("_cudnn_rnn", {"stated": [SEQUENCE, *GRU, None], "mode": 3}, GRU_NUMBER),
    (
        "_cudnn_rnn_backward miopen_rnn_backward",
        {"stated": [SEQUENCE, *LSTM, None], "mode": 2},
        ROWS * (4 * 160 + 40 + 5 * 22),
    ),
    ("mkldnn_rnn_layer", {"stated": [SEQUENCE, *LSTM, STATE, STATE], "mode": 2}, LSTM_NUMBER),
    (
        "mkldnn_rnn_layer_backward",
        {"stated": [SEQUENCE, *LSTM, STATE], "mode": 2},
        ROWS * (4 * 160 + 40 + 5 * 22),
    ),
    ("lstm_cell", {"stated": [(2, 3), (2, 5), (2, 5), *LSTM]}, LSTM_NUMBER // 7),
    ("gru_cell", {"stated": [(2, 3), (2, 5), *GRU]}, GRU_NUMBER // 7),
    ("rnn_tanh_cell rnn_relu_cell", {"stated": [(2, 3), (2, 5), *PLAIN_CELL]}, PLAIN_NUMBER // 7),
    ("_thnn_fused_lstm_cell", {"stated": [(2, 20), (2, 20), (2, 5), (20,), (20,)]}, 300),
    ("_thnn_fused_lstm_cell", {"stated": [(2, 20), (2, 20), (2, 5), None, None]}, 220),
    ("_thnn_fused_gru_cell", {"stated": [(2, 15), (2, 15), (2, 5), (15,), (15,)]}, 230),
    ("_thnn_fused_gru_cell", {"stated": [(2, 15), (2, 15), (2, 5)]}, 170),
    (
        "_thnn_fused_lstm_cell_backward _thnn_fused_lstm_cell_backward_impl",
        {"stated": [(2, 5)] * 3},
        220,
    ),
    ("_thnn_fused_gru_cell_backward", {"stated": [(2, 5)]}, 180),
    # Pooling and interpolation.
    (
        "max_pool2d max_pool2d_with_indices mkldnn_max_pool2d",
        {"stated": [IMAGE], **POOL, "dilation": (1, 1)},
        9 * 2 * 4 * 25,
    ),
    ("avg_pool2d", {"stated": [IMAGE], **POOL}, 9 * 2 * 4 * 25),
    (
        "avg_pool2d",
        {"stated": [IMAGE], "kernel_size": (2, 2), "stride": (), "padding": (0, 0)},
        4 * 2 * 4 * 16,
    ),
    (
        "avg_pool2d",
        {"stated": [IMAGE], "kernel_size": (2, 2), "padding": (0, 0), "ceil_mode": True},
        4 * 2 * 4 * 25,
    ),
    (
        "avg_pool2d",
        {"stated": [IMAGE], "kernel_size": (2, 2), "output": (2, 4, 4, 4)},
        4 * 2 * 4 * 16,
    ),
    (
        "max_pool1d max_pool1d_with_indices",
        {
            "stated": [(2, 4, 9)],
            "kernel_size": (3,),
            "stride": (2,),
            "padding": (1,),
            "dilation": (1,),
        },
        3 * 40,
    ),
    ("avg_pool1d", {"stated": [(2, 4, 9)], "kernel_size": 3, "stride": 2, "padding": 1}, 3 * 40),
    (
        "max_pool3d max_pool3d_with_indices avg_pool3d",
        {
            "stated": [(2, 4, 4, 4, 4)],
            "kernel_size": (2, 2, 2),
            "stride": (2, 2, 2),
            "padding": (0, 0, 0),
            "dilation": (1, 1, 1),
        },
        8 * 64,
    ),
    ("avg_pool2d_backward", {"stated": [(2, 4, 5, 5), IMAGE], "kernel_size": (3, 3)}, 2 * 9 * 200),
    ("avg_pool3d_backward", {"stated": [(2, 4, 2, 2, 2)], "kernel_size": (2, 2, 2)}, 2 * 8 * 64),
    (
        "upsample_bilinear2d _upsample_bilinear2d_aa",
        {"stated": [IMAGE], "output_size": (3, 5)},
        9 * 120,
    ),
    ("upsample_bicubic2d", {"stated": [IMAGE], "output_size": (3, 5)}, 35 * 120),
    ("upsample_linear1d", {"stated": [(2, 4, 9)], "output_size": (5,)}, 3 * 40),
    ("upsample_trilinear3d", {"stated": [(2, 4, 9, 9, 9)], "output_size": (1, 3, 5)}, 21 * 120),
    # Selection.
    (
        "index_put(_) _index_put_impl_ _unsafe_index_put",
        {"stated": [(9,), (6,), (6,), None], "accumulate": True},
        6,
    ),
    ("index_put(_)", {"stated": [(9,), (6,), (6,), None], "accumulate": False}, 0),
    (
        "embedding_bag _embedding_bag _embedding_bag_forward_only",
        {"stated": [(9, 4), (6,), (2,)]},
        24,
    ),
    (
        "_embedding_bag_backward _embedding_bag_dense_backward",
        {"stated": [(2, 4), (6,), (2,)]},
        24,
    ),
    ("sort argsort", {"stated": [(2, 3)], "dim": 1}, 12),
    ("sort", {"stated": [(2, 3)], "output": (2, 3)}, 12),
    ("topk kthvalue", {"stated": [(2, 9)], "k": 3}, 36),
    ("searchsorted", {"stated": [(7,), (2, 3)]}, 18),
    ("bucketize", {"stated": [(2, 3), (7,)]}, 18),
    # Optimizers, for 10 elements.
    (
        (
            "_foreach_abs(_) _foreach_ceil(_) _foreach_cos(_) _foreach_erf(_) _foreach_exp(_) "
            "_foreach_expm1(_) _foreach_floor(_) _foreach_frac(_) _foreach_log(_) "
            "_foreach_log10(_) _foreach_log1p(_) _foreach_log2(_) _foreach_max _foreach_neg(_) "
            "_foreach_reciprocal(_) _foreach_round(_) _foreach_sign(_) _foreach_sin(_) "
            "_foreach_sqrt(_) _foreach_tan(_) _foreach_tanh(_) _foreach_trunc(_)"
        ),
        {"stated": LISTS},
        10,
    ),
    (
        (
            "_foreach_add(_) _foreach_sub(_) _foreach_mul(_) _foreach_div(_) "
            "_foreach_maximum(_) _foreach_minimum(_) _foreach_clamp_min(_) "
            "_foreach_clamp_max(_)"
        ),
        {"stated": [*LISTS, *LISTS, None]},
        10,
    ),
    ("_foreach_mul(_)", {"stated": [(5,), (5,), None], "scalar": 0.5}, 10),
    ("_foreach_div(_)", {"stated": [(5,), (5,), None], "scalar": (0.5, 0.5)}, 10),
    ("_foreach_mul(_)", {"stated": [*LISTS, ()]}, 10),
    ("_foreach_pow(_)", {"stated": LISTS, "exponent": 2}, 10),
    ("_foreach_rsqrt(_) _foreach_norm _foreach_powsum", {"stated": LISTS}, 20),
    ("_foreach_sigmoid(_)", {"stated": LISTS}, 40),
    ("_foreach_lerp(_)", {"stated": [*LISTS, *LISTS, None], "weight": 0.5}, 30),
    ("_foreach_lerp(_)", {"stated": LISTS * 3}, 30),
    ("_foreach_addcmul(_) _foreach_addcdiv(_)", {"stated": [*LISTS * 3, None]}, 30),
    ("_fused_adam(_) _fused_adamw(_)", {"stated": [*LISTS * 4, (), (), None]}, 120),
    ("_fused_adamw_", {"stated": [*[(5,)] * 8, (), (), None], "weight_decay": 0.01}, 140),
    ("_fused_adam_", {"stated": [*[(5,)] * 10, (), (), None], "amsgrad": True}, 130),
    ("_fused_sgd(_)", {"stated": [*LISTS * 2, None]}, 20),
    ("_fused_sgd(_)", {"stated": [*LISTS * 3, None], "momentum": 0.9}, 40),
    ("_fused_sgd_", {"stated": [*LISTS * 3, None], "momentum": 0.9, "nesterov": True}, 70),
    ("_fused_adagrad(_)", {"stated": [*LISTS * 3, (), (), None]}, 70),
    ("_amp_foreach_non_finite_check_and_unscale_", {"stated": [*LISTS, (), ()]}, 20),
    # Random numbers.
    (
        (
            "rand rand_like randn randn_like randint randint_like random(_) normal(_) "
            "uniform(_) bernoulli(_) exponential(_) geometric(_) cauchy(_) log_normal(_) "
            "multinomial poisson binomial _standard_gamma _sample_dirichlet normal_functional"
        ),
        {"stated": ONE},
        0,
    ),
]
NUMBERS = [(kind, facts, number) for words, facts, number in CASES for kind in aten(words)]


@pytest.mark.parametrize(("kind", "facts", "number"), NUMBERS)
def test_a_kind_of_pytorch_has_the_hand_computed_number(kind, facts, number):
    assert counted(kind, **facts) == number


def test_every_kind_of_pytorch_that_computes_has_a_hand_computed_number():
    moves = registry.no_arithmetic
    kinds = (kind for kind in registry.kinds() if kind.startswith("aten::"))

    assert {kind for kind, _, _ in NUMBERS} == {
        k for k in kinds if registry.rule_of(k) is not moves
    }


@pytest.mark.parametrize(
    ("kind", "facts", "macs"),
    [
        ("addmm", {"stated": [(4,), (2, 3), (3, 4)]}, 24),
        ("conv2d", {"stated": [IMAGE, WEIGHT], **PLAIN}, PRODUCTS),
        ("scaled_dot_product_attention", {"stated": [QUERY, KEY, VALUE]}, 6 * 35 * 10),
        ("lstm", {"stated": [SEQUENCE, STATE, STATE, *LSTM, None]}, ROWS * 160),
        ("outer", {"stated": [(3,), (4,)]}, 0),
        ("native_layer_norm", {"stated": ONE, "normalized_shape": (3,)}, 0),
    ],
)
def test_products_state_their_macs(kind, facts, macs):
    assert counted_macs(f"aten::{kind}", **facts) == macs


@pytest.mark.parametrize(
    ("kind", "facts"),
    [
        ("mm", {"stated": [(2, 3), (4, 5)]}),
        ("mm", {"stated": [(2, 3), None]}),
        ("add", {"stated": [None, None]}),
        ("add", {"stated": [(2, 3), (4,)]}),
        ("einsum", {"stated": [None, (2, 3), (3, 4)]}),
        ("einsum", {"stated": [None, (2, 3)], "equation": "ij,jk->ik"}),
        ("conv2d", {"stated": [IMAGE, WEIGHT]}),
        ("conv2d", {"stated": [IMAGE, WEIGHT], **PLAIN, "padding": "same"}),
        ("conv2d", {"stated": [IMAGE, WEIGHT], **PLAIN, "stride": (0, 0)}),
        ("conv2d", {"stated": [(2, 3), WEIGHT], **PLAIN}),
        ("convolution", {"stated": [IMAGE, WEIGHT], **PLAIN}),
        ("convolution_backward", {"stated": [IMAGE, IMAGE, WEIGHT], "transposed": False}),
        ("batch_norm", {"stated": [IMAGE]}),
        ("layer_norm", {"stated": [(2, 3)]}),
        ("group_norm", {"stated": [IMAGE]}),
        ("_log_softmax", {"stated": [(2, 3)]}),
        ("max_pool2d", {"stated": [IMAGE]}),
        ("max_pool2d", {"stated": [(3,)], **POOL, "dilation": (1, 1)}),
        ("sort", {"stated": [(2, 3)]}),
        ("sort", {"stated": [(2, 3)], "dim": True}),
        ("_cudnn_rnn", {"stated": [SEQUENCE, *LSTM, None]}),
        ("mkldnn_rnn_layer", {"stated": [SEQUENCE, (5,), (5,), (5,), (5,)], "mode": 2}),
        ("_flash_attention_forward", {"stated": [*HEADS, (3,), (3,)]}),
        ("_flash_attention_forward", {"stated": [(5, 3, 4)] * 3}),
        ("scaled_dot_product_attention", {"stated": [(4,)] * 3}),
        ("_foreach_add_", {"stated": [None, None]}),
        ("_foreach_lerp_", {"stated": [(2,), (3,), (4,)]}),
        ("_fused_adam_", {"stated": [(2,), (3,), (4,), (5,), ()]}),
        ("upsample_bilinear2d", {"stated": [IMAGE]}),
        ("upsample_bilinear2d", {"stated": [IMAGE], "output_size": (5,)}),
        ("index_put", {"stated": [(9,), None, None], "accumulate": True}),
        ("_trilinear", {"stated": [(7, 2), (5, 2, 3), (7, 3)]}),
        ("_trilinear", {"stated": [(7,), (5, 2, 3), (7, 3)], **OF_BILINEAR}),
        ("_trilinear", {"stated": [(7, 2), (5, 2, 3), (7, 3)], **OF_BILINEAR, "unroll_dim": 4}),
    ],
)
def test_an_op_of_pytorch_without_what_its_rule_needs_is_not_counted(kind, facts):
    assert counted(f"aten::{kind}", **facts) is None


@pytest.mark.parametrize(
    "kind",
    [
        "AddmmBackward0",
        "autograd::engine::evaluate_function: AddmmBackward0",
        "torch::autograd::AccumulateGrad",
        "Optimizer.step#AdamW.step",
        "aten::view",
        "aten::copy_",
        "c10d::broadcast_",
    ],
)
def test_kinds_that_only_call_or_move_count_as_no_arithmetic(kind):
    assert registry.rule_of(kind) is registry.no_arithmetic


def test_functions_of_users_have_no_rule():
    assert registry.rule_of("MyFunctionBackward") is None
