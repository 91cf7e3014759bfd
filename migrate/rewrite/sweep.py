"""Takes away what only deleted code used: functions, classes, globals, attributes and locals that nothing mentions any more.

A name counts as used wherever it is spelled: as a name, an attribute or a string, here or in another file of the project.
What was unused before the deletion stays, and so does whatever does more than hold a value when it is assigned.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import libcst as cst

from ..facts.idle import Idle
from ..facts.mask import parse
from ..facts.routes import BASES as WEB_CLASSES
from ..source import Source, Span
from . import cut
from .edits import Edit
from .hollow import hollows
from .tree import Tree

# A statement, the dotted name of the function or class around it, and the class that holds it directly.
_Standing = tuple[ast.stmt, str, "ast.ClassDef | None"]
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_WORD = re.compile(r"[A-Za-z_]\w*")
_DYNAMIC = frozenset({"eval", "exec", "globals", "vars", "__dict__"})
# Calls that reach for something by its name.
_BY_NAME = frozenset({"getattr", "setattr", "hasattr", "delattr", "attrgetter", "methodcaller", "patch", "object"})
# Calls that make or read a value and do nothing else.
_QUIET_CALLS = frozenset(
    {"bool", "bytes", "dict", "float", "frozenset", "int", "len", "list", "max", "min", "object", "set", "sorted", "str", "tuple"}
    | {"Condition", "Counter", "Event", "Lock", "OrderedDict", "Queue", "RLock", "Semaphore", "WeakSet", "WeakValueDictionary"}
    | {
        "compile",
        "count",
        "decode",
        "defaultdict",
        "deque",
        "encode",
        "field",
        "get",
        "getLogger",
        "hex",
        "isoformat",
        "items",
        "keys",
        "lower",
        "monotonic",
        "partition",
        "split",
        "strip",
        "time",
        "upper",
        "uuid4",
        "values",
    }
)
# Bases that do nothing when a class is derived from them, beyond what a reader expects.
_QUIET_BASES = frozenset(
    {"object", "Exception", "RuntimeError", "ValueError", "BaseModel", "TypedDict", "NamedTuple", "Enum", "Protocol", "ABC"}
    | {"BaseHTTPMiddleware", "MiddlewareMixin"}
)
# What classes of web frameworks look for in a class that derives from one.
_WEB_HOOKS = frozenset(
    {"get", "post", "put", "delete", "patch", "head", "options", "dispatch", "setup", "handle", "finish", "initialize", "prepare"}
    | {"on_finish", "on_connection_close", "data_received", "set_default_headers", "write_error", "get_current_user", "compute_etag"}
    | {"log_message", "log_request", "log_error", "end_headers", "version_string", "date_time_string", "address_string", "send_error"}
    | {"protocol_version", "server_version", "sys_version", "error_message_format", "error_content_type", "timeout", "rbufsize", "wbufsize"}
    | {"SUPPORTED_METHODS", "http_method_names", "view_is_async", "methods", "decorators", "init_every_request"}
)
_Statement = cst.BaseStatement | cst.BaseSmallStatement
_DEFINITIONS = (cst.FunctionDef, cst.ClassDef, cst.Assign, cst.AnnAssign, cst.AugAssign)


def sweep(
    before: Source,
    tree: Tree,
    mentioned: Collection[str],
    formerly: Collection[str] = (),
    handed: Mapping[str, Idle] = MappingProxyType({}),
) -> Iterator[list[Edit]]:
    """For each name that the way from `before` to the tree left unused, the edits that delete it.

    `mentioned` are the names that all other files mention, `formerly` those that they did before, `handed` what does nothing
    any more in them, by its dotted name here. Deleting one name may leave others unused: call again until nothing comes.
    """
    was, now = _Mentions(before), _Mentions(tree.source)
    if was.masked or now.masked:
        return  # what newer syntax mentions cannot be seen
    unused: list[list[_Place]] = []
    for name, places in now.definitions.items():
        if name in mentioned or name in now.exported or name.startswith("__") or now.is_used(name):
            continue
        # State that deleted code kept, and nobody ever read, has lost its reason as well.
        if not was.is_used(name) and name not in formerly and len(was.definitions[name]) <= len(places):
            continue
        if all(place.may_go for place in places):
            unused.append(places)
    # Between what goes at once, no gap has to stay.
    beside = [statement for places in unused for statement in _statements(tree, places)]
    yield from (edits for places in unused if (edits := _cut(tree, places, beside)))
    yield from _locals(was, now, tree)
    yield from _settings(was, now, tree, mentioned)
    yield from hollows(before, tree, mentioned, handed)
    yield from _parameters(was, now, tree, mentioned)


def mentions(source: Source) -> frozenset[str]:
    """The names that a file may use of other files. Text is no mention unless names are looked up by it."""
    mentioned = _Mentions(source)
    if mentioned.masked:
        return frozenset(_WORD.findall(source.text))
    return frozenset(mentioned.spelled | mentioned.quoted if mentioned.dynamic or mentioned.looks_into else mentioned.spelled)


@dataclass(frozen=True)
class _Place:
    """One statement that defines or assigns a name, or declares it global."""

    node: ast.stmt
    span: Span
    may_go: bool
    name: str
    member: bool = False  # of a class or an instance, so that it is reached through an attribute


@dataclass
class _Function:
    """What one function assigns and looks up."""

    loads: set[str] = field(default_factory=set)
    stores: defaultdict[str, list[_Place]] = field(default_factory=lambda: defaultdict(list))
    declared: set[str] = field(default_factory=set)


class _Mentions:
    """Where the names of a file are defined and used."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.definitions: defaultdict[str, list[_Place]] = defaultdict(list)
        self.functions: defaultdict[str, _Function] = defaultdict(_Function)
        self.exported: set[str] = set()
        self.spelled: set[str] = set()
        self.quoted: set[str] = set()
        self._uses: defaultdict[str, list[Span]] = defaultdict(list)
        self._attributes: defaultdict[str, list[Span]] = defaultdict(list)
        self._texts: defaultdict[str, list[Span]] = defaultdict(list)  # where a text is the name and nothing else
        self._decorated: set[str] = set()
        self._prefixes: set[str] = set()
        self.looks_into = False  # objects of known classes are asked for attributes whose names are computed
        self.dynamic = False
        tree, self.masked = parse(source)
        # Docstrings, and keys with values that name no function: `{"subscribe": True}` speaks of a capability.
        self._silent = {id(body[0].value) for body in _bodies(tree) if body and isinstance(body[0], ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Dict):
                self._silent |= {id(k) for k, v in zip(node.keys, node.values, strict=True) if isinstance(v, ast.Constant | ast.Dict)}
        self._classes = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
        self._globals = {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
        self._objects = {"self", *_annotated(tree)}
        pending: list[_Standing] = [(statement, "", None) for statement in reversed(tree.body)]
        while pending:
            pending += reversed([*self._statement(*pending.pop())])
        self._read(tree)

    def is_used(self, name: str) -> bool:
        """Whether anything outside of its own definitions mentions the name."""
        places = self.definitions.get(name, ())
        own = [place.span for place in places]
        uses = self._uses.get(name, []) + (self._attributes.get(name, []) if any(place.member for place in places) else [])
        # A key of a message says nothing about what an object keeps: `{"id": ...}` and `self.id`.
        if not places or self.dynamic or not all(place.member and isinstance(place.node, ast.Assign | ast.AnnAssign) for place in places):
            uses = uses + self._texts.get(name, [])
        if name in self._decorated or any(not any(span.contains(use) for span in own) for use in uses):
            return True
        if self.looks_into and any(place.member for place in places):
            return True
        return self.dynamic and any(name.startswith(prefix) for prefix in self._prefixes)

    def _span(self, node: ast.stmt | ast.expr) -> Span:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return Span(self.source.offset(node.lineno, node.col_offset), self.source.offset(node.end_lineno, node.end_col_offset))

    def is_setting(self, keyword: str) -> bool:
        """Whether nothing mentions the name of a keyword but its one call."""
        return len(self._uses[keyword]) == 1 and not self._attributes[keyword] and not self._texts[keyword] and not self.dynamic

    def asks_for(self, name: str) -> bool:
        """Whether an object is asked for an attribute of this name."""
        return bool(self._attributes.get(name))

    # Definitions

    def _statement(self, node: ast.stmt, scope: str, holder: ast.ClassDef | None) -> Iterator[_Standing]:
        """Notes what one statement defines, and gives the statements in it; `holder` is the class that it stands in directly."""
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                may_go = not node.decorator_list and (holder is None or name.startswith("_") or self._is_own(holder, name))
                if scope == "" or holder is not None:
                    self._define(name, node, may_go=may_go, member=holder is not None)
                if node.decorator_list:
                    self._decorated.add(name)
                yield from ((statement, f"{scope}.{name}" if scope else name, None) for statement in node.body)
            case ast.ClassDef(name=name):
                if scope == "":
                    self._define(name, node, may_go=not node.decorator_list and not node.keywords and self._derives_quietly(node))
                yield from ((statement, f"{scope}.{name}" if scope else name, node) for statement in node.body)
            case ast.Assign(targets=[target], value=value):
                if isinstance(target, ast.Name) and target.id == "__all__":
                    self.exported |= {
                        part.value for part in ast.walk(value) if isinstance(part, ast.Constant) if isinstance(part.value, str)
                    }
                self._assigned(node, target, value, scope, holder)
            case ast.AnnAssign(target=target, value=annotated) | ast.AugAssign(target=target, value=annotated):
                self._assigned(node, target, annotated, scope, holder)
            case ast.Global(names=names):
                for name in names:
                    self._define(name, node, may_go=True)
                self.functions[scope].declared.update(names)
            case ast.Nonlocal(names=names):
                self.functions[scope].declared.update(names)
            case _:
                for part in ast.iter_child_nodes(node):
                    self._bound_otherwise(part, scope)
                yield from ((statement, scope, holder) for block in _blocks(node) for statement in block)

    def _define(self, name: str, node: ast.stmt, *, may_go: bool, member: bool = False) -> None:
        self.definitions[name].append(_Place(node, self._span(node), may_go, name, member))

    def _assigned(self, node: ast.stmt, target: ast.expr, value: ast.expr | None, scope: str, holder: ast.ClassDef | None) -> None:
        quiet = value is None or is_quiet(value)
        match target:
            case ast.Name(id=name) if (scope == "" and holder is None) or (
                name in self._globals and name in self.functions[scope].declared
            ):
                self._define(name, node, may_go=quiet)
            case ast.Name(id=name) if holder is not None:
                may_go = not holder.decorator_list and (not holder.bases or _is_web(holder, name))
                self._define(name, node, may_go=quiet and may_go, member=True)
            case ast.Name(id=name):
                self.functions[scope].stores[name].append(_Place(node, self._span(node), quiet, name))
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
                self._define(name, node, may_go=quiet, member=True)
            case _:
                self._bound_otherwise(target, scope)

    def _bound_otherwise(self, node: ast.AST, scope: str) -> None:
        """Names that a loop, a `with` or an unpacking assigns: no statement of theirs can go alone."""
        if isinstance(node, ast.stmt):
            return
        for part in ast.walk(node):
            if isinstance(part, ast.Name | ast.Attribute) and isinstance(part.ctx, ast.Store):
                name = part.id if isinstance(part, ast.Name) else part.attr
                if scope == "" or isinstance(part, ast.Attribute) or name in self.functions[scope].declared:
                    self.definitions[name].append(_Place(ast.Pass(), self._span(part), False, name, isinstance(part, ast.Attribute)))
                else:
                    self.functions[scope].stores[name].append(_Place(ast.Pass(), self._span(part), False, name))

    def _is_own(self, holder: ast.ClassDef, name: str) -> bool:
        """Whether nobody outside of this file can expect the class to have a method of this name."""
        return _is_web(holder, name) or all(
            isinstance(base, ast.Name) and (base.id in self._classes or base.id == "object") for base in holder.bases
        )

    def _derives_quietly(self, node: ast.ClassDef) -> bool:
        names = [base.id if isinstance(base, ast.Name) else base.attr if isinstance(base, ast.Attribute) else "" for base in node.bases]
        return all(name in _QUIET_BASES or name in self._classes for name in names)

    # Uses

    def _read(self, tree: ast.Module) -> None:
        for scope, node in _scoped(tree, ""):
            match node:
                case ast.Name(id=name, ctx=ast.Load() | ast.Del()):
                    self._use(name, node)
                    if name == "locals" and not scope:
                        self._reaches("globals")
                    parts = scope.split(".") if scope else []
                    for depth in range(1, len(parts) + 1):
                        self.functions[".".join(parts[:depth])].loads.add(name)
                case ast.Attribute(attr=name):
                    self.spelled.add(name)
                    if not isinstance(node.ctx, ast.Store):
                        self._attributes[name].append(self._span(node))
                    self._reaches(name)
                case ast.AugAssign(target=ast.Name(id=name)) if scope:
                    self.functions[scope].loads.add(name)
                case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args) if name in _BY_NAME:
                    self._by_name(args)
                case ast.Constant(value=str() as text) if id(node) not in self._silent and re.fullmatch(r"[\w.:]{1,200}", text):
                    (self.quoted if text.isidentifier() else self.spelled).update(_WORD.findall(text))
                    for word in _WORD.findall(text):
                        (self._texts if text.isidentifier() else self._uses)[word].append(self._span(node))
                case ast.keyword(arg=str() as name):
                    self._use(name, node.value)
                case ast.ImportFrom(names=names):
                    for alias in names:
                        self.spelled.add(alias.name)
                        self._uses[alias.asname or alias.name].append(self._span(node))

    def _use(self, name: str, node: ast.expr) -> None:
        self.spelled.add(name)
        self._uses[name].append(self._span(node))
        self._reaches(name)

    def _reaches(self, name: str) -> None:
        if name in _DYNAMIC:
            self.dynamic = True
            self._prefixes.add("")

    def _by_name(self, args: Sequence[ast.expr]) -> None:
        """getattr and its like: what they name is used, and what they compute may be any name that begins so."""
        for key in args[:2]:
            texts = {part.value for part in ast.walk(key) if isinstance(part, ast.Constant) if isinstance(part.value, str)}
            self.spelled |= texts
            for text in texts:
                self._attributes[text].append(self._span(key))
            if key is args[1 if len(args) > 1 else 0] and not isinstance(key, ast.Constant):
                if not texts and isinstance(args[0], ast.Name) and args[0].id in self._objects:
                    self.looks_into = True  # no module, so only members are reached
                    continue
                self.dynamic = True
                self._prefixes |= texts or {""}


def _is_web(holder: ast.ClassDef, name: str) -> bool:
    """Whether a class derives from nothing but a web framework's, which does not look for this name."""
    named = [base.id if isinstance(base, ast.Name) else base.attr if isinstance(base, ast.Attribute) else "" for base in holder.bases]
    return bool(named) and all(base.endswith(WEB_CLASSES) for base in named) and name not in _WEB_HOOKS and not name.startswith("do_")


def is_quiet(node: ast.expr) -> bool:
    """Whether evaluating an expression does nothing that anyone could miss."""
    for part in ast.walk(node):
        match part:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
                if name not in _QUIET_CALLS:
                    return False
            case ast.Call() | ast.Await() | ast.Yield() | ast.YieldFrom() | ast.NamedExpr():
                return False
    return True


def _locals(was: _Mentions, now: _Mentions, tree: Tree) -> Iterator[list[Edit]]:
    for scope, function in now.functions.items():
        if scope == "" or "locals" in function.loads or "eval" in function.loads:
            continue
        for name, places in function.stores.items():
            if name in function.loads or name in function.declared or name not in was.functions[scope].loads:
                continue
            if all(place.may_go for place in places) and (edits := _cut(tree, places)):
                yield edits


def _settings(was: _Mentions, now: _Mentions, tree: Tree, mentioned: Collection[str]) -> Iterator[list[Edit]]:
    """`settings.configure(SESSION_SECONDS=1800)`: settings that only deleted code has read."""
    for call in tree.walk(tree.module) if ".configure(" in tree.source.text else ():
        if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute) or call.func.attr.value != "configure":
            continue
        for at, argument in enumerate(call.args):
            name = argument.keyword.value if argument.keyword is not None else ""
            lost = name.isupper() and name not in mentioned and was.asks_for(name) and now.is_setting(name)
            if lost and is_quiet(ast.parse(f"({tree.text(argument.value)})", mode="eval").body):
                yield list(cut.argument(tree, call, at))


def _parameters(was: _Mentions, now: _Mentions, tree: Tree, mentioned: Collection[str]) -> Iterator[list[Edit]]:
    """Parameters that deleted code was the last to use, with their arguments, where every call of the function is known."""
    for name, places in now.definitions.items():
        function = places[0].node
        if len(places) > 1 or not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) or not places[0].may_go:
            continue
        if name in mentioned or name in now.exported or name.startswith("__") or now.dynamic or name in now.quoted:
            continue
        if now.looks_into and places[0].member:
            continue
        scope = next((s for s in now.functions if s == name or s.endswith(f".{name}")), name)
        loads = {part.id for statement in function.body for part in ast.walk(statement) if isinstance(part, ast.Name)}
        for parameter in [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]:
            lost = parameter.arg not in loads and parameter.arg in was.functions[scope].loads and parameter.arg not in ("self", "cls")
            if lost and (edits := _without_parameter(tree, function, places[0], parameter.arg)):
                yield edits


def _without_parameter(tree: Tree, function: ast.FunctionDef | ast.AsyncFunctionDef, place: _Place, parameter: str) -> list[Edit]:
    head = next((n for n in _statements(tree, [place]) if isinstance(n, cst.FunctionDef)), None)
    edits = list(cut.parameter(tree, head, parameter)) if head is not None else []
    names = [arg.arg for arg in [*function.args.posonlyargs, *function.args.args]]
    position = names.index(parameter) - place.member if parameter in names else None
    calls = 0
    for node in tree.walk(tree.module) if edits else ():
        if isinstance(node, cst.Name) and node.value == function.name and node is not (head.name if head else None):
            call = _call_of(tree, node)
            taken = _without_argument(tree, call, parameter, position) if call is not None else None
            if taken is None:
                return []
            edits += taken
            calls += 1
    return edits if calls else []  # what nobody calls here, others may


def _call_of(tree: Tree, name: cst.Name) -> cst.Call | None:
    """The call of a function where it is named: `reply(...)`, `self.reply(...)`."""
    called: cst.CSTNode = name
    above = tree.parent(called)
    if (
        isinstance(above, cst.Attribute)
        and above.attr is name
        and isinstance(above.value, cst.Name)
        and above.value.value in ("self", "cls")
    ):
        called, above = above, tree.parent(above)
    return above if isinstance(above, cst.Call) and above.func is called else None


def _without_argument(tree: Tree, call: cst.Call, parameter: str, position: int | None) -> list[Edit] | None:
    """The edits that take one argument from a call; None where that is not sure, or where its value does something."""
    if any(argument.star for argument in call.args):
        return None
    given = next((at for at, a in enumerate(call.args) if a.keyword is not None and a.keyword.value == parameter), None)
    if given is None and position is not None and position < len(call.args) and call.args[position].keyword is None:
        given = position
    if given is None:
        return []
    value = ast.parse(f"({tree.text(call.args[given].value)})", mode="eval").body
    return list(cut.argument(tree, call, given)) if is_quiet(value) else None


def _cut(tree: Tree, places: Sequence[_Place], beside: Sequence[_Statement] = ()) -> list[Edit]:
    """The edits that delete all places of a name; none if one of them cannot be found in the tree, as the others need it."""
    edits: list[Edit] = []
    for place in places:
        if (declaration := _shared_global(tree, place)) is not None:
            names = [item.name.value for item in declaration.names]
            edits += cut.item(tree, declaration.names, names.index(place.name))
    whole = list(_statements(tree, places))
    if len(whole) + sum(_shared_global(tree, place) is not None for place in places) < len(places):
        return []
    return [*edits, *cut.statements(tree, whole, beside)]


def _shared_global(tree: Tree, place: _Place) -> cst.Global | None:
    """The `global` that declares other names as well."""
    declaration = tree.node(cst.Global, place.span)
    return declaration if declaration is not None and len(declaration.names) > 1 else None


def _statements(tree: Tree, places: Sequence[_Place]) -> Iterator[_Statement]:
    """The statements that define a name or give it a value and do nothing else, as far as they can be found in the tree."""
    for place in places:
        if _shared_global(tree, place) is None:
            found = (tree.node(kind, place.span) for kind in (cst.Global, *_DEFINITIONS))
            node = next((node for node in found if isinstance(node, _Statement)), None)
            if node is not None:
                yield node


def _annotated(tree: ast.Module) -> Iterator[str]:
    """Parameters that are annotated with a class of the file."""
    classes = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and isinstance(node.annotation, ast.Name) and node.annotation.id in classes:
            yield node.arg


def _blocks(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        if isinstance(block := getattr(node, name, None), list):
            yield block
    for inner in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield inner.body


def _bodies(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    yield tree.body
    for node in ast.walk(tree):
        if isinstance(node, _Definition):
            yield node.body


def _scoped(node: ast.AST, scope: str) -> Iterator[tuple[str, ast.AST]]:
    """Every node with the dotted name of the function or class around it."""
    pending = [(scope, part) for part in reversed([*ast.iter_child_nodes(node)])]
    while pending:
        scope, node = pending.pop()
        yield scope, node
        inner = ".".join(filter(None, (scope, node.name))) if isinstance(node, _Definition) else scope
        pending += ((inner, part) for part in reversed([*ast.iter_child_nodes(node)]))
