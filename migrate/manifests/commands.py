"""Commands that install distributions or run with them, in whatever file they stand: images, workflows, documents, settings of clients."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ..facts.model import Fact, Place, Remark, Requirement
from ..source import Span
from .entries import Where, requirement
from .offsets import Offsets

# What stands before the words that are requirements.
_INSTALLERS = re.compile(
    r"(?<![\w./-])(?P<command>(?:pip[0-9.]*|python[0-9.]* -m pip|uv pip)[ \t]+install|uv[ \t]+add|uv[ \t]+tool[ \t]+install|"
    r"poetry[ \t]+add|pdm[ \t]+add|pipx[ \t]+(?:install|inject|run)|pipenv[ \t]+install|rye[ \t]+add|uvx|uv[ \t]+tool[ \t]+run|uv[ \t]+run)"
    r"(?=[ \t\\])"
)
_RUNNERS = ("uvx", "uv run", "uv tool run", "pipx run")
# Options of an installer that take the next word away: a file, a folder, an address.
_TAKES = frozenset(
    {"-r", "-c", "-e", "-i", "-f", "-t", "--requirement", "--constraint", "--editable", "--index-url", "--extra-index-url", "--target"}
    | {"--python", "-p", "--group", "-G", "--extra", "--optional", "--index", "--directory", "--project", "--find-links", "--prefix"}
)
_WITH = frozenset({"--with", "--from", "--spec"})
_WORD = re.compile(r"""(?P<quote>["'])(?P<quoted>[^"'\n]*)(?P=quote)|(?P<bare>[^\s"'`;&|<>()]+(?:[<>=!~]=?[^\s"'`;&|()]*)*)""")
_GAP = re.compile(r"(?:[ \t]|\\\r?\n)+")
# The same options as arguments of a list, or of a record with a name and a value: `"--with", "mcp<2"`.
_ARGUMENT = re.compile(
    r"""(?P<quote>["'])--(?:with|from|spec)(?P=quote)\s*,\s*(?:["']?value["']?\s*:\s*)?(?P<open>["'])(?P<text>[^"'\n]+)(?P=open)"""
)
# And as entries of a YAML list, one a line.
_ENTRY = re.compile(
    r"""(?m)^(?P<indent>[ ]*-[ ]+)(?P<quote>["']?)--(?:with|from)(?P=quote)[ ]*\r?\n"""
    r"""(?P=indent)(?P<open>["']?)(?P<text>[^"'#\s]+)(?P=open)"""
)
_JOINED = re.compile(r"""(?P<open>["'])--(?:with|from|spec)=(?P<text>[^"'\n]+)(?P=open)""")
_LISTED = re.compile(
    r"""(?P<open>["'])pip[0-9.]*(?P=open)\s*,\s*(?P=open)install(?P=open)(?P<rest>(?:\s*,\s*(?P=open)[^"'\n]*(?P=open))*)"""
)
# The environment that `fastmcp run` makes for a server.
_ASKED = re.compile(r"""(?P<open>")dependencies"\s*:\s*\[(?P<rest>(?:[^\[\]"]|"[^"\n]*")*)\]""")
_STRING = re.compile(r"""(?P<open>["'])(?P<text>[^"'\n]*)(?P=open)""")
_CLI = re.compile(r"(?<![\w./=\"'\[-])(?:uv run |uvx --from \S+ |uv run --with \S+ )?mcp (?P<word>dev|install|run)\b(?=[ \t]+[\w./$<{])")
_FASTMCP = re.compile(r"(?<![\w./=\"'\[-])fastmcp (?P<word>dev|tasks)\b(?=[ \t]+(?!inspector\b|apps\b)[\w./$<{])(?!.*\b(?:is|are|was)\b)")
_VARIABLE = re.compile(r"(?<![A-Za-z0-9_])FASTMCP_[A-Z][A-Z_]*")


def read(text: str, name: str) -> Iterator[Fact]:
    """Every requirement that a command or an argument names, and the other things that the SDK's own command and settings are."""
    offset = Offsets(text)
    yield from _commands(text, offset, name)
    for pattern in (_ARGUMENT, _ENTRY, _JOINED):
        for found in pattern.finditer(text):
            yield from _one(found["text"], offset(found.start("text")), Where(Place.COMMAND, "--with"))
    listed = [*_LISTED.finditer(text), *(_ASKED.finditer(text) if name.endswith("fastmcp.json") else ())]
    for found in listed:
        for word in _STRING.finditer(found["rest"]):
            start = found.start("rest") + word.start("text")
            yield from _one(word["text"], offset(start), Where(Place.COMMAND, "pip install"))
    for found in _CLI.finditer(text):
        yield Remark(Span(offset(found.start()), offset(found.end())), "command", text=f"mcp {found['word']}")
    for found in _FASTMCP.finditer(text):
        yield Remark(Span(offset(found.start()), offset(found.end())), "fastmcp command", text=f"fastmcp {found['word']}")
    yield from variables(text)


def variables(text: str) -> Iterator[Remark]:
    """The settings that mcp 1 read from the environment."""
    offset = Offsets(text)
    for found in _VARIABLE.finditer(text):
        yield Remark(Span(offset(found.start()), offset(found.end())), "variable", text=found[0])


def _commands(text: str, offset: Offsets, name: str) -> Iterator[Requirement]:
    walked = 0
    for command in _INSTALLERS.finditer(text):
        if command.start() < walked:  # a word of the command before, whose words have all been looked at
            continue
        words = " ".join(command["command"].split())
        runs = words in _RUNNERS
        taken = wanted = False
        for word in _words(text, command.end()):
            walked = walked if runs else word.end()
            spelled = word["quoted"] if word["quoted"] is not None else word["bare"]
            if taken or spelled.startswith("-"):
                # A runner's options may each name one more; an installer's take a file or an address.
                wanted = spelled in _WITH
                option, equals, value = spelled.partition("=")
                if equals and option in _WITH:
                    start = word.start("quoted" if word["quoted"] is not None else "bare") + len(option) + 1
                    yield from _one(value, offset(start), Where(Place.COMMAND, words, quote=_quote(text, word, command.start())))
                taken = not taken and spelled in _TAKES
                continue
            if runs and not wanted:
                break  # what runs, and its own arguments
            part = "quoted" if word["quoted"] is not None else "bare"
            at = word.start(part)
            where = Where(Place.COMMAND, words, quote="" if part == "quoted" else _quote(text, word, command.start()))
            for piece in spelled.split(",") if wanted and part == "bare" and re.fullmatch(r"[\w.,-]+", spelled) else [spelled]:
                yield from _one(piece, offset(at), where)
                at += len(piece) + 1
            wanted = False


def _words(text: str, at: int) -> Iterator[re.Match[str]]:
    """The words of a command up to its end."""
    while gap := _GAP.match(text, at):
        word = _WORD.match(text, gap.end())
        if word is None or word[0].startswith("#"):
            return
        yield word
        at = word.end()
        if text[at : at + 1] in ("<", ">"):
            return


def _quote(text: str, word: re.Match[str], command: int) -> str:
    """What a bare word needs around it when it holds `<`: the quote that nothing around the command uses."""
    line = text.rfind("\n", 0, command) + 1
    return "'" if text.count('"', line, command) % 2 else '"'


def _one(text: str, start: int, where: Where) -> Iterator[Requirement]:
    found = requirement(text, start, where)
    if found is not None and not found.fixed:
        quoted = found.quote
        if quoted and re.search(r"[<>]", text):
            return  # unquoted, a shell takes this for the name of a file
        yield replace(found, quote=quoted)
