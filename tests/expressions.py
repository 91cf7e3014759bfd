"""Every regular expression of the product, as it is written there, and texts that one that backtracks takes long over."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

if sys.version_info >= (3, 11):
    import re._constants as sre  # type: ignore[import-not-found]
    import re._parser as parser  # type: ignore[import-not-found]
else:
    import sre_constants as sre
    import sre_parse as parser

ROOT = Path(__file__).resolve().parent.parent
# What is asked with a pattern, as methods of `re` and of patterns.
_ASKING = frozenset({"match", "fullmatch", "search", "finditer", "findall", "sub", "subn", "split"})
# Ways that look at each place of a text.
_ANYWHERE = "search"


class Expression(NamedTuple):
    """A pattern: where it stands, and whether it is asked at the start of a text only."""

    where: str
    pattern: re.Pattern[Any]
    way: str


def written() -> Iterator[Expression]:
    """The patterns of all modules: those that are compiled once, and those that are given with the question."""
    for room in ("migrate", "rules"):
        for path in sorted((ROOT / room).rglob("*.py")):
            if "runtime" not in path.parts and "fixtures" not in path.parts:
                yield from _of(path)


def _of(path: Path) -> Iterator[Expression]:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    nodes = [*ast.walk(tree)]
    constants = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    holders = {
        id(node.value): node.targets[0].id for node in nodes if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for node in nodes:
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=attr), args=[_, *_]) if attr in _ASKING or attr == "compile":
                pass
            case _:
                continue
        spelled = _spelled(node.args[0], constants)
        if spelled is None:
            continue
        flags = _flags([*node.args[1:], *(keyword.value for keyword in node.keywords)])
        ways = {attr}
        if attr == "compile":
            name = holders.get(id(node), "")
            ways = set(re.findall(rf"\b{name}\.({'|'.join(_ASKING)})\(", text)) if name else {_ANYWHERE}
        where = f"{path.relative_to(ROOT).as_posix()}:{node.lineno}"
        way = "match" if ways and ways <= {"match", "fullmatch"} else _ANYWHERE
        yield Expression(where, re.compile(spelled, flags), "fullmatch" if ways == {"fullmatch"} else way)


def _spelled(node: ast.expr, constants: dict[str, ast.expr]) -> Any:
    """The text of a pattern; what is put into it is stood in for by a word."""
    match node:
        case ast.Constant(value=str() | bytes() as value):
            return value
        case ast.JoinedStr(values=parts):
            texts = [
                _spelled(part.value, constants) if isinstance(part, ast.FormattedValue) else _spelled(part, constants) for part in parts
            ]
            return "".join(
                "3" if text is None and str(texts[at - 1]).endswith("{") else text if text is not None else "word"
                for at, text in enumerate(texts)
            )
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            one, two = _spelled(left, constants), _spelled(right, constants)
            return (
                (one if one is not None else type(two)()) + (two if two is not None else type(one)())
                if one is not None or two is not None
                else None
            )
        case ast.BinOp(left=left, op=ast.Mod()):
            one = _spelled(left, constants)
            return one.replace(b"%s", b"word") if isinstance(one, bytes) else one.replace("%s", "word") if one is not None else None
        case ast.Name(id=name) if name in constants:
            return _spelled(constants[name], constants)
        case ast.Call(func=ast.Attribute(attr="encode", value=inner)):
            spelled = _spelled(inner, constants)
            return spelled.encode() if isinstance(spelled, str) else None
        case ast.IfExp(body=body):
            return _spelled(body, constants)
    return None


def _flags(nodes: list[ast.expr]) -> int:
    found = 0
    for node in nodes:
        for name in re.findall(r"\bre\.([A-Z]+)\b", ast.unparse(node)):
            found |= getattr(re, name)
    return found


def worst(expression: Expression, size: int) -> Iterator[Any]:
    """Long texts made of what the pattern repeats, and of what it begins with, that do not match in the end."""
    tree = parser.parse(expression.pattern.pattern, expression.pattern.flags & ~re.DEBUG)
    items = [*tree]
    pieces = [_sample([item]) for item in items]
    units = {_sample(body) for body in _repeated(items)} | {piece for piece in pieces if piece}
    units |= {"".join(pieces[:end]) for end in range(1, len(pieces) + 1)} | {" ", "\n", "a", "#", '"', "(", "a "}
    heads = {"", *("".join(pieces[:end]) for end in range(1, len(pieces) + 1))}
    for unit in sorted(filter(None, units)):
        long = (unit * (size // len(unit) + 1))[:size]
        for head in sorted(heads) if len(heads) < 8 else ("", max(heads, key=len)):
            for tail in ("", "\0", "\n\0"):
                text = f"{head}{long}{tail}"
                yield text.encode("latin-1", "replace") if isinstance(expression.pattern.pattern, bytes) else text


def _repeated(items: Any) -> Iterator[Any]:
    for op, value in items:
        if op in (sre.MAX_REPEAT, sre.MIN_REPEAT) or op is getattr(sre, "POSSESSIVE_REPEAT", None):
            yield value[2]
            yield from _repeated(value[2])
        elif op is sre.SUBPATTERN:
            yield from _repeated(value[3])
        elif op is sre.BRANCH:
            for branch in value[1]:
                yield from _repeated(branch)
                yield branch


def _sample(items: Any) -> str:
    """A short text that these items match, as far as that is easily said."""
    text = ""
    for op, value in items:
        if op is sre.LITERAL:
            text += chr(value)
        elif op is sre.NOT_LITERAL:
            text += "b" if value != ord("b") else "c"
        elif op is sre.ANY:
            text += "a"
        elif op is sre.IN:
            text += _member(value)
        elif op is sre.BRANCH:
            text += _sample(value[1][0])
        elif op is sre.SUBPATTERN:
            text += _sample(value[3])
        elif op in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            text += _sample(value[2]) * min(max(value[0], 1), 4)
    return text


def _member(choices: Any) -> str:
    negated = choices and choices[0][0] is sre.NEGATE
    found = {chr(value) for op, value in choices if op is sre.LITERAL}
    found |= {chr(value[0]) for op, value in choices if op is sre.RANGE}
    found |= {
        {sre.CATEGORY_SPACE: " ", sre.CATEGORY_DIGIT: "1", sre.CATEGORY_WORD: "a"}.get(value, "!")
        for op, value in choices
        if op is sre.CATEGORY
    }
    if not negated:
        return min(found or {"a"})
    return next(char for char in "ab1 -.\"'(x,=" if char not in found)
