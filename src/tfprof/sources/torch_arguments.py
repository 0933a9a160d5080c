"""The names of the arguments of PyTorch's ops, by position, as their schemas state them.

Only kinds whose float operations depend on arguments that are not tensors are listed, and arguments
after the last of these are left out. If overloads differ, the names are those of the overload that
has such arguments.
"""

from __future__ import annotations

from collections.abc import Mapping

_ADAM = (
    "self grads exp_avgs exp_avg_sqs max_exp_avg_sqs state_steps lr beta1 beta2 weight_decay eps "
    "amsgrad"
)
_SGD = "self grads momentum_buffer_list weight_decay momentum lr dampening nesterov"
_ADAGRAD = "self grads state_sums state_steps lr lr_decay weight_decay"

# The names of arguments, and the ops that have them.
_TABLE = {
    "equation": "einsum",
    "input weight bias stride padding dilation groups": "conv1d conv2d conv3d",
    "input weight bias stride padding dilation transposed output_padding groups": (
        "convolution _convolution convolution_overrideable"
    ),
    "grad_output input weight bias_sizes stride padding dilation transposed output_padding groups "
    "output_mask": "convolution_backward",
    "grad_output input weight stride padding dilation transposed output_padding groups "
    "output_mask": "convolution_backward_overrideable",
    "self weight bias padding stride dilation groups": (
        "mkldnn_convolution miopen_convolution miopen_depthwise_convolution"
    ),
    "self weight bias stride padding dilation groups": "cudnn_convolution_relu",
    "self weight padding stride dilation groups": "cudnn_convolution",
    "self weight kernel_size bias stride padding": (
        "thnn_conv2d _slow_conv2d_forward slow_conv3d slow_conv3d_forward"
    ),
    "self weight kernel_size bias stride padding dilation": (
        "_conv_depthwise2d conv_depthwise3d slow_conv_dilated2d slow_conv_dilated3d"
    ),
    "grad_output self weight kernel_size stride padding output_mask": "_slow_conv2d_backward",
    "input weight bias running_mean running_var training": (
        "batch_norm native_batch_norm cudnn_batch_norm miopen_batch_norm _batch_norm_impl_index "
        "_native_batch_norm_legit _native_batch_norm_legit_functional"
    ),
    "grad_out input weight running_mean running_var save_mean save_invstd train": (
        "native_batch_norm_backward"
    ),
    "grad_out input weight running_mean running_var save_mean save_var update": (
        "batch_norm_backward"
    ),
    "input normalized_shape": "layer_norm native_layer_norm rms_norm _fused_rms_norm",
    "input num_groups": "group_norm",
    "input weight bias N C HxW group": "native_group_norm",
    "self dim": "log_softmax _log_softmax sort argsort _fft_c2c _fft_r2c",
    "self k": "topk kthvalue",
    "input weight weight_stride0 weight_buf hx cx mode": "_cudnn_rnn",
    "input weight weight_stride0 hx cx mode": "miopen_rnn",
    "input weight weight_stride0 weight_buf hx cx output grad_output grad_hy grad_cy mode": (
        "_cudnn_rnn_backward miopen_rnn_backward"
    ),
    "input weight0 weight1 weight2 weight3 hx_ cx_ reverse batch_sizes mode": "mkldnn_rnn_layer",
    "input weight1 weight2 weight3 weight4 hx_ cx_tmp output hy_ cy_ grad_output grad_hy grad_cy "
    "reverse mode": "mkldnn_rnn_layer_backward",
    "self approximate": "gelu gelu_",
    "grad_output self approximate": "gelu_backward",
    "input p train": "dropout feature_dropout alpha_dropout native_dropout",
    "self p train": "dropout_ feature_dropout_ alpha_dropout_",
    "self indices values accumulate": "index_put index_put_ _index_put_impl_ _unsafe_index_put",
    "self kernel_size stride padding dilation ceil_mode": (
        "max_pool1d max_pool2d max_pool3d max_pool1d_with_indices max_pool2d_with_indices "
        "max_pool3d_with_indices mkldnn_max_pool2d"
    ),
    "self kernel_size stride padding ceil_mode": "avg_pool1d avg_pool2d avg_pool3d",
    "grad_output self kernel_size": "avg_pool2d_backward avg_pool3d_backward",
    "self output_size": (
        "upsample_bicubic2d upsample_bilinear2d _upsample_bilinear2d_aa upsample_linear1d "
        "upsample_trilinear3d"
    ),
    "self scalar": (
        "_foreach_add _foreach_add_ _foreach_sub _foreach_sub_ _foreach_mul _foreach_mul_ "
        "_foreach_div _foreach_div_ _foreach_maximum _foreach_maximum_ "
        "_foreach_minimum _foreach_minimum_ _foreach_clamp_min _foreach_clamp_min_ "
        "_foreach_clamp_max _foreach_clamp_max_"
    ),
    "self exponent": "_foreach_pow _foreach_pow_",
    "self tensors1 weight": "_foreach_lerp _foreach_lerp_",
    _ADAM: "_fused_adam _fused_adam_ _fused_adamw _fused_adamw_",
    _SGD: "_fused_sgd _fused_sgd_",
    _ADAGRAD: "_fused_adagrad _fused_adagrad_",
}

ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    f"aten::{kind}": tuple(names.split())
    for names, kinds in _TABLE.items()
    for kind in kinds.split()
}
