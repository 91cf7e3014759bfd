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


def statistics(report: Report) -> str:
    """The report with how often each rule was found, the most frequent first, in place of its findings and files."""
    names, fixable = {place.rule: place.name for place in report.places}, report.fixable
    counts = [{"rule": rule, "name": names[rule], "count": number, "fixable": fixable[rule]} for rule, number in report.by_rule]
    return json.dumps({**_head(report), "statistics": counts, "summary": _summary(report)}, indent=2) + "\n"


def _document(report: Report) -> dict[str, Any]:
    return {
        **_head(report),
        "findings": [_finding(place) for place in report.places],
        "files": [{"path": seen.path, "evidence": list(seen.evidence), "boundary": list(seen.boundary)} for seen in report.seen],
        "suppressions": [one._asdict() for one in report.suppressions],
        "stale": [one._asdict() for one in report.stale],
        "summary": _summary(report),
    }


def _head(report: Report) -> dict[str, Any]:
    return {"version": VERSION, "era": report.era.value}


def _summary(report: Report) -> dict[str, Any]:
    severities, applicabilities = report.by_severity, report.by_applicability
    return {
        "checked": report.checked,
        "severity": {severity.word: severities[severity] for severity in reversed(Severity)},
        "applicability": {applicability.word: applicabilities[applicability] for applicability in reversed(Applicability)},
        "suppressed": report.suppressed,
        "baselined": report.baselined,
        "stale": len(report.stale),
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
        "cell": place.cell,
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
        "fix": place.fix,
        "document": place.document,
        "fingerprint": place.fingerprint,
    }
