"""What fastmcp 4 answers otherwise by itself, also with code that it takes as it is: `tests/test_fastmcp_benchmark.py` proves each kind.

Every kind is read from the difference alone, so that nothing else passes for it: what a list says more of a tool has to be
made from its name or its docstring, and a code has to go where the specification puts it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

_WORDS = re.compile(r"list of tools\.result\.tools\[([^]]+)\]\.title: nothing -> (\".*\")")
_CUT = re.compile(
    r"(list of (?:tools|prompts)\.result\.(?:tools|prompts)\[[^]]+\]|\[\"prompt\", .*\]: result)\.description: (.*)", re.DOTALL
)
_PARAMETER = re.compile(
    r"(list of (?:tools|prompts)\.result\.(?:tools|prompts)\[(?P<name>[^]]+)\])"
    r"\.(?:inputSchema\.properties\.[\w-]+|arguments\[[^]]+\])\.description: nothing -> \"(?P<text>.*)\"",
    re.DOTALL,
)
_TEXT = re.compile(r"\[\"(?:read|call)\", .*\]: result\.contents?\[\d+\]\.text: (.*)", re.DOTALL)
_TOOLS = re.compile(
    r"list of tools\.result\.tools\[[^]]+\]\.(?:"
    r"inputSchema\.additionalProperties: nothing -> false|"
    r"inputSchema\.properties\.[^:]*\.title: \".*\" -> nothing|"
    r'outputSchema\.description: "Generic wrapper for non-object return types\." -> nothing|'
    # What an API description gives as an example, and what its results are wrapped in when nobody checks them.
    r"inputSchema\.properties\.[^:]*\.example: nothing -> .*|"
    r"outputSchema\.properties: nothing -> \{\"result\": \{\}\}|"
    # The wrapper of a result has no names since 2.12.
    r'outputSchema\.(?:title: "_WrappedResult"|properties\.result\.title: "Result") -> nothing|'
    # Before 2.10 no result had a structure.
    r"outputSchema: nothing -> \{.*\}|"
    # What the specification has no annotation of.
    r"annotations\.(?!(?:title|readOnlyHint|destructiveHint|idempotentHint|openWorldHint):)\w+: .* -> nothing)",
    re.DOTALL,
)
# Annotations of tools are none of resources, which had them in 2.x.
_ANNOTATED = re.compile(
    r"list of (?:resources|templates)\.result\.(?:resources|resourceTemplates)\[[^]]+\]"
    r"\.annotations\.(?:readOnlyHint|idempotentHint): true -> nothing"
)
_STRUCTURED = re.compile(r"\[\"call\", .*\]: result\.structuredContent: nothing -> \{.*\}", re.DOTALL)
# Releases before 2.12 leave the check of arguments to the SDK.
_CHECKED = re.compile(
    r"\[\"call\", .*\]: result\.content\[0\]\.text: \"Input validation error: .*\" -> \"\d+ validation errors? for call\[.*", re.DOTALL
)
_ARGUMENT = re.compile(
    r"list of prompts\.result\.prompts\[[^]]+\]\.arguments\[[^]]+\]\.description: "
    r'".*Provide as a JSON string matching the following schema: .*-> ".*Provide a value matching the following JSON schema: .*',
    re.DOTALL,
)
# An error of the protocol, and what its code, message and data become.
_ERROR = re.compile(r"(\[\"(read|prompt|call)\", .*\]): error\.(code|message|data): (.*)", re.DOTALL)
_CODES = {"read": {"0 -> -32602", "0 -> -32603", "-32002 -> -32602"}, "prompt": {"0 -> -32602", "0 -> -32603"}, "call": set[str]()}
_MESSAGES = (
    r"\"(?:Resource not found: )?Unknown resource: '?(?P<uri>[^']*)'?\" -> \"Resource not found: '(?P=uri)'\"",
    r"\"Error reading resource (?:from template )?(?:AnyUrl\()?(?P<name>'[^']*')\)?: (?P<why>.*)\""
    r" -> \"Error reading resource (?P=name): (?P=why)\"",
    r"\"Unknown prompt: (?P<name>[^']*)\" -> \"Unknown prompt: '(?P=name)'\"",
    r"\"Error rendering prompt '[^']*': (?P<why>.*)\" -> \"(?P=why)\"",
    r"\"(?:Error rendering prompt '[^']*': )?Could not convert argument (?P<which>'[^']*') with .*\""
    r" -> \"Could not convert argument (?P=which) with .*\"",
    # The older one says nothing of why.
    r"\"Error rendering prompt [^ :]*\.\" -> \".*\"",
)
_UNKNOWN = re.compile(r"\[\"call\", .*\]: result\.content\[0\]\.text: \"Unknown tool: (?P<name>[^']*)\" -> \"Unknown tool: '(?P=name)'\"")
# A result that is not what its schema says: the server told it before, and now the client does.
_UNCHECKED = re.compile(r"(\[\"call\", .*\]): result: \{.*\"Output validation error: .*\} -> nothing", re.DOTALL)
_REFUSED = re.compile(r"(\[\"call\", .*\]): raised: nothing -> \"RuntimeError: Invalid structured content returned by tool .*\"", re.DOTALL)
# A result of the wrong kind is told as it is printed, and an object of the SDK is printed with its newer names.
_PRINTED = re.compile(
    r"\[\"call\", .*\]: result\.content\[0\]\.text: \"(?P<begins>Error calling tool '[^']*': structured_content must be a dict "
    r"or None\. Got list: \[\{).*(?P<ends> based on their output_schema\.)\" -> \"(?P=begins).*(?P=ends)\"",
    re.DOTALL,
)
# A prompt got the `Field(...)` that stands for a default, and prints it.
_FIELD = re.compile(
    r"\[\"prompt\", .*\]: result\.messages\[\d+\]\.content\.text: "
    r"\"(?P<begins>.*)annotation=\w+ required=False default='(?P<default>[^']*)'(?: \w+='[^']*')*(?P<ends>.*)\""
    r" -> \"(?P=begins)(?P=default)(?P=ends)\"",
    re.DOTALL,
)
# Where an API could not be asked, the kind of failure is not told any more.
_REQUEST = re.compile(
    r"\[\"call\", .*\]: result\.content\[0\]\.text: "
    r"\"(?P<tool>Error calling tool '[^']*': )Request error \(\w+\): (?P<why>.*)\" -> \"(?P=tool)(?P=why)\"",
    re.DOTALL,
)


def own(differs: Sequence[str], documented: Callable[[str], str] = lambda name: "") -> Iterator[str]:
    """Those of the differences that fastmcp 4 makes by itself.

    `documented` is asked for the docstrings of the functions that answer by a name: what they say of parameters is told also where the
    description is given apart from them, and is not cut.
    """
    cut = {found[1] for found in map(_CUT.fullmatch, differs) if found and _is_cut(found[2])}
    coded = {found[1] for found in map(_ERROR.fullmatch, differs) if found and found[3] == "code" and found[4] in _CODES[found[2]]}
    unchecked = {found[1] for found in map(_UNCHECKED.fullmatch, differs) if found}
    unchecked &= {found[1] for found in map(_REFUSED.fullmatch, differs) if found}
    for difference in differs:
        if (
            _is_titled(difference)
            or _TOOLS.fullmatch(difference)
            or _ANNOTATED.fullmatch(difference)
            or _STRUCTURED.fullmatch(difference)
            or _CHECKED.fullmatch(difference)
            or _ARGUMENT.fullmatch(difference)
            or _UNKNOWN.fullmatch(difference)
            or _REQUEST.fullmatch(difference)
            or _PRINTED.fullmatch(difference)
            or _FIELD.fullmatch(difference)
            or ((found := _UNCHECKED.fullmatch(difference) or _REFUSED.fullmatch(difference)) and found[1] in unchecked)
            or ((found := _CUT.fullmatch(difference)) and found[1] in cut)
            or ((found := _PARAMETER.fullmatch(difference)) and (found[1] in cut or _is_of(documented(found["name"]), found["text"])))
            or ((found := _TEXT.fullmatch(difference)) and _is_same_json(found[1]))
            or ((found := _ERROR.fullmatch(difference)) and _is_told_better(found, coded))
        ):
            yield difference


def inlined(value: Any, defined: Mapping[str, Any] | None = None) -> Any:
    """Schemas without names for their parts, as fastmcp lists them since 3."""
    if isinstance(value, list):
        return [inlined(inner, defined) for inner in value]
    if not isinstance(value, dict):
        return value
    parts = value.get("$defs")
    if isinstance(parts, dict):
        defined = {**(defined or {}), **parts}
    name = str(value.get("$ref", "")).removeprefix("#/$defs/")
    if defined and name in defined:
        # A part that holds itself stays a name further in.
        rest = {key: part for key, part in defined.items() if key != name}
        return inlined({**defined[name], **{key: inner for key, inner in value.items() if key != "$ref"}}, rest)
    return {key: inlined(inner, defined) for key, inner in value.items() if key != "$defs"}


def _is_titled(difference: str) -> bool:
    """A title that is the name of the tool, in words."""
    found = _WORDS.fullmatch(difference)
    return found is not None and json.loads(found[2]) == found[1].replace("_", " ").replace("-", " ").title()


def _is_cut(change: str) -> bool:
    """A description that lost its end, for what a docstring says of parameters is told where they are."""
    before, _, after = change.partition(" -> ")
    # Of a long text only the beginning is sure.
    old, new = (text.removesuffix('"').partition(" ... ")[0] for text in (before, after))
    return len(new) > 1 and (old.startswith(new) or new.startswith(old))


def _is_of(docstring: str, told: str) -> bool:
    """Whether a docstring holds this text, of which a long one lacks the middle."""
    whole = _plain(json.dumps(docstring, ensure_ascii=False)[1:-1])
    parts = told.split(" ... ")
    # Where it was cut, half of what stands for the end of a line may be left.
    return bool(docstring) and all(_plain(part[1:-1] if len(parts) > 1 else part) in whole for part in parts)


def _plain(text: str) -> str:
    """A text as JSON without blanks and ends of lines."""
    return re.sub(r"\\n|\s|\\$", "", text)


def _is_same_json(change: str) -> bool:
    """A JSON text with other blanks, as far as it is all there."""
    before, _, after = change.partition(" -> ")
    try:
        one, two = (json.loads(json.loads(text)) for text in (before, after))
    except ValueError:
        return False
    return bool(one == two)


def _is_told_better(found: re.Match[str], coded: set[str]) -> bool:
    step, _, part, change = found.groups()
    match part:
        case "code":
            return step in coded
        case "data":
            return step in coded and re.fullmatch(r"nothing -> \{\"uri\": \".*\"\}", change) is not None
    return step in coded and any(re.fullmatch(message, change, re.DOTALL) for message in _MESSAGES)
