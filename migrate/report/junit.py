"""The report as JUnit XML, for servers that show test results: a suite for each file, a case for each finding."""

from __future__ import annotations

from itertools import groupby
from xml.etree import ElementTree as xml

from ..rule import Severity
from .model import Place, Report, visible

_WIDEST = 1000


def render(report: Report) -> str:
    """The findings that make a run fail as failures, the others as skipped; a file of MCP code without any passes.

    In ASCII, so any encoding can carry it.
    """
    by_path = {path: list(places) for path, places in groupby(report.places, key=lambda place: place.path)}
    top = xml.Element("testsuites", name="mcp-migrate")
    for path in sorted({*by_path, *(seen.path for seen in report.seen)}):
        suite = xml.SubElement(top, "testsuite", name=visible(path), file=visible(path))
        for place in by_path.get(path, ()):
            _add(suite, place, report.least.get(path))
        if path not in by_path:
            xml.SubElement(suite, "testcase", name="speaks 2026-07-28", classname=visible(path))
        _count(suite)
    _count(top)
    xml.indent(top)
    text: bytes = xml.tostring(top, encoding="us-ascii")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text.decode()}\n'


def _add(suite: xml.Element, place: Place, fail_on: Severity | None) -> None:
    path = visible(place.path)
    name = f"{place.rule} {place.name} ({place.spot.removeprefix(f'{place.path}:')})"
    case = xml.SubElement(suite, "testcase", name=name, classname=path)
    message = visible(f"{place.message}; {place.hint}" if place.hint else place.message)
    if fail_on is None or place.severity < fail_on:
        xml.SubElement(case, "skipped", message=message)
        return
    failure = xml.SubElement(case, "failure", type=place.severity.word, message=message)
    first = max(0, place.column - _WIDEST // 2)  # of a longer line, what is around the finding
    code = "".join(f"\n  {visible(line if len(line) <= _WIDEST else line[first : first + _WIDEST])}" for line in place.lines)
    failure.text = f"{visible(place.spot)}{code}\n{place.remedy}"


def _count(element: xml.Element) -> None:
    kinds = {"tests": "testcase", "failures": "failure", "skipped": "skipped"}
    for name, tag in kinds.items():
        if element.tag == "testsuite" or name != "skipped":
            element.set(name, str(sum(1 for _ in element.iter(tag))))
    element.set("errors", "0")
