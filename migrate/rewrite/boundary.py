"""Wires a proven hook: the object, the decorator or the pair of calls, and everything around that has to change with them."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import NoReturn

from ..facts.code import Place, Unit
from ..facts.emissions import Emission, Send, block_of, is_flush, leaving
from ..facts.frameworks import Framework
from ..facts.functions import Def, Module
from ..facts.hooks import Blocker, Hook, Strategy, has_usual_self
from ..facts.identity import OF_APPLICATION, Needs, Part, is_builtin, is_defined_by
from ..facts.spelled import Spelling, is_pure
from ..facts.syntax import descend
from ..facts.vocabulary import KEPT_REQUESTS
from ..rule import Era
from ..source import Span
from . import asking, cut, hosting, module, sessions
from .edits import Edit
from .lazy import cst
from .lines import above, below, block, call, deeper, enclosing_parentheses, indent_of, line_start, moved, next_line, start_of, step_of
from .module import Part as RuntimePart
from .tree import Tree

_STEM = PurePosixPath(module.FILE_NAME).stem
# Where the boundary learns of a request that ends in a task of its own.
_ASYNC = frozenset({Framework.FASTAPI, Framework.STARLETTE, Framework.ASGI})
EITHER = "."
"""The package of a file that is run by its path as well as imported from its package."""
_CONSTANTS = {"info": "SERVER_INFO", "capabilities": "CAPABILITIES", "instructions": "INSTRUCTIONS"}


@dataclass(frozen=True)
class Wiring:
    """All edits of one file, made together or not at all, and the parts of the boundary module that they use."""

    edits: tuple[Edit, ...]
    parts: frozenset[RuntimePart]
    imports: frozenset[tuple[str, str]]


def wire(hook: Hook, tree: Tree, era: Era, *, package: str | None, publishes: bool = True) -> Wiring | Blocker:
    """The wiring of one hook. `package` is the import path of the boundary module's folder, "" for a relative import, None for none.

    Without `publishes` no change is published, because others are announced where this wiring does not reach.
    """
    try:
        return _Wire(hook, tree, era).wiring(package, publishes)
    except _Stop as stop:
        return stop.blocker


def file_name(path: str) -> str:
    """Where the boundary module of a server goes: beside it."""
    return str(PurePosixPath(path).with_name(module.FILE_NAME))


class _Stop(Exception):
    def __init__(self, blocker: Blocker) -> None:
        super().__init__(blocker.reason)
        self.blocker = blocker


class _Wire:
    def __init__(self, hook: Hook, tree: Tree, era: Era) -> None:
        self.hook, self.tree, self.era = hook, tree, era
        self.module: Module = hook.place.unit.module
        self.source = self.module.source
        self.step = step_of(self.module)
        self.taken = _names(self.module)
        for _ in range(hook.before):
            self.taken |= {self._free(name) for name in ("MCP", *_CONSTANTS.values(), "early")}
        self.handle = hook.borrowed[1] if hook.borrowed else self._free("MCP")
        self.scope = hook.identity.scope if hook.borrowed is None else None
        self.parts = {RuntimePart.BOUNDARY} if hook.strategy in {Strategy.DECORATOR, Strategy.SENDER} else set()
        self.imports: set[tuple[str, str]] = set()

    def wiring(self, package: str | None, publishes: bool) -> Wiring:
        behind = frozenset({self.hook.place.name, *(one.endpoint.place.name for one in self.hook.hosts)})
        stdio, http = self.hook.strategy is not Strategy.HOST, bool(self.hook.hosts)
        tasks = not stdio and all(one.endpoint.framework in _ASYNC for one in self.hook.hosts)

        def planned(http: bool) -> asking.Plan | asking.Blocker:
            return asking.plan(
                self.module, self.tree, era=self.era, boundary=behind, handle=self.handle, stdio=stdio, http=http, tasks=tasks
            )

        plan = planned(http and publishes)
        if self.scope is not None and isinstance(plan, asking.Plan) and any(True for edit in plan.edits if not self._is_known(edit)):
            plan = planned(False)  # changes are announced where the boundary object is not known
        if isinstance(plan, asking.Blocker):
            self._stop(plan.span, plan.reason)
        self.parts |= {RuntimePart(name) for name in plan.parts}
        if "ask" in plan.parts and self.hook.strategy is Strategy.SPLIT:
            self._stop(
                self._at(self.hook.place),
                "the server asks its client, but its messages are handled in the loop itself",
                "move the dispatch into a function",
            )
        hosted = self._hosted()
        before = min((at for at in (plan.before, hosted.before if hosted else None) if at is not None), default=None)
        edits = [
            *(hosted.edits if hosted else ()),
            *(self._entry() if self.hook.strategy is not Strategy.HOST else ()),
            *(edit for emission in self.hook.outgoing for edit in self._outgoing(emission)),
            *self._tests(),
            *self._gates(),
            *self._without_session(),
            *plan.edits,
        ]
        if self.hook.borrowed is None:
            before = self._first(edits, before) if self.scope is not None else before
            edits = [*self._object(before, package, hosted.lines if hosted else ()), *edits]
        if self.hook.outgoing:
            self.parts.add(RuntimePart.OUTGOING)
        if self.hook.borrowed is not None:
            self._borrow(self.hook.borrowed[0], bool(hosted and hosted.lines), package)
        elif package != EITHER:
            self.imports.add((_beside(package, _STEM), "Stateless"))
        return Wiring(tuple(dict.fromkeys(edits)), frozenset(self.parts), frozenset(self.imports))

    def _first(self, edits: list[Edit], before: int | None) -> int:
        """Where the object has to be made in its function, which alone knows it."""
        for edit in edits:
            if not self._is_known(edit):
                assert self.scope is not None
                reason = f"who the server is, `{self.scope.name}` alone knows, and the boundary is needed outside of it too"
                self._stop(edit.span, reason, "name the server and its capabilities by hand")
        using = (edit.span.start for edit in edits if self._uses(edit))
        return min((at for at in (before, *using) if at is not None), default=self._at(self.hook.place).start)

    def _uses(self, edit: Edit) -> bool:
        return re.search(rf"\b{self.handle}\b", edit.text) is not None

    def _is_known(self, edit: Edit) -> bool:
        """Whether an edit does without the boundary object, or stands in the function that makes it."""
        if not self._uses(edit):
            return True
        assert self.scope is not None
        assert self.scope.function
        body = self.scope.function.node.body
        start = line_start(self.source, start_of(self.module, body[0]))
        return start <= edit.span.start and edit.span.end <= next_line(self.source, self.module.span(body[-1]).end)

    def _borrow(self, other: Unit, is_placed: bool, package: str | None) -> None:
        """Takes the object from the module that has it."""
        if not any(isinstance(s, ast.Assign) and is_defined_by(s, self.handle) for s in other.module.tree.body):
            reason = f"the boundary object of {other.module.source.path} is known inside of a function only"
            self._stop(self._at(self.hook.place), reason, "wire the endpoint by hand")
        if other is self.hook.place.unit:
            return
        spelled = self._spelled(other) or self._relative(other, package)
        if spelled is None or is_placed or self.handle in self.taken:
            reason = f"the boundary object of {other.module.source.path} is not known here"
            self._stop(self._at(self.hook.place), reason, "import it, and wire the endpoint by hand")
        self.imports.add((spelled, self.handle))

    # -- the object -------------------------------------------------------------
    def _object(self, before: int | None, package: str | None, then: tuple[str, ...]) -> Iterator[Edit]:
        """The names that the old branch shares with the object, and the object."""
        body = self.module.tree.body
        limit = self._index(
            start_of(self.module, self.hook.place.function.node) if self.hook.place.function else self._at(self.hook.place).start
        )
        if before is not None:
            limit = min(limit, self._index(before))
        identity = self.hook.identity
        parts = {"info": identity.info, "capabilities": identity.capabilities, "instructions": identity.instructions}
        foreign = identity.place.unit is not self.hook.place.unit
        used = {name for part in parts.values() if part and part.needs is Needs.IMPORT for name in part.names if not is_builtin(name)}
        if foreign:
            self._import(used, package)
        after = max(
            (at for at, s in enumerate(body[:limit]) if isinstance(s, ast.Import | ast.ImportFrom | ast.Try) and _is_import(s)), default=-1
        )
        defined = {name: [at for at, s in enumerate(body) if is_defined_by(s, name)] for name in used}
        late = {name for name, found in defined.items() if not foreign and (not found or max(found) >= limit)}
        after = max([after, *(max(found) for name, found in defined.items() if name not in late and found)])
        while (
            after + 1 < limit
            and _is_simple(body[after + 1])
            and (after >= 0 or _is_docstring(body[after + 1]) or isinstance(body[after + 1], ast.Assign))
        ):
            after += 1
        texts: dict[str, str] = {}
        lines: list[str] = []
        functions: list[str] = []
        for name, part in parts.items():
            if part is None:
                continue
            if foreign and self._through(part):
                if any(part.spelling.statements()):
                    texts[name] = self._free(f"mcp_{name}")
                    functions.append(self._held(self._function(texts[name], part)))
                else:
                    texts[name] = f"lambda: {self._held(self._text(part.spelling))}"
                continue
            if part.needs is Needs.INSTANCE:
                texts[name] = '""' if name == "instructions" else "{}"
                yield self._assigned(name, part, foreign)
                continue
            text = self._whole(part)
            if any(part.spelling.statements()):
                texts[name] = self._free(f"mcp_{name}")
                functions.append(self._function(texts[name], part))
            elif part.needs is Needs.CALL or part.names & late:
                texts[name] = f"lambda: {text}"
            elif part.hoist and self.era is Era.DUAL and not foreign:
                constant = self._free(_CONSTANTS[name])
                lines.append(f"{constant} = {text}")
                texts[name] = constant
                span = self.module.span(part.spelling.node)
                yield Edit(enclosing_parentheses(self.source, span), constant)
            else:
                texts[name] = text
        if self.scope is None:
            made = "\n".join([f"{self.handle} = {self._call(texts)}", *then])
            above_ = ["\n".join(lines)] if lines else []
            lines = ["\n\n\n".join([*above_, *functions, made])] if functions else [*lines, made]
        if package == EITHER:
            ways = ("try:", f"{self.step}from .{_STEM} import Stateless", "except ImportError:  # outside of its package")
            lines.insert(0, "\n".join([*ways, f"{self.step}from {_STEM} import Stateless", ""]))
        if lines:
            yield self._placed(after, lines)
        if self.scope is not None:
            assert before is not None
            yield self._made_in(self.scope, before, [*functions, f"{self.handle} = {self._call(texts)}"], then)

    def _made_in(self, scope: Place, before: int, lines: list[str], then: tuple[str, ...]) -> Edit:
        """The object inside of the function that knows what it says, before the first statement that has to do with it."""
        if then:
            self._stop(self._at(scope), "the application is made in another module than the endpoint", "wire the application by hand")
        assert scope.function
        body = scope.function.node.body
        first = next((s for s in body if self.module.span(s).end > before), body[-1])
        after = body[body.index(first) - 1] if first is not body[0] else None
        gap = "\n" if isinstance(first, Def | ast.ClassDef) or after is None or first.lineno - (after.end_lineno or 0) > 1 else ""
        return above(self.module, first, "\n".join(f"{line}\n" if line.startswith("def ") else line for line in lines) + f"\n{gap}")

    def _function(self, name: str, part: Part) -> str:
        """What a part of the identity is, worked out in several steps each time that it is asked for."""
        steps = [self._text(step) for step in dict.fromkeys(part.spelling.statements())]
        body = "\n".join([*dict.fromkeys(steps), f"return {self._whole(part)}"])
        return f"def {name}():\n{textwrap.indent(body, self.step)}"

    def _whole(self, part: Part) -> str:
        return self._text(part.spelling) + (".model_dump(by_alias=True, exclude_none=True)" if part.model else "")

    def _import(self, names: set[str], package: str | None) -> None:
        """Takes over the names that an initialize answer in another module uses."""
        theirs, own = self.hook.identity.place.unit, self.hook.place.unit
        source = theirs.module.source
        parts = (self.hook.identity.info, self.hook.identity.capabilities, self.hook.identity.instructions)
        names = {name for name in names if own.names.imports.get(name, "") != theirs.names.imports.get(name)}
        beside = PurePosixPath(source.path).parent == PurePosixPath(self.source.path).parent
        spelled = self._spelled(theirs)
        unknown = f"the initialize answer is built in {source.path}, from names that are not known here"
        at, way_out = self._at(self.hook.place), "name the server here by hand"
        if any(part is not None and part.needs is not Needs.IMPORT and not self._through(part) for part in parts):
            self._stop(at, unknown, way_out)
        if names and ((not beside and spelled is None) or names & self.taken):
            self._stop(at, unknown, way_out)
        if any(target == own.name or target.startswith(f"{own.name}.") for target in theirs.names.imports.values()) and names:
            self._stop(at, f"the initialize answer is built in {source.path}, which imports this module", way_out)
        for name in names:
            origin = next((n for n in theirs.module.tree.body if isinstance(n, ast.ImportFrom) and is_defined_by(n, name)), None)
            if spelled is not None:
                self.imports.add((spelled, name))
            elif origin is None:
                self.imports.add((_beside(package, PurePosixPath(source.path).stem), name))
            elif any(alias.name == name and alias.asname is None for alias in origin.names):
                self.imports.add(("." * origin.level + (origin.module or ""), name))
            else:
                self._stop(at, unknown, way_out)

    def _spelled(self, other: Unit) -> str | None:
        """How this module imports from another one."""
        for node in self.module.nodes(ast.ImportFrom):
            for alias in node.names:
                target = self.hook.place.unit.names.imports.get(alias.asname or alias.name, "")
                origin = target.removesuffix(f".{alias.name}")
                if origin != target and f".{other.name}".endswith(f".{origin}") and not node.level:
                    return node.module
                if origin == other.name:
                    return "." * node.level + (node.module or "")
        return None

    def _relative(self, other: Unit, package: str | None) -> str | None:
        """How this module would import from another one of its package that it knows by a package's name only."""
        own, theirs = self.hook.place.unit.name.split("."), other.name.split(".")
        shared = next((at for at, (one, two) in enumerate(zip(own, theirs, strict=False)) if one != two), min(len(own), len(theirs)))
        imports = other.names.imports.values()
        if package != "" or not shared or len(theirs) == shared or any(f"{one}.".startswith(f"{'.'.join(own)}.") for one in imports):
            return None
        return "." * (len(own) - shared) + ".".join(theirs[shared:])

    def _through(self, part: Part) -> bool:
        """Whether what an object says of itself can be asked of the one that this module holds."""
        return part.needs is Needs.INSTANCE and bool(self.hook.identity.holder)

    def _call(self, texts: dict[str, str]) -> str:
        arguments = list(texts.values())
        if self.hook.methods is not None:
            names = [f'"{name}"' for name in _families(self.hook.methods)]
            flat = f"{{{', '.join(names)}}}" if names else "()"
            if len(flat) > 80:
                flat = "{\n" + "".join(f"{self.step}{name},\n" for name in names) + "}"
            arguments.append(f"methods={flat}")
        if self.era is Era.MODERN:
            arguments.append("legacy=False")
        return call("Stateless", arguments, self.step)

    def _text(self, spelling: Spelling) -> str:
        """The expression as it stands at the left margin, its local names replaced."""
        theirs = self.hook.identity.place.unit.module
        if self.hook.identity.node is None:
            return ast.unparse(spelling.node).replace("'", '"')
        if isinstance(spelling.node, ast.Import | ast.ImportFrom):
            return ast.unparse(spelling.node)
        if not spelling.inner and isinstance(spelling.node, ast.expr):
            text = moved(theirs, spelling.node)
            return ast.unparse(spelling.node) if text is None else text
        span = theirs.span(spelling.node)
        indent = indent_of(theirs.source, span.start)
        text, at = "", span.start
        for name, value in sorted(spelling.inner, key=lambda pair: theirs.span(pair[0]).start):
            inner = theirs.span(name)
            given = self._text(value)
            closed = isinstance(value.node, ast.Dict | ast.List | ast.Set | ast.Call | ast.Constant | ast.Name | ast.Attribute)
            text += theirs.source.slice(Span(at, inner.start)) + (given if closed else f"({given})").replace("\n", f"\n{indent}")
            at = inner.end
        text += theirs.source.slice(Span(at, span.end))
        return "\n".join(line.removeprefix(indent) for line in text.replace("\r\n", "\n").split("\n"))

    def _held(self, text: str) -> str:
        """The text with the object's name in the place of `self`."""
        selves = [n for n in descend(ast.parse(text)) if isinstance(n, ast.Name) and n.id == "self"]
        if len(re.findall(r"\bself\b", text)) != len(selves):
            self._stop(self._at(self.hook.place), "the name of the server could not be taken over", "name the server here by hand")
        return re.sub(r"\bself\b", self.hook.identity.holder, text)

    def _assigned(self, name: str, part: Part, foreign: bool) -> Edit:
        """`MCP.info = ...` at the end of the constructor of the object that knows it."""
        place = self.hook.identity.place
        start = place.unit.module.functions.get(f"{place.owner}.__init__")
        if foreign or start is None or isinstance(start.node.body[-1], ast.Return | ast.Raise | ast.While | ast.For):
            self._stop(
                self._at(self.hook.place),
                "name or capabilities belong to an object whose constructor was not found here",
                "assign them to the boundary by hand",
            )
        last = start.node.body[-1]
        if any(part.spelling.statements()):
            function = self._free(f"mcp_{name}")
            return below(self.module, last, f"\n{self._function(function, part)}\n\n{self.handle}.{name} = {function}\n")
        return below(self.module, last, f"{self.handle}.{name} = lambda: {self._text(part.spelling)}\n")

    def _placed(self, after: int, lines: list[str]) -> Edit:
        body, newline = self.module.tree.body, self.source.newline
        text = "\n".join(lines) + "\n"
        if after < 0:
            at = line_start(self.source, start_of(self.module, body[0]))
            return Edit(Span(at, at), block(self.source, f"{text}\n\n"))
        previous = body[after]
        at = next_line(self.source, self.module.span(previous).end)
        # A blank line above, unless one constant follows another; and one below if something follows at once.
        plain = isinstance(previous, ast.Assign | ast.AnnAssign) and previous.lineno == previous.end_lineno
        lead = "" if plain and text.count("\n") == 1 else "\n\n" if text.startswith("def ") else "\n"
        following = body[after + 1] if after + 1 < len(body) else None
        gap = self.source.utf8[at : start_of(self.module, following)] if following is not None else b""
        tail = "" if following is None or gap[: len(newline)] == newline.encode() else "\n"
        return Edit(Span(at, at), block(self.source, lead + text + tail))

    def _index(self, offset: int) -> int:
        """The number of the module-level statement that holds an offset."""
        for at, statement in enumerate(self.module.tree.body):
            if offset <= self.module.span(statement).end:
                return at
        return len(self.module.tree.body)

    # -- the entry -------------------------------------------------------------
    def _hosted(self) -> hosting.Hosting | None:
        if not self.hook.hosts:
            return None
        identity = self.hook.identity
        targets = identity.place.unit.names.imports
        parts = (identity.info, identity.capabilities, identity.instructions)
        within = any(targets.get(name) in OF_APPLICATION for part in parts if part for name in part.names)
        try:
            hosted = hosting.host(self.hook.hosts, self.handle, within=within, gates=self.hook.around)
        except hosting.Unhosted as doubt:
            self._stop(self._at(doubt.place), doubt.reason, doubt.way_out)
        self.parts |= hosted.parts
        return hosted

    def _entry(self) -> Iterator[Edit]:
        hook = self.hook
        if hook.strategy is Strategy.SPLIT:
            yield from self._split()
            return
        assert hook.place.function
        arguments = []
        if hook.place.function.parameters[0] != hook.message or not has_usual_self(hook.place.function):
            arguments.append(f'message="{hook.message}"')
        if hook.packed is not None:
            self.parts.add(RuntimePart.RETURNS)
            shape = ", ".join("None" if name is None else f'"{name}"' for name in hook.packed.shape)
            arguments.append(f"returns=({shape})")
        if hook.writer is not None:
            self.parts.add(RuntimePart.SEND)
            arguments.append(f"send={self._writer(hook.writer)}")
        text = f"@{self.handle}.boundary" + (f"({', '.join(arguments)})" if arguments else "")
        node = hook.place.function.node
        # Directly above the function: what was proven is what the function itself gives.
        at = line_start(self.source, self.module.span(node).start)
        yield Edit(Span(at, at), f"{indent_of(self.source, self.module.span(node).start)}{text}{self.source.newline}")

    def _writer(self, writer: Place) -> str:
        assert writer.function
        assert self.hook.place.function
        if writer.function.owner:
            return f'"{writer.function.short}"'
        below_hook = writer.function.node.lineno > self.hook.place.function.node.lineno
        nested = self.hook.place.function.name.count(".") > (1 if self.hook.place.function.owner else 0)
        return f'"{writer.function.short}"' if below_hook and not nested else writer.function.short

    def _split(self) -> Iterator[Edit]:
        """`begin` directly after the parse, `finish` around replies that are returned."""
        hook = self.hook
        early = self._free("early")
        loop = self._loop(hook.parse)
        answer = self._answer(early)
        answer += [text for text in self._rest() if text not in answer[1:]]
        leave = [] if isinstance(hook.early, ast.Return) else ["continue" if loop else "return"]
        lines = [
            f"{early} = {self.handle}.begin({hook.message})",
            f"if {early} is not None:",
            *(self.step + line for line in [*answer, *leave]),
        ]
        text = "\n".join(lines) + "\n"
        match hook.parse:
            case ast.For() | ast.AsyncFor() as statement:
                yield above(self.module, statement.body[0], text)
            case ast.stmt() as statement:
                parent = self.module.parents[statement]
                if (
                    isinstance(parent, ast.Try)
                    and statement is parent.body[-1]
                    and not parent.orelse
                    and not parent.finalbody
                    and _all_leave(parent)
                ):
                    statement = parent
                yield below(self.module, statement, text)
            case None:
                assert hook.place.function
                body = hook.place.function.node.body
                first = next((s for s in body if not _is_docstring(s) and not isinstance(s, ast.Global | ast.Nonlocal)), body[-1])
                yield above(self.module, first, text)
        for reply in hook.finish:
            span = self.module.span(reply)
            yield Edit(Span(span.start, span.start), f"{self.handle}.finish(")
            yield Edit(Span(span.end, span.end), ")")

    def _rest(self) -> list[str]:
        """What a loop or function does after its message has been handled, to be done after an early reply as well."""
        followers = self._followers()
        if isinstance(self.hook.early, ast.Return):
            return []
        made: dict[str, set[ast.stmt]] = {}
        for statement in followers:
            for node in descend(statement):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    made.setdefault(node.id, set()).add(statement)
        own = {id(s) for emission in self.hook.outgoing for s in leaving(emission.dumps, self.module)}
        if isinstance(self.hook.early, Send):
            own |= {id(s) for s in leaving(self.hook.early.node, self.module)}

        def handles(statement: ast.stmt) -> bool:
            if is_flush(statement):
                return False
            return id(statement) in own or any(
                (isinstance(n, ast.Name) and (n.id == self.hook.message or made.get(n.id, {statement}) != {statement}))
                or any(n is emission.dumps for emission in self.hook.outgoing)
                for n in descend(statement)
            )

        last = max((at for at, statement in enumerate(followers) if handles(statement)), default=-1)
        rest = followers[last + 1 :]
        between = [s for s in followers[: last + 1] if not handles(s) and not is_flush(s) and not _is_plain(s)]
        for statement in rest:
            if not isinstance(statement, ast.Expr | ast.Assign | ast.AnnAssign | ast.AugAssign) or (between and not is_flush(statement)):
                self._stop(
                    self.module.span(statement),
                    "this is done after each message, and an early reply would pass it by",
                    "move the dispatch into a function that returns the reply",
                )
        return [ast.unparse(s) if "\n" in (text := self.module.text(s)) else text for s in rest]

    def _followers(self) -> list[ast.stmt]:
        """The statements that an early reply passes by, up to the end of the loop or function."""
        parse = self.hook.parse
        if isinstance(parse, ast.For | ast.AsyncFor):
            return list(parse.body)
        if parse is None:
            assert self.hook.place.function
            return list(self.hook.place.function.node.body)
        found: list[ast.stmt] = []
        around: ast.AST = parse
        while isinstance(around, ast.stmt | ast.excepthandler | ast.match_case):
            parent = self.module.parents[around]
            if isinstance(around, ast.stmt) and not isinstance(parent, ast.Match):
                block_ = block_of(around, self.module)
                found += block_[block_.index(around) + 1 :]
                if isinstance(parent, ast.Try) and block_ is parent.body:
                    found += parent.orelse
            if isinstance(parent, Def | ast.For | ast.AsyncFor | ast.While):
                break
            around = parent
        return found

    def _loop(self, parse: ast.stmt | None) -> bool:
        if isinstance(parse, ast.For | ast.AsyncFor):
            return True
        around: ast.AST | None = parse
        while around is not None and (around := self.module.parents.get(around)) is not None and not isinstance(around, Def):
            if isinstance(around, ast.For | ast.AsyncFor | ast.While):
                return True
        return False

    def _answer(self, early: str) -> list[str]:
        """The statements that send a reply here, with the early one in its place."""
        if isinstance(self.hook.early, ast.Return):
            return [self._with(self.hook.early, self.hook.finish[0], early)]
        assert isinstance(self.hook.early, Send)
        send = self.hook.early
        first, last = self._statements(send.node, send.place)
        block_ = block_of(first, self.module)
        out = [self._with(first, send.payload, early)]
        for statement in block_[block_.index(first) + 1 :]:
            if block_.index(statement) > block_.index(last) and not is_flush(statement):
                break
            text = self.module.text(statement)
            out.append(text if "\n" not in text else ast.unparse(statement))
        return out

    def _with(self, statement: ast.stmt, payload: ast.expr, name: str) -> str:
        """A statement as one line, with another payload."""
        span, inner = self.module.span(statement), self.module.span(payload)
        text = self.source.slice(Span(span.start, inner.start)) + name + self.source.slice(Span(inner.end, span.end))
        return text if "\n" not in text else ast.unparse(ast.parse(f"async def _():\n {text}")).split("\n", 1)[1].strip()

    # -- what leaves -----------------------------------------------------------
    def _outgoing(self, emission: Emission) -> Iterator[Edit]:
        """`for part in MCP.outgoing(message):` around the statements that write one message."""
        first, last = self._statements(emission.dumps, emission.place)
        part = self._free_in(emission.place, "part")
        span, inner = self.module.span(first), self.module.span(emission.payload)
        indent = indent_of(self.source, span.start)
        newline = self.source.newline
        head, tail = self.source.slice(Span(span.start, inner.start)), self.source.slice(Span(inner.end, span.end))
        if _has_long_text(first, emission.payload):
            self._stop(
                span, "the statement that writes messages could not be taken apart", "write the messages of `MCP.outgoing(message)` here"
            )
        yield Edit(Span(span.start, inner.start), f"for {part} in {self.handle}.outgoing(")
        moved_head, moved_tail = (text.replace(newline, newline + self.step) for text in (head, tail))
        yield Edit(Span(inner.end, span.end), f"):{newline}{indent}{self.step}{moved_head}{part}{moved_tail}")
        if last is not first:
            block_ = block_of(first, self.module)
            rest = block_[block_.index(first) + 1 : block_.index(last) + 1]
            at = line_start(self.source, self.module.span(rest[0]).start)
            yield Edit(Span(at, at), self.step)
            yield from deeper(self.module, rest[0], rest[-1], self.step)

    def _statements(self, node: ast.expr, place: Place) -> tuple[ast.stmt, ast.stmt]:
        """The statement that serialises, and the last of those that write the text it made."""
        chosen = leaving(node, self.module)
        statement = chosen[0]
        if not isinstance(statement, ast.Expr | ast.Assign | ast.AnnAssign) or any(
            isinstance(n, ast.Return | ast.Continue | ast.Break | ast.Yield) for s in chosen for n in descend(s)
        ):
            self._stop(
                self.module.span(statement),
                "the statement that writes messages could not be taken apart",
                "write the messages of `MCP.outgoing(message)` here",
            )
        return statement, chosen[-1]

    # -- callers and gates --------------------------------------------------------
    def _tests(self) -> Iterator[Edit]:
        """`if reply is None: continue` where a loop would print None."""
        for use in self.hook.untested:
            statement: ast.AST = use.node
            while not isinstance(statement, ast.stmt):
                statement = self.module.parents[statement]
            match statement:
                case ast.Assign() | ast.AnnAssign() if (name := self._given(statement)) and self._ends_loop(statement, name):
                    yield below(self.module, statement, f"if {name} is None:\n{self.step}continue\n")
                case ast.Assign() | ast.AnnAssign() if name := self._given(statement):
                    yield from self._guarded(statement, name)
                case ast.Expr():
                    yield from self._taken_apart(statement, use.node)
                case _:
                    self._stop(self.module.span(statement), "this writes whatever the dispatcher returns, None too", "skip None here")

    def _given(self, statement: ast.stmt) -> str:
        """The name that a statement gives to the reply."""
        packed = self.hook.packed
        match statement:
            case ast.Assign(targets=[ast.Tuple(elts=goals) | ast.List(elts=goals)]) if packed is not None:
                goal = goals[packed.at]
                return goal.id if isinstance(goal, ast.Name) else ""
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                return name
        return ""

    def _guarded(self, statement: ast.stmt, name: str) -> Iterator[Edit]:
        block_ = block_of(statement, self.module)
        after = block_[block_.index(statement) + 1 :]
        users = [s for s in after if any(isinstance(n, ast.Name) and n.id == name for n in descend(s))]
        if not users:
            self._stop(self.module.span(statement), "this writes whatever the dispatcher returns, None too", "skip None here")
        first, last = users[0], users[-1]
        while after.index(last) + 1 < len(after) and is_flush(after[after.index(last) + 1]):
            last = after[after.index(last) + 1]
        if any(
            isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
            for s in after[after.index(first) : after.index(last) + 1]
            for n in descend(s)
        ):
            self._stop(self.module.span(statement), "this writes whatever the dispatcher returns, None too", "skip None here")
        start = self.module.span(first).start
        indent = indent_of(self.source, start)
        yield Edit(Span(start, start), f"if {name} is not None:{self.source.newline}{indent}{self.step}")
        yield from deeper(self.module, first, last, self.step)

    def _taken_apart(self, statement: ast.Expr, node: ast.Call) -> Iterator[Edit]:
        """`print(json.dumps(handle(message)))` becomes an assignment and a write of what is not None."""
        value: ast.expr = node
        if isinstance(self.module.parents[node], ast.Await):
            value = self.module.parents[node]  # type: ignore[assignment]
        name = self._free_in(self.hook.place, "reply")
        span, inner = self.module.span(statement), self.module.span(value)
        indent, newline = indent_of(self.source, span.start), self.source.newline
        head, tail = self.source.slice(Span(span.start, inner.start)), self.source.slice(Span(inner.end, span.end))
        block_ = block_of(statement, self.module)
        after = block_[block_.index(statement) + 1 :]
        yield Edit(Span(span.start, inner.start), f"{name} = ")
        rest = tail.replace(newline, newline + self.step)
        yield Edit(Span(inner.end, span.end), f"{newline}{indent}if {name} is not None:{newline}{indent}{self.step}{head}{name}{rest}")
        if after and is_flush(after[0]):
            at = line_start(self.source, self.module.span(after[0]).start)
            yield Edit(Span(at, at), self.step)

    def _ends_loop(self, statement: ast.stmt, name: str) -> bool:
        """Whether all that a loop does after this statement is writing its value, which has this name."""
        child: ast.AST = statement
        followers = block_of(statement, self.module)
        for follower in followers[followers.index(statement) + 1 :]:
            if not is_flush(follower) and not any(isinstance(n, ast.Name) and n.id == name for n in descend(follower)):
                return False
        while (parent := self.module.parents.get(child)) is not None and not isinstance(parent, Def | ast.Lambda):
            if isinstance(parent, ast.For | ast.AsyncFor | ast.While):
                return parent.body[-1] is child
            if isinstance(parent, ast.Try) and (parent.orelse or parent.finalbody):
                return False
            if (
                isinstance(parent, ast.stmt)
                and child is not statement
                and block_of(parent, self.module)[-1] is not parent
                and not isinstance(self.module.parents.get(parent), ast.Module)
            ):
                return False
            if child is not statement and isinstance(child, ast.stmt) and block_of(child, self.module)[-1] is not child:
                return False
            child = parent
        return False

    def _gates(self) -> Iterator[Edit]:
        """For a request of this revision the handshake counts as done."""
        for condition in self.hook.conditions:
            node, text = condition.node, self.module.text(condition.node)
            parent = self.module.parents[node]
            whole = self.era is Era.MODERN and not condition.seen and isinstance(parent, ast.If)
            if whole and (branch := self.tree.enclosing(cst.If, self.module.span(node))) is not None:
                # No request waits for a handshake any more.
                yield from cut.branch(self.tree, branch)
                continue
            joint: type[ast.boolop] = ast.Or if condition.seen else ast.And
            made = sessions.spared(text, sessions.Revision.of(self.handle), seen=condition.seen)
            alone = isinstance(parent, ast.If | ast.While | ast.match_case | ast.Return | ast.Assert)
            same = isinstance(parent, ast.BoolOp) and isinstance(parent.op, joint)
            yield Edit(self.module.span(node), made if alone or same else f"({made})")

    def _without_session(self) -> Iterator[Edit]:
        """No request of this revision has a session: it passes what asks for one, and leaves the book-keeping alone."""
        for one in self.hook.fresh:
            if self.era is Era.MODERN:
                yield Edit(self.module.span(one.statement.value), one.text)
                continue
            note = "# There is no session: this one is for the request, and what a tool keeps in it is lost."
            text = f"if {self.handle}.modern:\n{self.step}{note}\n{self.step}{one.name} = {one.text}\n"
            yield below(self.module, one.statement, text)
        says = sessions.Revision.of(self.handle)
        anew = [self.module.span(one.statement.value) for one in self.hook.fresh] if self.era is Era.MODERN else []
        for gate in self.hook.gates:
            if gate not in self.module.parents:
                continue  # in another module, where a rule of its own opens it
            span = self.module.span(gate)
            edits = list(sessions.ungated(span, self.module, self.tree)) if self.era is Era.MODERN else []
            opening = edits or sessions.opened(span, self.module, says)
            # What is looked up there is made anew above.
            yield from (edit for edit in opening if edit.span not in anew)
        for use in self.hook.spared:
            if use.place.unit is self.hook.place.unit:
                yield from sessions.passed_by(use, self.module, says, gone=self.era is Era.MODERN)

    # -- helpers ------------------------------------------------------------------
    def _free(self, name: str) -> str:
        """A name that nothing of the module has yet."""
        made = name
        number = 2
        while made in self.taken:
            prefixed = f"MCP_{name}"
            made = prefixed if name.isupper() and name != "MCP" and prefixed not in self.taken else f"{name}_{number}"
            number += 1
        self.taken.add(made)
        return made

    def _free_in(self, place: Place, name: str) -> str:
        taken = {n.id for n in place.nodes if isinstance(n, ast.Name)} | set(place.function.parameters if place.function else ())
        return name if name not in taken else self._free(f"mcp_{name}")

    def _at(self, place: Place) -> Span:
        if place.function is None:
            return self.module.span(self.hook.parse) if self.hook.parse is not None else Span(0, 0)
        node = place.function.node
        start = self.source.offset(node.lineno, node.col_offset)
        return Span(start, start + len(self.source.line(node.lineno).strip().encode()))

    def _stop(self, span: Span, reason: str, way_out: str = "") -> NoReturn:
        raise _Stop(Blocker(self.hook.place.unit, span, reason, way_out))


def _families(methods: frozenset[str]) -> list[str]:
    """The methods, those of one kind under its name where all are there."""
    kinds = {method.partition("/")[0] for method in methods}
    whole = {
        kind for kind in kinds if (every := {m for m in KEPT_REQUESTS if m.startswith(f"{kind}/")}) and len(every) > 1 and every <= methods
    }
    return sorted([*whole, *(method for method in methods if method not in KEPT_REQUESTS or method.partition("/")[0] not in whole)])


def _beside(package: str | None, name: str) -> str:
    return name if package is None else f"{package}.{name}"


def _names(module: Module) -> set[str]:
    defined: list[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef] = [
        *module.nodes(ast.FunctionDef),
        *module.nodes(ast.AsyncFunctionDef),
        *module.nodes(ast.ClassDef),
    ]
    declared: list[ast.Global | ast.Nonlocal] = [*module.nodes(ast.Global), *module.nodes(ast.Nonlocal)]
    return {
        *(node.id for node in module.nodes(ast.Name)),
        *(node.arg for node in module.nodes(ast.arg)),
        *(node.name for node in defined),
        *(node.asname or node.name.partition(".")[0] for node in module.nodes(ast.alias)),
        *(name for node in declared for name in node.names),
    }


def _is_import(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Try):
        return any(isinstance(inner, ast.Import | ast.ImportFrom) for inner in statement.body)
    return True


def _is_simple(statement: ast.stmt) -> bool:
    """What belongs to the head of a module: constants, imports, a docstring."""
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        return not any(isinstance(node, ast.Call) and not is_pure(node) for node in descend(statement))
    return isinstance(statement, ast.Import | ast.ImportFrom) or _is_docstring(statement)


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) and isinstance(statement.value.value, str)


def _is_plain(statement: ast.stmt) -> bool:
    """What can be left out where nothing reads it: a constant under a name, a line in a log."""
    match statement:
        case ast.Assign(value=ast.Constant() | ast.Name() | ast.Dict() | ast.List()) | ast.AnnAssign() | ast.Pass() | ast.Global():
            return True
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.Expr(value=ast.Call(func=func)):
            text = ast.unparse(func)
            return text.startswith(("log", "self.log", "self._log")) or "stderr" in ast.unparse(statement)
    return False


def _has_long_text(statement: ast.stmt, payload: ast.expr) -> bool:
    """Whether a text of several lines, whose lines may not be moved, stands in a statement outside of its payload."""
    inside = {id(node) for node in descend(payload)}
    texts = (node for node in descend(statement) if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in inside)
    return any(node.end_lineno != node.lineno for node in texts)


def _all_leave(statement: ast.Try) -> bool:
    return all(isinstance(handler.body[-1], ast.Return | ast.Raise | ast.Continue | ast.Break) for handler in statement.handlers)
