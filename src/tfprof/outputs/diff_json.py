"""Encode a comparison as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from tfprof.comparison.compared import Compared
from tfprof.comparison.summary import DiffSummary
from tfprof.outputs import json_document, schemas
from tfprof.outputs.diff_rows import rows
from tfprof.outputs.diff_sentences import sentences


def as_dict(compared: Compared) -> dict[str, Any]:
    """The whole comparison as plain values; times of rows are microseconds."""
    return head(compared) | {"rows": list(rows(compared))}


def head(compared: Compared) -> dict[str, Any]:
    """Everything but the rows."""
    view = compared.view
    options = asdict(view.options).items()
    return {
        "schema": schemas.name_of("diff"),
        "view": view.kind,
        "base": list(compared.base),
        "new": list(compared.new),
        "options": {key: list(v) if isinstance(v, tuple) else v for key, v in options},
        "summary": _summary(compared.summary),
        "numbers": [
            {"key": number.name, "metric": number.metric, "label": number.label}
            for number in view.numbers
        ],
        "notes": list(compared.notes),
    }


def _summary(summary: DiffSummary) -> dict[str, Any]:
    return {
        "sentences": sentences(summary),
        "steps": list(summary.steps),
        "recordings": list(summary.recordings),
        "step": _step(summary),
        "pace": summary.pace,
        "idle": summary.idle._asdict() if summary.idle else None,
        "cause": asdict(summary.cause) | {"facts": list(summary.cause.facts)}
        if summary.cause
        else None,
        "totals": [
            {"key": number.key, "label": number.label, "before": before, "after": after}
            for number, before, after in summary.totals
        ],
    }


def _step(summary: DiffSummary) -> dict[str, Any] | None:
    step = summary.step
    if step is None:
        return None
    bounds = (step.low, step.high) if step.is_conclusive else (None, None)
    low, high = (None if bound is None else float(bound[0]) for bound in bounds)
    return {
        "before_ns": float(step.before[0]),
        "after_ns": float(step.after[0]),
        "low_ns": low,
        "high_ns": high,
        "p_value": float(step.chance[0]) if step.is_conclusive else None,
        "is_conclusive": step.is_conclusive,
        "is_shown": bool(step.is_shown[0]),
    }


def encode(compared: Compared) -> Iterator[bytes]:
    """The comparison as JSON text, one line per row."""
    return json_document.encode(head(compared), rows(compared))
