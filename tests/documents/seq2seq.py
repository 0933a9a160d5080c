"""The listings of the seq2seq report, which shows single rows of the report files."""

from documents.models import model_directory
from documents.rows import Row

_REPORTS = {
    "params.txt": """\
  att_seq2seq/attention_decoder/RNN/rnn_step/logits/weights (384x103, 39.55k/39.55k params, \
158.21KB/158.21KB)
""",
    "flops.txt": """\
  att_seq2seq/OptimizeLoss/gradients/att_seq2seq/attention_decoder/RNN/while/rnn_step/attention/\
inputs_att/MatMul_grad/MatMul (18.87m/18.87m flops, 1.64ms/1.64ms, \
/job:localhost/replica:0/task:0/cpu:0)
""",
    "micro.txt": """\
  att_seq2seq/attention_decoder/RNN/while/rnn_step/attention/mul_1 (1.89ms/13.72ms, \
/job:localhost/replica:0/task:0/cpu:0)
    att_seq2seq/attention_decoder/RNN/while/rnn_step/attention/inputs_att/MatMul \
(1.21ms/11.83ms, /job:localhost/replica:0/task:0/cpu:0)
    ....
""",
    # The report does not show this file; it says that it lists the devices of all operations.
    "device.txt": """\
  inputs (0/0 flops, 10.62ms/10.62ms, /job:localhost/replica:0/task:0/cpu:0)
""",
}

ROWS = [
    Row(
        place=f"seq2seq, {name}",
        model=model_directory,
        start="profile --model_dir=.",
        session=listing,
        file=name,
        is_cut=True,
    )
    for name, listing in _REPORTS.items()
]
