"""Workflow commands of GitHub Actions, which show a finding beside its line in a pull request."""

from __future__ import annotations

from ..rule import Severity
from .model import Place, Report, visible

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(report: Report) -> str:
    """One command a finding."""
    return "".join(f"{_command(place)}\n" for place in report.places)


def _command(place: Place) -> str:
    start, end = place.in_file
    properties = {
        "file": place.path,
        "line": str(start.line),
        "endLine": str(end.line),
        "title": f"{place.rule} {place.name}",
    }
    # Columns make sense to GitHub only inside of one line.
    if start.line == end.line:
        properties |= {"col": str(start.column), "endColumn": str(end.column)}
    fields = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    text = f"{place.message}; {place.hint}" if place.hint else place.message
    return f"::{_COMMANDS[place.severity]} {fields}::{_data(text)}"


def _data(text: str) -> str:
    text = "\n".join(visible(line) for line in text.splitlines())
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
