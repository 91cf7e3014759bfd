"""Moves imported names: the import, every use of the name in the file, annotations in quotes. Never by the bare name alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..facts.texts import Texts
from ..rule import Import
from ..sdk.infer import Inference
from ..sdk.modules import How, Module
from ..source import Span
from . import cut
from .edits import Edit
from .lazy import cst
from .lines import below, indent_of, line_start, next_line
from .tree import Tree


class Move(NamedTuple):
    """One name of a `from` import, and where it is to come from."""

    alias: ast.alias
    module: str
    name: str


def moved(
    statement: ast.ImportFrom,
    moves: Sequence[Move],
    tree: Tree,
    module: Module,
    inference: Inference,
    texts: Texts,
    *,
    also: Collection[ast.alias] = (),
    anew: bool = False,
) -> Iterator[Edit | Import]:
    """Everything that moving these names of one statement takes; `texts` tell which files import them from here.

    `also` are names that go as well, for something else gives them; `anew` is for modules of the project, which stand elsewhere than
    those of the SDK.
    """
    locals_ = {move.alias: _local(move, module, inference, texts) for move in moves}
    for move in moves:
        old = move.alias.asname or move.alias.name
        if locals_[move.alias] != old:
            yield from (Edit(span, locals_[move.alias]) for span in uses(old, [move.alias], module, inference))
    # What the file imports by its new name already is not imported once more.
    doubled = [move.alias for move in moves if locals_[move.alias] == move.name and _is_there(move, module, inference)]
    also, moves = [*also, *doubled], [move for move in moves if move.alias not in doubled]
    gone = {move.alias for move in moves if move.module != statement.module}
    homes = {move.module for move in moves if move.alias in gone}
    if gone and len(gone) == len(statement.names) and len(homes) == 1 and not also and not (anew and _is_plain(statement, module)):
        yield Edit(_module_span(statement, module), homes.pop())
        gone = set()
    for move in moves:
        if move.alias not in gone:
            yield from _respelled(move, locals_[move.alias], module)
    if gone or also:
        leaving = [alias for alias in statement.names if alias in gone or alias in also]
        whole = len(leaving) == len(statement.names)
        remarks = {alias: found for alias in leaving if (found := _remarks(alias, statement, module, whole=whole))}
        lost = [move for move in moves if move.alias in gone]
        replaced = bool(remarks) and whole
        # At the top of a file imports go where the others are; what a comment is about stays with its comment.
        here = [move for move in lost if move.alias in remarks] if _is_plain(statement, module) and not replaced else lost
        added = _lines(here, [alias for alias in leaving if alias in also and alias in remarks], locals_, remarks)
        if replaced:
            gap = module.source.newline + indent_of(module.source, module.span(statement).start)
            yield Edit(module.span(statement), gap.join(added))
        else:
            yield from taken_out(statement, {*leaving}, tree, module)
            if added:
                yield below(module, statement, "".join(f"{line}\n" for line in added))
        yield from (Import(move.module, _spelled(move.name, locals_[move.alias])) for move in lost if move not in here)


def uses(name: str, aliases: Sequence[ast.alias], module: Module, inference: Inference) -> Iterator[Span]:
    """Where a name stands that is given by these imports alone, in annotations with quotes too."""
    for node in module.names.get(name, ()):
        if not isinstance(node.ctx, ast.Store):
            bindings = inference.bindings(name, node, module)
            if bindings and all(binding.node in aliases for binding in bindings):
                yield module.span(node)
    for quoted in module.annotations(name):
        text, start = module.text(quoted), module.span(quoted).start
        for found in re.finditer(rf"(?<![\w.]){re.escape(name)}\b", text):
            at = start + len(text[: found.start()].encode())
            yield Span(at, at + len(name.encode()))


def replaced(
    statement: ast.ImportFrom,
    alias: ast.alias,
    spell: Callable[[ast.AST], tuple[str, Sequence[Import]]],
    tree: Tree,
    module: Module,
    inference: Inference,
) -> Iterator[Edit | Import]:
    """Takes one name out of an import, and writes at each use what `spell` says, with the imports that this needs."""
    name = alias.asname or alias.name
    for span in uses(name, [alias], module, inference):
        text, needs = spell(module.at(span) or statement)
        yield Edit(span, text)
        yield from needs
    yield from taken_out(statement, {alias}, tree, module)


def is_shared(name: str, aliases: Sequence[ast.alias], module: Module, inference: Inference, texts: Texts) -> bool:
    """Whether something else than code of this file may ask for a name: then it has to keep it."""
    top = module.scopes[module.tree].bindings.get(name, [])
    if any(binding.how is not How.IMPORTED or binding.node not in aliases for binding in top):
        return True
    dotted = f"{module.name}.{name}"
    if any(path != module.path for path in (*texts.importing(dotted), *texts.quoting(dotted))):
        return True
    if name in module.offered:
        return True
    for node in module.names.get(name, ()):
        bindings = inference.bindings(name, node, module)
        if any(binding.node in aliases for binding in bindings) and not all(binding.node in aliases for binding in bindings):
            return True
    return False


def _local(move: Move, module: Module, inference: Inference, texts: Texts) -> str:
    """The name that the file uses from now on."""
    old = move.alias.asname or move.alias.name
    if move.alias.asname is not None or move.name == move.alias.name:
        return old
    taken = not _is_there(move, module, inference) and (move.name in module.bound or move.name in module.names)
    package = module.package and old not in module.names
    return old if taken or package or is_shared(old, [move.alias], module, inference, texts) else move.name


def _is_there(move: Move, module: Module, inference: Inference) -> bool:
    """Whether the new name is known to all uses of the old one already: nothing but an import above them gives it, and gives the same."""
    found = module.bound.get(move.name, ())
    statements = [module.parents.get(binding.node) for binding in found]
    same = all(binding.node is not move.alias and binding.target == f"{move.module}.{move.name}" for binding in found)
    if not found or not same or not all(isinstance(one, ast.ImportFrom) and _is_plain(one, module) for one in statements):
        return False
    end = max(module.span(binding.node).end for binding in found)
    return all(end < span.start for span in uses(move.alias.asname or move.alias.name, [move.alias], module, inference))


def _spelled(name: str, local: str) -> str:
    return name if name == local else f"{name} as {local}"


def _respelled(move: Move, local: str, module: Module) -> Iterator[Edit]:
    span = module.span(move.alias)
    if move.alias.asname is not None:
        yield Edit(Span(span.start, span.start + len(move.alias.name.encode())), move.name)
    elif (text := _spelled(move.name, local)) != move.alias.name:
        yield Edit(span, text)


def taken_out(statement: ast.ImportFrom, gone: set[ast.alias], tree: Tree, module: Module) -> Iterator[Edit]:
    """Takes names out of an import; the whole statement where all of them go."""
    node = tree.enclosing(cst.ImportFrom, module.span(statement))
    if node is None or isinstance(node.names, cst.ImportStar):
        return
    if len(gone) == len(statement.names):
        whole = tree.statement(module.span(statement))
        if whole is not None:
            yield from cut.statement(tree, whole) if not _is_only(statement, module) else [Edit(module.span(statement), "pass")]
        return
    kept = [alias for alias in statement.names if alias not in gone]
    text = module.text(statement)
    if "#" in text or len(gone) == 1:
        for number, alias in enumerate(statement.names):
            if alias in gone:
                yield from cut.item(tree, node.names, number)
        return
    first, last = module.span(statement.names[0]), module.span(statement.names[-1])
    between = tree.source.slice(Span(module.span(statement.names[0]).end, module.span(statement.names[1]).start))
    yield Edit(Span(first.start, last.end), between.join(module.text(alias) for alias in kept))


def _is_only(statement: ast.stmt, module: Module) -> bool:
    """Whether nothing else stands in the block: it is to get another import in its place."""
    above = module.parents.get(statement)
    return any(getattr(above, name, None) == [statement] for name in ("body", "orelse", "finalbody"))


def _is_plain(statement: ast.stmt, module: Module) -> bool:
    return module.parents.get(statement) is module.tree


def _remarks(alias: ast.alias, statement: ast.ImportFrom, module: Module, *, whole: bool) -> list[str]:
    """The comments inside of an import that are about one name and go with it: those above it, then that behind it.

    `whole` is whether all names go.
    """
    source, span, end = module.source, module.span(alias), module.span(statement).end
    rest = source.utf8[span.end : min(end, next_line(source, span.end))].decode("utf-8").strip()
    # Without a comma it is the last name, and what stands behind that stays with the parenthesis, as long as there is one.
    behind = rest.removeprefix(",").strip() if rest.startswith(",") or whole else ""
    row = source.position(span.start).line
    first = row
    if not source.utf8[line_start(source, span.start) : span.start].strip():
        while first - 1 > statement.lineno and source.line(first - 1).lstrip().startswith("#"):
            first -= 1
    return [*(source.line(number).strip() for number in range(first, row)), *([behind] if behind.startswith("#") else [])]


def _lines(
    moves: Sequence[Move], others: Sequence[ast.alias], locals_: Mapping[ast.alias, str], remarks: Mapping[ast.alias, list[str]]
) -> list[str]:
    """The imports of some names, one line for each module, and the comments about these and other names, each above its import."""
    lines = [remark for alias in others for remark in remarks[alias]]
    by_module: dict[str, list[str]] = {}
    for move in moves:
        name = _spelled(move.name, locals_[move.alias])
        if move.alias in remarks:
            lines += [*remarks[move.alias], f"from {move.module} import {name}"]
        else:
            by_module.setdefault(move.module, []).append(name)
    return [*lines, *(f"from {module} import {', '.join(names)}" for module, names in by_module.items())]


def _module_span(statement: ast.ImportFrom, module: Module) -> Span:
    start = module.span(statement).start
    at = module.source.utf8.index((statement.module or "").encode(), start + len("from"))
    return Span(at, at + len((statement.module or "").encode()))
