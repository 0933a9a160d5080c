"""The listings of "Profile Time"."""

from documents import listed
from documents.memory import PRINTED_TO_STDERR, TIMELINE
from documents.models import attention, made, ps_worker, resnet32, softmax_on_the_cpu
from documents.rows import Row

_START = "--graph_path=graph.pbtxt --run_meta_path=run_meta"
_CODE_START = f"{_START} --op_log_path=tfprof_log"

_CODE = """\
tfprof> code -show_name_regexes seq2seq_attention.* -max_depth 10 -select micros -order_by micros
node name | execution time
_TFProfRoot (--/3.74sec)
  seq2seq_attention.py'>:168:run_filename_from...:none (0us/3.74sec)
    seq2seq_attention.py'>:33:_run_code_in_main:none (0us/3.74sec)
      seq2seq_attention.py:316:<module>:app.run() (0us/3.74sec)
        seq2seq_attention.py:270:main:_Train(model, bat... (0us/3.74sec)
          seq2seq_attention.py:128:_Train:model.build_graph() (0us/3.74sec)
            seq2seq_attention_model.py:360:build_graph:self._add_seq2seq() (0us/2.79sec)
              seq2seq_attention_model.py:293:_add_seq2seq:decoder_outputs, ... (0us/2.46sec)
              seq2seq_attention_model.py:192:_add_seq2seq:sequence_length=a... (0us/265.31ms)
              seq2seq_attention_model.py:253:_add_seq2seq:initial_state_att... (0us/50.35ms)
              seq2seq_attention_model.py:173:_add_seq2seq:for x in encoder_... (0us/8.72ms)
              seq2seq_attention_model.py:218:_add_seq2seq:w_t = tf.transpos... (0us/2.39ms)
              ...
            seq2seq_attention_model.py:363:build_graph:self._add_train_o... (0us/949.10ms)
              seq2seq_attention_model.py:307:_add_train_op:tf.gradients(self... (0us/641.44ms)
              seq2seq_attention_model.py:322:_add_train_op:zip(grads, tvars)... (0us/307.56ms)
              ...
            seq2seq_attention_model.py:364:build_graph:self._summaries =... (0us/13us)
            seq2seq_attention_model.py:361:build_graph:self.global_step ... (0us/12us)
            ...
          seq2seq_attention.py:129:_Train:saver = tf.train.... (0us/0us)
          seq2seq_attention.py:140:_Train:global_step=model... (0us/0us)
"""

_FUNCTION = """\
tfprof> code -start_name_regexes .*_add_seq2seq.* -show_name_regexes seq2seq_attention.* \
-max_depth 10 -select micros -order_by micros
node name | execution time
_TFProfRoot (--/3.74sec)
  seq2seq_attention_model.py:360:build_graph:self._add_seq2seq() (0us/2.79sec)
    seq2seq_attention_model.py:293:_add_seq2seq:decoder_outputs, ... (0us/2.46sec)
      seq2seq_attention_model.py:289:sampled_loss_func:num_classes=vsize) (0us/2.46sec)
      seq2seq_attention_model.py:282:sampled_loss_func:labels = tf.resha... (0us/164us)
"""

_LIBRARIES = """\
tfprof> code  -max_depth 5 -select micros -order_by micros -start_name_regexes .*_add_seq2seq.* \
-min_micros 100000
_TFProfRoot (--/3.74sec)
  seq2seq_attention_model.py:360:build_graph:self._add_seq2seq() (0us/2.79sec)
    seq2seq_attention_model.py:293:_add_seq2seq:decoder_outputs, ... (0us/2.46sec)
      seq2seq_lib.py:181:sampled_sequence_...:average_across_ti... (0us/2.46sec)
        seq2seq_lib.py:147:sequence_loss_by_...:crossent = loss_f... (0us/2.46sec)
    seq2seq_attention_model.py:192:_add_seq2seq:sequence_length=a... (0us/265.31ms)
      seq2seq_lib.py:104:bidirectional_rnn:sequence_length, ... (0us/127.27ms)
        core_rnn.py:195:static_rnn:state_size=cell.s... (0us/127.20ms)
      seq2seq_lib.py:110:bidirectional_rnn:initial_state_bw,... (0us/125.96ms)
        core_rnn.py:195:static_rnn:state_size=cell.s... (0us/125.86ms)
"""

_KINDS = """\
tfprof> op -select micros,occurrence -order_by micros
node name | execution time | op occurrence
SoftmaxCrossEntropyWithLogits     1.37sec (100.00%, 36.44%),         30
MatMul                        618.97ms (63.56%, 16.51%),       3450
Add                            273.76ms (47.06%, 7.30%),       2180
Sub                            215.41ms (39.76%, 5.74%),       4372
ConcatV2                       203.88ms (34.01%, 5.44%),       6098
Mul                            134.32ms (28.58%, 3.58%),       9427
ApplyAdam                       92.66ms (25.00%, 2.47%),         27
Switch                          72.43ms (22.53%, 1.93%),      30654
LogUniformCandidateSampler       69.01ms (20.59%, 1.84%),         30
Unique                          53.50ms (18.75%, 1.43%),          2
AddN                            50.10ms (17.33%, 1.34%),       5481
"""

_DEVICES = """\
tfprof> op -select micros,device -order_by micros
node name | execution time | assigned devices
SoftmaxCrossEntropyWithLogits     1.37sec (100.00%, 36.44%), /job:worker/replica:0/task:0/cpu:0
MatMul                        618.97ms (63.56%, 16.51%), |/job:worker/replica:0/task:0/cpu:0\
|/job:worker/replica:0/task:0/device:GPU:0|/job:worker/replica:0/task:0/device:GPU:1\
|/job:worker/replica:0/task:0/device:GPU:2|/job:worker/replica:0/task:0/device:GPU:3
"""

_SCOPES = """\
tfprof> scope -max_depth 30 -select micros -min_micros 100000 -order_by micros
node name | execution time
_TFProfRoot (--/8.12sec)
  tower_3/gradients/tower_3/Conv2d_1a_3x3/convolution_grad/Conv2DBackpropFilter (126.34ms/126.34ms)
  tower_1/gradients/tower_1/Conv2d_1a_3x3/convolution_grad/Conv2DBackpropFilter (125.44ms/125.44ms)
  tower_2/gradients/tower_2/Conv2d_1a_3x3/convolution_grad/Conv2DBackpropFilter (124.85ms/124.85ms)
  tower_0/gradients/tower_0/Conv2d_1a_3x3/convolution_grad/Conv2DBackpropFilter (124.45ms/124.45ms)
"""

ROWS = [
    Row(
        place="Time, by code",
        dialect="early",
        model=made(listed.calls, _CODE, "micros"),
        start=_CODE_START,
        session=_CODE,
    ),
    Row(
        place="Time, one function",
        dialect="early",
        model=made(listed.calls, _FUNCTION, "micros"),
        start=_CODE_START,
        session=_FUNCTION,
    ),
    Row(
        place="Time, into libraries",
        dialect="early",
        model=made(listed.calls, _LIBRARIES, "micros", below=100_000),
        start=_CODE_START,
        session=_LIBRARIES,
        instead={"_TFProfRoot (": "node name | execution time\n_TFProfRoot ("},
    ),
    Row(
        place="Time, timeline of code",
        dialect="early",
        model=attention,
        start=_CODE_START,
        session="tfprof> code -output timeline:outfile=code.json\n",
        timeline="code.json",
    ),
    Row(
        place="Time, by kind",
        dialect="early",
        model=made(
            listed.kinds,
            _KINDS,
            "micros",
            3_750_150,
            exactly={"SoftmaxCrossEntropyWithLogits": 1_366_400, "MatMul": 618_974},
        ),
        start=_START,
        session=_KINDS,
        is_cut=True,
    ),
    Row(
        place="Time, devices",
        dialect="early",
        model=made(softmax_on_the_cpu),
        start=_START,
        session=_DEVICES,
        is_cut=True,
        instead={"/device:GPU:": "/device:gpu:"},
    ),
    Row(
        place="Time, timeline of graph",
        dialect="early",
        model=ps_worker,
        start=_START,
        session=f"""\
tfprof> graph -max_depth 10000000 -step 0 -account_type_regexes .*gpu:3.*,.*worker.*cpu:0.* \
-output timeline:outfile=graph.json
{TIMELINE}""",
        instead=PRINTED_TO_STDERR,
        timeline="graph.json",
    ),
    Row(
        place="Time, by scope",
        dialect="early",
        model=made(listed.scopes, _SCOPES, "micros", below=100_000),
        start=_START,
        session=_SCOPES,
    ),
    # Other models, with other names and faster ops, have output of the same form.
    *(
        Row(
            place=f"{place}, {model.__name__}",
            dialect="early",
            model=model,
            start=_CODE_START,
            session=session,
            is_form=True,
        )
        for place, model, session in [
            ("Time, one function", attention, _FUNCTION.replace("seq2seq_attention", ".*seq2seq")),
            ("Time, by kind", attention, _KINDS),
            ("Time, devices", ps_worker, _DEVICES),
            ("Time, by scope", resnet32, _SCOPES.replace("100000", "10000")),
        ]
    ),
]
