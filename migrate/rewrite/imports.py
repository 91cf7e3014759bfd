"""Adds and removes imports as small edits: where the file would have them, never twice, never behind a type checker's guard."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from ..source import Span
from . import cut
from .edits import Edit
from .imported import GUARDED, PLAIN, TYPING, Alias, Found, dotted, imported
from .imported import local as local_name
from .lines import line_start, next_line
from .tree import Tree


def add(tree: Tree, needs: Iterable[tuple[str, str]], *, local: Collection[str] = ()) -> Iterator[Edit]:
    """The edits that make every need importable by its own name; nothing for what already is.

    A need is a module and a name; without a name it is `import module`. `local` are top-level modules of the project itself.
    """
    imports = imported(tree)
    missing: dict[str, list[str]] = {}
    for module, name in sorted(set(needs)):
        if not any(found.provides(module, name) for found in imports if found.guard != TYPING):
            missing.setdefault(module, []).append(name)
    new: list[tuple[str, str]] = []
    for module, names in missing.items():
        if "" in names:
            new.append((module, f"import {module}"))
        if members := [name for name in names if name]:
            home = next((found for guard in (PLAIN, GUARDED) for found in imports if found.guard == guard and found.takes(module)), None)
            if home is not None:
                yield from _merged(tree, home, members)
            else:
                new.append((module, f"from {module} import {', '.join(members)}"))
    yield from _statements(tree, imports, new, local)


def remove(tree: Tree, names: Collection[tuple[str, str]]) -> Iterator[Edit]:
    """Deletes imports of these names, each given with the dotted name of its scope.

    Of names that stand side by side some may be left for another call.
    """
    whole: list[cst.Import | cst.ImportFrom] = []
    for node in tree.walk(tree.module):
        if not isinstance(node, cst.Import | cst.ImportFrom) or isinstance(node.names, cst.ImportStar):
            continue
        if any(isinstance(above, cst.Try | cst.TryStar) for above in tree.ancestors(node)):
            continue  # the handler binds the name as well
        scope = _scope(tree, node)
        gone = [alias for alias in node.names if (scope, local_name(alias)) in names]
        if len(gone) == len(node.names):
            whole.append(node)
            continue
        end = 0
        for alias in gone:
            for edit in cut.item(tree, node.names, node.names.index(alias)):
                if edit.span.start >= end:
                    yield edit
                    end = edit.span.end
    yield from cut.statements(tree, whole)


def _merged(tree: Tree, home: Found, names: Sequence[str]) -> Iterator[Edit]:
    """Adds names to an import of the same module, in its order if it has one."""
    assert home.names is not None
    there = [alias.spelled for alias in home.names]
    order = next((key for key in (_as_isort, _by_bytes, _by_letters) if there == sorted(there, key=key)), None)
    last: list[str] = []
    for name in names:
        after = next((alias for alias in home.names if order and order(alias.spelled) > order(name)), None)
        if after is not None:
            yield _before(tree, after, name)
        else:
            last.append(name)
    if last:
        yield from _behind(tree, home, home.names[-1], last)


def _before(tree: Tree, alias: Alias, name: str) -> Edit:
    start = alias.span.start
    indent = _indent_if_first(tree, start)
    return Edit(Span(start, start), f"{name}, " if indent is None else f"{name},{tree.source.newline}{indent}")


def _behind(tree: Tree, home: Found, alias: Alias, names: Sequence[str]) -> Iterator[Edit]:
    span, newline = alias.span, tree.source.newline
    indent = _indent_if_first(tree, span.start)
    line_end = next_line(tree.source, span.end)
    if indent is None or not home.closed or home.span.end <= line_end:
        yield Edit(Span(span.end, span.end), "".join(f", {name}" for name in names))
        return
    # The comment behind the last name stays behind it.
    if not alias.comma:
        yield Edit(Span(span.end, span.end), ",")
    lines = f",{newline}".join(f"{indent}{name}" for name in names)
    yield Edit(Span(line_end, line_end), f"{lines}{',' if alias.comma else ''}{newline}")


def _indent_if_first(tree: Tree, offset: int) -> str | None:
    """What stands before the first thing of a line; None for anything but the first."""
    before = tree.source.utf8[line_start(tree.source, offset) : offset].decode("utf-8")
    return before if not before.strip() else None


def _statements(tree: Tree, imports: Sequence[Found], new: Sequence[tuple[str, str]], local: Collection[str]) -> Iterator[Edit]:
    """New import statements, each given with its module, among the plain ones at the top of the file."""
    newline = tree.source.newline
    top = [
        (found, _key("from" if found.is_from else "import", found.module, local))
        for found in imports
        if found.guard == PLAIN and found.head
    ]
    opened: set[tuple[int, int]] = set()  # the sections that new ones have begun
    leading: list[tuple[tuple[int, bool, str], str]] = []
    others: list[Edit] = []
    for module, text in new:
        key = _key(text, module, local)
        before = [found for found, other in top if other <= key]
        section = [found for found, other in top if other[0] == key[0]]
        same = [found for found, other in top if other[0] == key[0] and other <= key]
        if section and not same:
            start = line_start(tree.source, section[0].line.start)
            others.append(Edit(Span(start, start), text + newline))
        elif before:
            end = (same or before)[-1].line.end
            opening = "" if tree.source.utf8[:end].endswith((b"\n", b"\r")) else newline
            gap = "" if same or (end, key[0]) in opened else newline
            opened.add((end, key[0]))
            others.append(Edit(Span(end, end), opening + gap + text + newline))
        else:
            leading.append((key, text))
    if leading:
        sections: dict[int, list[str]] = {}
        for key, text in sorted(leading):
            sections.setdefault(key[0], []).append(text)
        block = (newline * 2).join(newline.join(texts) for texts in sections.values())
        if top:
            start = line_start(tree.source, top[0][0].line.start)
            yield Edit(Span(start, start), block + newline + newline)
        else:
            yield _first(tree, block)
    yield from others  # some may belong directly below those


def _first(tree: Tree, text: str) -> Edit:
    """The first imports of a file: behind its docstring, before everything else."""
    newline, body = tree.source.newline, tree.module.body
    if not body:
        end = len(tree.source.utf8)
        opening = newline if end and not tree.source.utf8.endswith((b"\n", b"\r")) else ""
        return Edit(Span(end, end), opening + text + newline)
    first = body[0]
    if not _is_docstring(first):
        start = line_start(tree.source, tree.whole(first).start)
        gap = newline * (2 if isinstance(first, cst.FunctionDef | cst.ClassDef) else 1)
        return Edit(Span(start, start), text + newline + gap)
    end = tree.whole(first).end
    opening = "" if tree.source.utf8[:end].endswith((b"\n", b"\r")) else newline
    rest = tree.source.utf8[end:]
    closing = newline if rest and not rest.startswith((b"\n", b"\r")) else ""
    return Edit(Span(end, end), opening + newline + text + newline + closing)


def _key(text: str, module: str, local: Collection[str]) -> tuple[int, bool, str]:
    """isort's order: section, plain imports first, name."""
    root = module.partition(".")[0]
    if module == "__future__":
        section = 0
    elif not root:
        section = 4
    elif root in local:
        section = 3
    else:
        section = 1 if root in sys.stdlib_module_names else 2
    return section, text.startswith("from"), module.casefold()


def _as_isort(name: str) -> tuple[int, str]:
    """CONSTANTS, then Classes, then functions."""
    plain = name.partition(" ")[0]
    return (0 if plain.isupper() and len(plain) > 1 else 1 if plain[:1].isupper() else 2), name


def _by_bytes(name: str) -> tuple[int, str]:
    return 0, name


def _by_letters(name: str) -> tuple[int, str]:
    return 0, name.casefold()


def _scope(tree: Tree, node: cst.CSTNode) -> str:
    names = [above.name.value for above in tree.ancestors(node) if isinstance(above, cst.FunctionDef | cst.ClassDef)]
    return ".".join(reversed(names))


def _is_docstring(statement: cst.CSTNode) -> bool:
    match statement:
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.SimpleString() | cst.ConcatenatedString())]):
            return True
    return False


# -- names that the releases of the SDK have in different places -----------------
def guard(tree: Tree, needs: Iterable[tuple[tuple[str, str], tuple[str, str], str]]) -> Iterator[Edit]:
    """One block at the top of the file that imports each name from where the newer release has it, or else the older one.

    A need is a module and a name, those of the older release, and the name that the file uses. Nothing for a name that the file
    imports so already.
    """
    wanted = sorted({*needs})
    blocks = [found for statement in tree.module.body if (found := _Block.of(statement)) is not None]
    given = {local for block in blocks for *_, local in block.names}
    missing = [need for need in wanted if need[2] not in given]
    if not missing:
        return
    newline = tree.source.newline
    # A name is there before it is used, so the block may have to stand above another one.
    first = _first_use(tree, {local for *_, local in missing})
    held = next((block for block in reversed(blocks) if tree.span(block.node).end <= first), None)
    if held is not None:
        span = tree.span(held.node)
        yield Edit(Span(span.start, span.end), written([*held.names, *missing], newline, tree.module.default_indent).removesuffix(newline))
        return
    text = written(missing, newline, tree.module.default_indent)
    run = _last_run(tree, first)
    if run is None:
        yield from _opening(tree, text)
        return
    end = tree.whole(run).end
    opening = "" if tree.source.utf8[:end].endswith((b"\n", b"\r")) else newline
    rest = tree.source.utf8[end:]
    closing = newline if rest and not rest.startswith((b"\n", b"\r")) else ""
    yield Edit(Span(end, end), opening + newline + text + closing)


def written(needs: Iterable[tuple[tuple[str, str], tuple[str, str], str]], newline: str, step: str, indent: str = "") -> str:
    """A guard that imports these names, the newer release first, with its lines as isort has them; `step` is one level of indentation."""
    needs = list(needs)
    newer = _lines(sorted({(*new, local) for new, _, local in needs}))
    older = _lines(sorted({(*old, local) for _, old, local in needs}))
    release = "fastmcp 3" if all(old[0].partition(".")[0] == "fastmcp" for _, old, _ in needs) else "mcp 1"
    lines = ["try:", *(f"{step}{line}" for line in newer), f"except ImportError:  # {release}", *(f"{step}{line}" for line in older)]
    return "".join(f"{indent}{line}{newline}" for line in lines)


def _lines(names: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    plain: dict[str, list[str]] = {}
    renamed: dict[str, list[str]] = {}
    for module, name, local in names:
        if not name:
            renamed.setdefault("", []).append(f"import {module}" if local == module else f"import {module} as {local}")
        elif name == local:
            plain.setdefault(module, []).append(name)
        else:
            renamed.setdefault(module, []).append(f"{name} as {local}")
    yield from sorted(renamed.pop("", []))
    for module in sorted({*plain, *renamed}, key=str.casefold):
        groups = [", ".join(sorted(plain[module], key=_as_isort))] if module in plain else []
        groups += sorted(renamed.get(module, []), key=lambda text: _as_isort(text.partition(" ")[0]))
        for group in sorted(groups, key=lambda text: _as_isort(text.partition(",")[0].partition(" ")[0])):
            yield f"from {module} import {group}"


@dataclass(frozen=True, slots=True)
class _Block:
    """A guard as `written` writes it, and what it gives."""

    node: cst.Try
    names: tuple[tuple[tuple[str, str], tuple[str, str], str], ...]

    @classmethod
    def of(cls, statement: cst.CSTNode) -> _Block | None:
        match statement:
            case cst.Try(body=cst.IndentedBlock(body=newer), handlers=[cst.ExceptHandler(body=cst.IndentedBlock(body=older))]):
                new, old = _given(newer), _given(older)
                if new is None or old is None or new.keys() != old.keys() or statement.orelse or statement.finalbody:
                    return None
                return cls(statement, tuple((new[local], old[local], local) for local in new))
        return None


def _given(body: Sequence[cst.BaseStatement]) -> dict[str, tuple[str, str]] | None:
    """What plain imports give, by the names that they bind; None where something else stands there."""
    found: dict[str, tuple[str, str]] = {}
    for statement in body:
        if (
            not isinstance(statement, cst.SimpleStatementLine)
            or statement.leading_lines
            or statement.trailing_whitespace.comment is not None
        ):
            return None
        for small in statement.body:
            if isinstance(small, cst.Import):
                found.update({local_name(alias): (dotted(alias.name), "") for alias in small.names})
            elif isinstance(small, cst.ImportFrom) and small.module is not None and not small.relative:
                if isinstance(small.names, cst.ImportStar):
                    return None
                found.update({local_name(alias): (dotted(small.module), dotted(alias.name)) for alias in small.names})
            else:
                return None
    return found


def _first_use(tree: Tree, names: Collection[str]) -> int:
    """Where the first statement of the module begins that uses one of these names."""
    for statement in tree.module.body:
        if any(isinstance(node, cst.Name) and node.value in names for node in tree.walk(statement)):
            return tree.span(statement).start
    return len(tree.source.utf8)


def _last_run(tree: Tree, before: int) -> cst.CSTNode | None:
    """The last import of the module above an offset, with others beside it."""
    last: cst.CSTNode | None = None
    for statement in tree.module.body:
        if tree.span(statement).start >= before:
            break
        if _is_importing(statement):
            last = statement
    return last


def _is_importing(statement: cst.CSTNode) -> bool:
    match statement:
        case cst.SimpleStatementLine(body=body):
            return all(isinstance(small, cst.Import | cst.ImportFrom) for small in body)
        case cst.Try(body=cst.IndentedBlock(body=body)):
            return all(_is_importing(inner) for inner in body)
        case cst.If(test=test, body=cst.IndentedBlock(body=body)):
            return isinstance(test, cst.Name | cst.Attribute) and all(_is_importing(inner) for inner in body)
    return False


def _opening(tree: Tree, text: str) -> Iterator[Edit]:
    yield _first(tree, text.removesuffix(tree.source.newline))
