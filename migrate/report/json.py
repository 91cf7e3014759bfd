"""The report for other programs; `findings.schema.json` beside this file is its JSON Schema."""

from __future__ import annotations

import json
from typing import Any

from ..rule import Applicability, Severity
from .model import Place, Report

VERSION = 1


def render(report: Report) -> str:
    """The report as one JSON document. Everything outside ASCII is escaped, so any terminal and any encoding can carry it."""
    return json.dumps(_document(report), indent=2) + "\n"


def _document(report: Report) -> dict[str, Any]:
    severities, applicabilities = report.by_severity, report.by_applicability
    return {
        "version": VERSION,
        "era": report.era.value,
        "findings": [_finding(place) for place in report.places],
        "files": [{"path": seen.path, "evidence": list(seen.evidence), "boundary": list(seen.boundary)} for seen in report.seen],
        "summary": {
            "checked": report.checked,
            "severity": {severity.word: severities[severity] for severity in reversed(Severity)},
            "applicability": {applicability.word: applicabilities[applicability] for applicability in reversed(Applicability)},
            "suppressed": report.suppressed,
            "baselined": report.baselined,
            "stale": report.stale,
        },
    }


def _finding(place: Place) -> dict[str, Any]:
    return {
        "rule": place.rule,
        "name": place.name,
        "severity": place.severity.word,
        "applicability": place.applicability.word,
        "message": place.message,
        "hint": place.hint,
        "path": place.path,
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
        "fix": place.fix,
        "fingerprint": place.fingerprint,
    }
