"""The report as SARIF 2.1.0, for code scanning of GitHub and others."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from .. import __version__
from ..rule import Entry, Severity
from .model import Place, Report

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


def render(report: Report) -> str:
    """The report as one SARIF log with one run."""
    ids = sorted({place.rule for place in report.places})
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "mcp-migrate",
                        "semanticVersion": __version__,
                        "rules": [_rule(report.entries[id]) for id in ids],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(place, ids.index(place.rule)) for place in report.places],
            }
        ],
    }
    return json.dumps(log, indent=2) + "\n"


def _rule(entry: Entry) -> dict[str, Any]:
    why, instead = entry.why.strip(), entry.instead.strip()
    source = f"\n\nSource: {entry.spec}" if entry.spec != "none" else ""
    return {
        "id": entry.id,
        "name": entry.name,
        "shortDescription": {"text": entry.title},
        "fullDescription": {"text": why or entry.title},
        "help": {
            "text": f"{why}\n\nInstead: {instead}{source}",
            "markdown": f"**{entry.title}**\n\n{why}\n\n**Instead:** {instead}{source}",
        },
        "defaultConfiguration": {"level": _LEVELS[entry.severity]},
        "properties": {"tags": ["mcp", entry.pack]},
    }


def _result(place: Place, index: int) -> dict[str, Any]:
    start, end = place.in_file
    return {
        "ruleId": place.rule,
        "ruleIndex": index,
        "level": _LEVELS[place.severity],
        "message": {"text": _sentences(place)},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": _uri(place.path)},
                    "region": {
                        "startLine": start.line,
                        "startColumn": start.column,
                        "endLine": end.line,
                        "endColumn": end.column,
                    },
                }
            }
        ],
        "partialFingerprints": {"mcpMigrate/v1": place.fingerprint},
        "properties": {"applicability": place.applicability.word},
    }


def _sentences(place: Place) -> str:
    said = f"{place.message}; {place.hint}" if place.hint else place.message
    return f"{said[:1].upper()}{said[1:].rstrip('.')}. {place.remedy}"


def _uri(path: str) -> str:
    drive = path[1:3] == ":/"
    escaped = quote(path, safe="/:" if drive else "/", errors="surrogateescape")
    if path.startswith("/"):
        return f"file://{escaped}"
    return f"file:///{escaped}" if drive else escaped
