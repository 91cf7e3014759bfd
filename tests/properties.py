"""What holds for every program that `fix` is given, whatever it is: each function raises an AssertionError that says what does not."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache

from mcp_migrate import catalog, engine
from mcp_migrate.catalog import Catalog
from mcp_migrate.engine import Fixed
from mcp_migrate.manifests import files as manifests
from mcp_migrate.project import Project, read
from mcp_migrate.rule import Era
from mcp_migrate.source import Source, decode

Texts = Mapping[str, str]

# Nothing of it is protocol code, and no formatter has been here.
BYSTANDER = '''

def   unrelated( a,b = 2 ):   # its own layout
    """Nothing to see."""
    x = {  'k':a ,
        "l" : [ b,
    ] }
    return x ;


class Aside( object ) :

    y=1;z  =  "it's"
'''


@cache
def rules() -> Catalog:
    return catalog.load()


def link(texts: Texts) -> Project:
    sources = [Source(path, text) for path, text in texts.items()]
    beside = {source.path: manifests.read(source) for source in sources if manifests.kind_of(source.path) is not None}
    return Project.link((read(source) for source in sources if source.path not in beside), manifests=beside)


def fix(texts: Texts, era: Era = Era.DUAL, *, unsafe: bool = False) -> Fixed:
    return engine.fix(link(texts), rules(), era, unsafe=unsafe)


def written(texts: Texts, made: Fixed) -> dict[str, str]:
    """All files as they are after a fix."""
    return {**texts, **made.texts, **made.created}


def places(project: Project, findings: list) -> Counter[tuple[str, str, int, int]]:  # type: ignore[type-arg]
    return Counter((one.rule, one.path, *one.span) for one in findings if one.path in project.files)


def holds(texts: Texts, era: Era = Era.DUAL, *, unsafe: bool = False) -> dict[str, str]:
    """What is true of every fix; all files as they are afterwards."""
    made = fix(texts, era, unsafe=unsafe)
    after = written(texts, made)
    parses(after)
    names_nothing_new(texts, after)
    is_settled(texts, made, after, era)
    comes_to_rest(after, made, era, unsafe=unsafe)
    if era is Era.DUAL:
        keeps_comments(texts, after)
    return after


def parses(after: Texts) -> None:
    for path, text in after.items():
        if path.endswith(".py"):
            ast.parse(text)


def names_nothing_new(before: Texts, after: Texts) -> None:
    """No name is undefined that was not before: ruff says it, who knows nothing of this tool."""
    old, new = undefined(before), undefined(after)
    assert not (gone := new - old), f"undefined: {sorted(gone.elements())}"


def undefined(texts: Texts) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for path, text in texts.items():
        if path.endswith(".py"):
            argv = [
                sys.executable,
                "-m",
                "ruff",
                "check",
                "--isolated",
                "--quiet",
                "--select",
                "F821,F822,F823",
                "--output-format",
                "concise",
                "-",
            ]
            said = subprocess.run([*argv, "--stdin-filename", path], input=text, capture_output=True, text=True, encoding="utf-8").stdout
            found.update((path, name) for name in re.findall(r"F82\d .*?`(\w+)`", said))
    return found


def is_settled(before: Texts, made: Fixed, after: Texts, era: Era) -> None:
    """A later `check` finds nothing that `fix` has not told of."""
    project = link(after)
    found = places(project, engine.check(project, rules(), era))
    told = places(made.project, made.remaining)
    assert not (more := found - told), f"found after the fix, and not told: {sorted(more)}"


def comes_to_rest(after: Texts, made: Fixed, era: Era, *, unsafe: bool = False) -> None:
    again = fix(after, era, unsafe=unsafe)
    assert not again.texts, "a second run changes more"
    assert not again.created


def keeps_comments(before: Texts, after: Texts) -> None:
    for path, text in before.items():
        if path.endswith(".py"):
            lost = comments(text) - comments(after[path])
            assert not lost, f"lost: {sorted(lost.elements())}"


def comments(text: str) -> Counter[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return Counter(token.string for token in tokens if token.type == tokenize.COMMENT)


# The same program, written in another way


def crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def tabs(text: str) -> str:
    """Four spaces at the start of a line are a tab; strings over several lines are not touched."""
    inside = {
        row
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.STRING
        for row in range(token.start[0] + 1, token.end[0] + 1)
    }
    rows = text.split("\n")
    return "\n".join(row if at in inside else re.sub(r"^(?:    )+", _as_tabs, row) for at, row in enumerate(rows, 1))


def _as_tabs(found: re.Match[str]) -> str:
    return "\t" * (len(found[0]) // 4)


def with_bystander(text: str) -> str:
    return text + BYSTANDER


def same_under(variant: Callable[[str], str], text: str, era: Era = Era.DUAL) -> None:
    """The fix of a variant is the variant of the fix."""
    plain, other = fix({"server.py": text}, era), fix({"server.py": variant(text)}, era)
    now, expected = other.texts.get("server.py", variant(text)), variant(plain.texts.get("server.py", text))
    assert now == expected
    assert list(other.created) == list(plain.created)


def same_bytes_under_a_mark(text: str) -> None:
    """A byte order mark stays, and changes nothing else."""
    plain = fix({"server.py": text}).texts.get("server.py", text)
    source = decode("server.py", b"\xef\xbb\xbf" + text.encode())
    made = engine.fix(Project.link([read(source)]), rules())
    file = made.project.files["server.py"].source
    assert file.encode(file.text) == b"\xef\xbb\xbf" + plain.encode()


def found_rules(text: str, era: Era = Era.DUAL) -> Counter[str]:
    return Counter(one.rule for one in engine.check(link({"server.py": text}), rules(), era))
