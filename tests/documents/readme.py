"""The listings of the first README, by the numbers of its examples."""

from documents import listed
from documents.models import (
    made,
    old_resnet32,
    parameter_servers,
    pool_logit,
    ps_worker,
    residual_chain,
)
from documents.rows import Row

_GRAPH = "--graph_path=graph.pbtxt"
_RUN = f"{_GRAPH} --run_meta_path=run_meta"
_CHECKPOINT = f"{_GRAPH} --checkpoint_path=model.ckpt"
_LOG = f"{_GRAPH} --op_log_path=tfprof_log"

_ONE_SHOT = """\
_TFProfRoot (--/930.58k params)
  global_step (0/0 params)
  pool_logit/DW (64x10, 640/1.28k params)
  pool_logit/biases (10, 10/20 params)
"""

_COST = """\
tfprof> graph -start_name_regexes cost.* -max_depth 100 -min_micros 10000 -select micros \
-account_type_regexes .*
_TFProfRoot (0us/3.61sec)
  init/init_conv/Conv2D (11.75ms/3.10sec)
    random_shuffle_queue_DequeueMany (3.09sec/3.09sec)
  unit_1_0/sub2/conv2/Conv2D (74.14ms/3.19sec)
  unit_1_3/sub2/conv2/Conv2D (60.75ms/3.34sec)
  unit_2_4/sub2/conv2/Conv2D (73.58ms/3.54sec)
  unit_3_3/sub2/conv2/Conv2D (10.26ms/3.60sec)
"""

_BACK_PROPAGATION = """\
tfprof> scope -start_name_regexes gradient.* -max_depth 100 -min_micros 20000 -select micros \
-account_type_regexes .*
_TFProfRoot (0us/2.29sec)
  gradients/unit_1_0/sub1/conv1/Conv2D_grad/Conv2DBackpropFilter (54.96ms/54.96ms)
  gradients/unit_1_0/sub2/conv2/Conv2D_grad/Conv2DBackpropFilter (83.63ms/83.63ms)
  gradients/unit_1_1/sub1/conv1/Conv2D_grad/Conv2DBackpropFilter (99.25ms/99.25ms)
  gradients/unit_1_2/sub1/conv1/Conv2D_grad/Conv2DBackpropFilter (95.40ms/95.40ms)
  gradients/unit_1_2/sub2/conv2/Conv2D_grad/Conv2DBackpropFilter (99.83ms/99.83ms)
  gradients/unit_1_3/sub1/conv1/Conv2D_grad/Conv2DBackpropFilter (95.39ms/95.39ms)
  ...
"""

_SERVERS = """\
tfprof> scope -select device,params -account_type_regexes .*ps.*task:0.* -max_depth 1
_TFProfRoot (--/25.81m params)
tfprof> scope -select device,params -account_type_regexes .*ps.*task:1.* -max_depth 1
_TFProfRoot (--/58.84m params)
"""

_OPTIONS = {
    "max_depth": "1",
    "min_bytes": "1",
    "min_micros": "1",
    "min_params": "1",
    "min_float_ops": "1",
    "device_regexes": ".*cpu.*,.*gpu.*",
    "order_by": "name|depth|bytes|micros|params|float_ops",
    "account_type_regexes": "Variable,MatMul",
    "start_name_regexes": "unit_1.*",
    "trim_name_regexes": "unit_1.*",
    "show_name_regexes": "unit_1.*",
    "hide_name_regexes": "unit_1.*",
    "account_displayed_op_only": "true",
    "select": "bytes|micros|params|float_ops|num_hidden_ops|tensor_value|device|op_types",
    "dump_to_file": "dump_of_all",
}

ROWS = [
    Row(
        place="README 1, help",
        model=old_resnet32,
        start="help",
        session="Usage: tfprof COMMAND FILES… [-option value]…\n",  # not shown in the README
        is_cut=True,
    ),
    Row(
        place="README 1, one-shot",
        dialect="contrib",
        model=old_resnet32,
        start="scope --graph_path=graph.pbtxt --max_depth=3",
        session=_ONE_SHOT,
    ),
    *(
        Row(
            place=f"README 1, shell with {files}",
            dialect="contrib",
            model=old_resnet32,
            start=start,
            session="tfprof> scope -max_depth 1\n_TFProfRoot (--/930.58k params)\n",  # not shown
        )
        for files, start in {
            "a graph": _GRAPH,
            "a checkpoint": _CHECKPOINT,
            "a run": f"{_RUN} --checkpoint_path=model.ckpt",
            "a log": f"{_RUN} --op_log_path=tfprof_log --checkpoint_path=model.ckpt",
        }.items()
    ),
    Row(
        place="README 2",
        dialect="contrib",
        model=old_resnet32,
        start=_GRAPH,
        session="""\
tfprof>
-max_depth                  4
-min_bytes                  0
-min_micros                 0
-min_params                 0
-min_float_ops              0
-device_regexes             .*
-order_by                   name
-account_type_regexes       Variable
-start_name_regexes         .*
-trim_name_regexes
-show_name_regexes          .*
-hide_name_regexes          IsVariableInitialized_[0-9]+,save\\/.*,^zeros[0-9_]*
-account_displayed_op_only  false
# supported select fileds. Availability depends on --[run_meta|checkpoint|op_log]_path.
# [bytes|micros|params|float_ops|num_hidden_ops|tensor_value|device|op_types]
-select                     params
-viz                        false
-dump_to_file
""",
        instead={"-dump_to_file\n": "-dump_to_file\n-dialect                    contrib\n"},
    ),
    Row(
        place="README 3",
        dialect="contrib",
        model=old_resnet32,
        start=_CHECKPOINT,
        session="""\
tfprof> scope -show_name_regexes unit_1_0.*gamma -select tensor_value -max_depth 5
_TFProfRoot ()
  unit_1_0/shared_activation/init_bn/gamma ()
[1.80 2.10 2.06 1.91 2.26 1.86 1.81 1.37 1.78 1.85 1.96 1.54 2.04 2.34 2.22 1.99 ],
  unit_1_0/sub2/bn2/gamma ()
[1.57 1.83 1.30 1.25 1.59 1.14 1.26 0.82 1.19 1.10 1.48 1.01 0.82 1.23 1.21 1.14 ],
""",
    ),
    Row(
        place="README 4",
        dialect="contrib",
        model=old_resnet32,
        start=_CHECKPOINT,
        session="""\
tfprof> scope -account_type_regexes _checkpoint_variables -select params -max_depth 4
_TFProfRoot (--/930.58k params)
  global_step (0/0 params)
  init/init_conv/DW (3x3x3x16, 432/864 params)
  pool_logit/DW (64x10, 640/1.28k params)
    pool_logit/DW/Momentum (64x10, 640/640 params)
  pool_logit/biases (10, 10/20 params)
    pool_logit/biases/Momentum (10, 10/10 params)
  unit_last/final_bn/beta (64, 64/128 params)
  unit_last/final_bn/gamma (64, 64/128 params)
  unit_last/final_bn/moving_mean (64, 64/64 params)
  unit_last/final_bn/moving_variance (64, 64/64 params)
""",
    ),
    Row(
        place="README 5",
        dialect="contrib",
        model=made(residual_chain),
        start=_RUN,
        session=_COST,
    ),
    Row(
        place="README 5, ResNet",
        dialect="contrib",
        model=old_resnet32,
        start=_RUN,
        session=_COST,
        is_form=True,
    ),
    Row(
        place="README 6",
        dialect="contrib",
        model=made(listed.scopes, _BACK_PROPAGATION, "micros", below=20_000, under="gradients/"),
        start=_RUN,
        session=_BACK_PROPAGATION,
    ),
    Row(
        place="README 6, ResNet",
        dialect="contrib",
        model=old_resnet32,
        start=_RUN,
        session=_BACK_PROPAGATION.replace("20000", "10000"),
        is_form=True,
    ),
    Row(
        place="README 7",
        dialect="contrib",
        model=old_resnet32,
        start=f"{_LOG}",
        session="""\
tfprof> scope -min_float_ops 1 -max_depth 10 -select float_ops -account_type_regexes .*
_TFProfRoot (0/17.63b flops)
  gradients/pool_logit/xw_plus_b/MatMul_grad/MatMul (163.84k/163.84k flops)
  gradients/pool_logit/xw_plus_b/MatMul_grad/MatMul_1 (163.84k/163.84k flops)
  init/init_conv/Conv2D (113.25m/113.25m flops)
  pool_logit/xw_plus_b (1.28k/165.12k flops)
    pool_logit/xw_plus_b/MatMul (163.84k/163.84k flops)
  unit_1_0/sub1/conv1/Conv2D (603.98m/603.98m flops)
  unit_1_0/sub2/conv2/Conv2D (603.98m/603.98m flops)
  unit_1_1/sub1/conv1/Conv2D (603.98m/603.98m flops)
  unit_1_1/sub2/conv2/Conv2D (603.98m/603.98m flops)
  ...
""",
        is_cut=True,
    ),
    Row(
        place="README 8",
        dialect="contrib",
        model=old_resnet32,
        start=_LOG,
        session="""\
tfprof> set -account_type_regexes _trainable_variables
tfprof> scope -max_depth 4 -select params
_TFProfRoot (--/464.15k params)
  init/init_conv/DW (3x3x3x16, 432/432 params)
  pool_logit/DW (64x10, 640/640 params)
  pool_logit/biases (10, 10/10 params)
  unit_last/final_bn/beta (64, 64/64 params)
  unit_last/final_bn/gamma (64, 64/64 params)
""",
    ),
    Row(
        place="README 9",
        dialect="contrib",
        model=old_resnet32,
        start=_GRAPH,
        session="""\
tfprof> set -account_type_regexes .*
tfprof> scope -show_name_regexes unit_2_1.*DW -max_depth 100 -account_displayed_op_only
_TFProfRoot (0/18.43k params)
  unit_2_1/sub1/conv1/DW (3x3x32x32, 9.22k/9.22k params)
  unit_2_1/sub2/conv2/DW (3x3x32x32, 9.22k/9.22k params)
""",
    ),
    Row(
        place="README 10",
        dialect="contrib",
        model=old_resnet32,
        start=_GRAPH,
        session="""\
tfprof> scope -account_type_regexes Variable -max_depth 4 -select params
_TFProfRoot (--/930.58k params)
  global_step (1/1 params)
  init/init_conv/DW (3x3x3x16, 432/864 params)
  pool_logit/DW (64x10, 640/1.28k params)
    pool_logit/DW/Momentum (64x10, 640/640 params)
  pool_logit/biases (10, 10/20 params)
    pool_logit/biases/Momentum (10, 10/10 params)
  unit_last/final_bn/beta (64, 64/128 params)
  unit_last/final_bn/gamma (64, 64/128 params)
  unit_last/final_bn/moving_mean (64, 64/64 params)
  unit_last/final_bn/moving_variance (64, 64/64 params)
""",
        instead={"global_step (1/1 params)": "global_step (0/0 params)"},
    ),
    Row(
        place="README 11",
        dialect="contrib",
        model=pool_logit,
        start=_LOG,
        session="""\
tfprof> scope -account_type_regexes pool_logit -max_depth 4 -select params
_TFProfRoot (--/650 params)
  pool_logit/DW (64x10, 640/640 params)
  pool_logit/biases (10, 10/10 params)
""",
    ),
    Row(
        place="README 12",
        dialect="contrib",
        model=old_resnet32,
        start="scope --graph_path=graph.pbtxt --max_depth=3 --dump_to_file=dump",
        session="Reading Files...\nParsing GraphDef...\nPreparing Views...\n",
        instead={"Reading Files...\n": "", "Parsing GraphDef...\n": "", "Preparing Views...\n": ""},
    ),
    Row(
        place="README 12, the file",
        dialect="contrib",
        model=old_resnet32,
        start="scope --graph_path=graph.pbtxt --max_depth=3 --dump_to_file=dump",
        session=_ONE_SHOT,
        file="dump",
    ),
    Row(
        place="README 13",
        dialect="contrib",
        model=made(parameter_servers),
        start=_RUN.replace("=", " "),
        session=_SERVERS,
    ),
    Row(
        place="README 13, two servers",
        dialect="contrib",
        model=ps_worker,
        start=_RUN.replace("=", " "),
        session=_SERVERS,
        is_form=True,
    ),
    Row(
        place="README, options",
        dialect="contrib",
        model=old_resnet32,
        start=_GRAPH,
        session="".join(
            f"tfprof> set -{name} {value}\n"
            for name, values in _OPTIONS.items()
            for value in values.split("|")
        ),
        instead={"-order_by depth": "-order_by name"},
    ),
]
