"""What a -32002 stands for, by the words around it."""

from __future__ import annotations

import pytest
from mcp_migrate.facts.model import CodeUse, ErrorCode
from mcp_migrate.rules.meaning import Meaning, meaning, spoken
from mcp_migrate.source import Source, Span

RESOURCE, GATE, OTHER, UNCLEAR = Meaning.RESOURCE, Meaning.GATE, Meaning.OTHER, Meaning.UNCLEAR


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Resource not found", RESOURCE),
        ("Resource not found: {uri}", RESOURCE),
        ("No such resource", RESOURCE),
        ("unknown resource URI", RESOURCE),
        ("URI does not exist", RESOURCE),
        ("resource busy, try again", OTHER),
        ("Server not initialized", GATE),
        ("Client must send initialize first", GATE),
        ("handshake incomplete", GATE),
        ("Session not found", OTHER),
        ("Tool not found: x", OTHER),
        ("Tool execution failed", OTHER),
        ("busy", OTHER),
        ("not found", UNCLEAR),
        ("", UNCLEAR),
    ],
)
def test_the_message_tells(text: str, expected: Meaning) -> None:
    assert meaning(code(text=text), SOURCE) is expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("RESOURCE_NOT_FOUND", RESOURCE),
        ("ErrorCodes.ResourceNotFound", RESOURCE),
        ("SERVER_NOT_INITIALIZED", GATE),
        ("SESSION_NOT_FOUND", OTHER),
        ("NOT_FOUND", UNCLEAR),
    ],
)
def test_the_name_of_a_constant_tells(name: str, expected: Meaning) -> None:
    assert meaning(ErrorCode(Span(0, 6), "-32002", use=CodeUse.CONSTANT, text=name, name=name), SOURCE) is expected


def test_the_method_around_tells_when_no_word_does() -> None:
    assert meaning(code(text="handle", scope="Server.handle", method="resources/read"), SOURCE) is RESOURCE
    assert meaning(code(text="File not found", method="resources/read"), SOURCE) is RESOURCE
    assert meaning(code(text="no such key", method="resources/read"), SOURCE) is RESOURCE
    assert meaning(code(text="Session not found", method="resources/read"), SOURCE) is OTHER


def test_the_name_of_the_function_alone_does_not_make_another_meaning() -> None:
    assert meaning(code(text="client", scope="client"), SOURCE) is UNCLEAR
    assert meaning(code(text="resource_not_found", scope="resource_not_found"), SOURCE) is RESOURCE


def test_the_name_by_which_the_code_is_sent_counts() -> None:
    source = Source("app.py", "fault(codes.RESOURCE_NOT_FOUND, uri)")
    sent = ErrorCode(Span(6, 30), "-32002")
    assert spoken(sent, source) == "codes resource not found"
    assert meaning(sent, source) is RESOURCE


SOURCE = Source("app.py", "-32002")


def code(*, text: str, scope: str = "f", method: str = "") -> ErrorCode:
    return ErrorCode(Span(0, 6), "-32002", scope, text=text, method=method)
