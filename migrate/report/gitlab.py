"""The report as GitLab reads code quality: the part of Code Climate's issues that a merge request shows."""

from __future__ import annotations

import json
from typing import Any

from ..rule import Entry, Severity
from .model import Place, Report, visible

# Of `info`, `minor`, `major`, `critical` and `blocker`; only what a server cannot live with would be worse.
_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.NOTE: "info"}


def render(report: Report) -> str:
    """The findings as one JSON list; GitLab compares those of two branches by their fingerprints."""
    return json.dumps([_issue(place, report.entries.get(place.rule)) for place in report.places], indent=2) + "\n"


def _issue(place: Place, entry: Entry | None) -> dict[str, Any]:
    said = f"{place.message}; {place.hint}" if place.hint else place.message
    body = {} if entry is None else {"content": {"body": f"{entry.why.strip()}\n\n**Instead:** {entry.instead.strip()}"}}
    return {
        "type": "issue",
        "check_name": f"{place.rule} {place.name}",
        "description": visible(f"{place.rule}: {said}"),
        **body,
        "categories": ["Compatibility"],
        "fingerprint": place.fingerprint,
        "severity": _SEVERITIES[place.severity],
        "location": {"path": place.path, "lines": {"begin": place.in_file[0].line, "end": place.in_file[1].line}},
    }
