"""Kinds that PyTorch carries out by calling other ops.

In a trace these other ops count, because they do the work: an `aten::linear` is an `aten::addmm`.
In an exported program, which does not contain the other ops, the op itself counts. PyTorch's own
counter of float operations (`torch.utils.flop_counter`) counts the same ops.
"""

from tfprof.measures.flop_rules.aten import aten
from tfprof.measures.flop_rules.registry import composite

composite(
    *aten("""
    _batch_norm_impl_index _convolution _fused_rms_norm _scaled_dot_product_attention_math
    _thnn_fused_lstm_cell_backward _upsample_bilinear2d_aa _weight_norm
    _weight_norm_differentiable_backward absolute absolute_ adaptive_avg_pool1d
    adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d alpha_dropout alpha_dropout_
    arccos arccos_ arcsin arcsin_ arctan arctan2 arctan2_ arctan_ argsort avg_pool1d batch_norm
    bilinear clip clip_ conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d
    cosine_similarity cross cross_entropy_loss det divide divide_ dropout dropout_ einsum
    embedding_backward embedding_bag feature_dropout feature_dropout_ fix fix_ float_power
    float_power_ frobenius_norm ger greater greater_ greater_equal greater_equal_ group_norm gru
    gru_cell inner instance_norm inverse isclose isfinite kl_div l1_loss layer_norm less less_
    less_equal less_equal_ linalg_cholesky linalg_det linalg_inv linalg_lu_factor linalg_matmul
    linalg_matrix_norm linalg_norm linalg_slogdet linear log_sigmoid log_softmax logdet lstm
    lstm_cell matmul max max_pool1d max_pool1d_with_indices max_pool2d max_pool3d min
    mish_backward multiply multiply_ nanmean negative negative_ nll_loss nll_loss2d nll_loss_nd
    not_equal not_equal_ outer prelu rand randn relu6 relu6_ rms_norm rnn_relu rnn_relu_cell
    rnn_tanh rnn_tanh_cell scaled_dot_product_attention selu selu_ silu_backward slogdet
    slow_conv3d softmax special_expit square square_ std std_mean subtract subtract_ thnn_conv2d
    true_divide true_divide_ upsample_bicubic2d upsample_bilinear2d upsample_linear1d
    upsample_trilinear3d var var_mean
    """)
)
