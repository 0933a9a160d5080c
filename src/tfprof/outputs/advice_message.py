"""Findings as a protobuf message, with the field names and numbers programs know."""

from __future__ import annotations

from tfprof.advisor.registry import Reports
from tfprof.formats.messages import Message, message_class
from tfprof.outputs.advice import finding_text

ADVICE = "tensorflow.tfprof.AdviceProto"


def build(reports: Reports) -> Message:
    """An AdviceProto: what each checker found, as text; empty for one that found nothing."""
    message = message_class(ADVICE)()
    for report in reports.reports:
        message.checkers[report.checker].reports.extend(map(finding_text, report.findings))
    return message
