"""One line a finding: `path:line:column: MCP103 [safe] message`."""

from __future__ import annotations

from .model import Place, Report, visible


def render(report: Report) -> str:
    """The findings, one a line."""
    return "".join(f"{_line(place)}\n" for place in report.places)


def _line(place: Place) -> str:
    applicability = place.applicability.word
    return visible(f"{place.spot}: {place.rule} [{applicability}] {place.message}")
