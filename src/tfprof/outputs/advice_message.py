"""Encode findings as a protobuf message of the original's type."""

from __future__ import annotations

from tfprof.advisor.registry import Reports
from tfprof.formats.messages import Message, message_class
from tfprof.outputs.advice import finding_text

ADVICE = "tensorflow.tfprof.AdviceProto"


def build(reports: Reports) -> Message:
    """An AdviceProto with the findings of each checker as text; empty if there are none."""
    message = message_class(ADVICE)()
    for report in reports.reports:
        texts = (finding_text(one, is_classic=reports.is_classic) for one in report.findings)
        message.checkers[report.checker].reports.extend(texts)
    return message
