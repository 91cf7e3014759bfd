"""What an expression stands for: names through scopes and imports, calls through results, containers through their items.

Nothing is guessed: None means that it is not known. What a name is given is looked for backwards from its use, so that a
name with several lives has the type of the one in hand.
"""

from __future__ import annotations

import ast
import heapq
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from ..facts.gates import HANDLER_MODULE, SESSION_MODULE
from ..facts.syntax import FIELDS, children
from .api import Api
from .modules import COMPREHENSIONS, Binding, Def, How, Module, Scope, dotted, looped, spelled
from .standing import MOCK, PLACES, STAND_INS, WORDS, Standing, is_patch
from .types import ADAPTER, NONE, OWN, ClassOf, Either, Function, Instance, Known, ModuleOf, either, is_open, members

_MAX_DEPTH = 40
_UNCUT = 1_000_000
# What may be asked for one answer, before what has none so far is left at that: functions that all call each other lead back to each
# other in every order, and seven of them took 160,000 questions.
_MOST_ASKED = 5_000
_SPELLED = (ast.Name, ast.Attribute, ast.Subscript)
_ITERATES = frozenset({"list", "set", "frozenset", "sorted", "reversed", "iter", "tuple", "filter", "deque"})
_GIVING = _ITERATES | {"next", "enumerate", "zip", "cast", "getattr", "super"}
_STREAM = "Stream"  # of anyio: what is sent into its one end comes out of the other
_CONTAINERS = frozenset({"list", "set", "frozenset", "tuple", "Iterable", "AsyncIterable", "deque", _STREAM})
_GENERIC = {
    "List": "list",
    "Sequence": "list",
    "Iterable": "list",
    "Collection": "list",
    "MutableSequence": "list",
    "Iterator": "list",
    "Set": "list",
    "FrozenSet": "list",
    "set": "list",
    "frozenset": "list",
    "list": "list",
    "Dict": "dict",
    "Mapping": "dict",
    "MutableMapping": "dict",
    "DefaultDict": "dict",
    "defaultdict": "dict",
    "OrderedDict": "dict",
    "dict": "dict",
    "Tuple": "tuple",
    "tuple": "tuple",
    "Awaitable": "Awaitable",
    "AsyncIterator": "AsyncIterable",
    "AsyncGenerator": "AsyncIterable",
    "AsyncIterable": "AsyncIterable",
    "Generator": "list",
    "ContextVar": "ContextVar",
    **dict.fromkeys(
        ("MemoryObjectReceiveStream", "MemoryObjectSendStream", "ObjectReceiveStream", "ObjectSendStream", "ObjectStream"), _STREAM
    ),
}
_BUILTINS = frozenset({"str", "int", "float", "bool", "bytes", "dict", "list", "tuple", "set", "object", "None"})
_SERVER = "mcp.server.lowlevel.server.Server"
_TABLE = Instance(f"{_SERVER}.request_handlers")  # its functions are known by the class of requests that they answer
_RESPONDERS = ("mcp.shared.session.RequestResponder", f"{SESSION_MODULE}{OWN}RequestResponder")
_CONTEXT = "mcp.shared.context.RequestContext"
# Classes of pydantic that the SDK's own are made with; where they are imported from, and where they are defined.
_PYDANTIC: Mapping[str, str] = {
    **{f"pydantic.{name}": f"pydantic.networks.{name}" for name in ("AnyUrl", "FileUrl", "AnyHttpUrl", "HttpUrl")},
    **{f"pydantic.networks.{name}": f"pydantic.networks.{name}" for name in ("AnyUrl", "FileUrl", "AnyHttpUrl", "HttpUrl")},
    "pydantic.BaseModel": "pydantic.main.BaseModel",
    "pydantic.main.BaseModel": "pydantic.main.BaseModel",
    "pydantic.TypeAdapter": ADAPTER,
    "pydantic.type_adapter.TypeAdapter": ADAPTER,
}
_ADAPTERS: Mapping[str, str] = {
    "mcp.types.jsonrpc_message_adapter": "mcp.types.JSONRPCMessage",
    **{
        f"mcp.types.{side.lower()}_{kind.lower()}_adapter": f"mcp.types.{side}{kind}"
        for side in ("Client", "Server")
        for kind in ("Request", "Notification", "Result")
    },
}
_FIRST_WAITS = frozenset({"wait_for", "shield", "ensure_future", "create_task", "wait"})
_RUNS = frozenset({"run", "run_until_complete"})
# What v1 handed to functions that its decorators took, by decorator and position.
_MIDDLEWARE, _MESSAGE = "fastmcp.server.middleware.Middleware", "fastmcp.server.middleware.MiddlewareContext"
# What the context of a hook of fastmcp's middleware holds, whose annotation mostly does not say so.
_HOOKS: Mapping[str, str] = {"on_initialize": "mcp.types.InitializeRequest"}
_HANDED: Mapping[str, tuple[str, ...]] = {
    "mcp.server.lowlevel.server.Server.call_tool": ("str", "dict"),
    "mcp.server.lowlevel.server.Server.get_prompt": ("str", "dict"),
    "mcp.server.lowlevel.server.Server.completion": (
        "",
        "mcp.types.CompletionArgument",
        "mcp.types.CompletionContext",
    ),
    "mcp.server.lowlevel.server.Server.read_resource": ("pydantic.networks.AnyUrl",),
    "mcp.server.lowlevel.server.Server.subscribe_resource": ("pydantic.networks.AnyUrl",),
    "mcp.server.lowlevel.server.Server.unsubscribe_resource": ("pydantic.networks.AnyUrl",),
}


class World(Protocol):
    """The other modules of the project."""

    api: Api

    def locate(self, dotted: str, importer: Module) -> tuple[Module, str] | None:
        """The project's own module that a dotted name leads into, and the rest of the name."""

    def hands_on(self, dotted: str, importer: str) -> bool:
        """Whether a name that a file (a path) imports is the project's own for something of the packages."""

    def is_shadowed(self, importer: Module, root: str = "mcp") -> bool:
        """Whether `mcp`, or another package, is one of the project's own for this file."""

    def module_at(self, path: str) -> Module:
        """A module by its path."""

    def is_shared(self, name: str, module: Module) -> bool:
        """Whether another file may take a name from a module."""

    def callers(self, name: str) -> Iterator[tuple[Module, ast.Call]]:
        """All calls of the project by the last part of what is called."""

    def newer_in(self, module: Module) -> frozenset[ast.AST]:
        """The imports whose names are looked at as what another branch of their guard imports, from the older release."""


class Givings:
    """What one name is given in one scope, by where that is: each of its uses asks what comes before it."""

    def __init__(self, name: str, scope: Scope, module: Module) -> None:
        self.module = module
        self.by_statement: dict[ast.AST, list[Binding]] = {}
        self.by_node: dict[ast.AST, list[Binding]] = {}
        bindings = scope.bindings[name]
        for binding in bindings:
            self.by_statement.setdefault(module.statement(binding.node) or binding.node, []).append(binding)
            self.by_node.setdefault(binding.node, []).append(binding)
        self.parameters = [binding for binding in bindings if binding.how is How.PARAMETER]
        self.inside: dict[ast.AST, list[Binding]] = {}
        """What statements give, and the nodes around them."""
        for statement, given in self.by_statement.items():
            for above in (statement, *module.around(statement)):
                self.inside.setdefault(above, []).extend(given)
        self._blocks: dict[int, list[int]] = {}  # by the block, where in it something is given
        for above in self.inside:
            place = module.place(above)
            if place is not None:
                self._blocks.setdefault(id(place[0]), []).append(place[1])
        for places in self._blocks.values():
            places.sort()
        self._definite: dict[ast.AST, bool] = {}

    def before(self, statement: ast.AST) -> Iterator[ast.AST]:
        """The statements of the same block in which something is given, from the nearest before this one upwards."""
        place = self.module.place(statement)
        if place is not None:
            block, number = place
            yield from (block[at] for at in _upwards(self._blocks.get(id(block), []), number))

    def is_in_body(self, statement: ast.AST, above: ast.For | ast.AsyncFor | ast.While) -> bool:
        place = self.module.place(statement)
        return place is not None and place[0] is above.body

    def is_definite(self, statement: ast.AST) -> bool:
        """Whether a statement surely gives the name something."""
        if statement not in self._definite:
            self._definite[statement] = self._is_definite(statement)
        return self._definite[statement]

    def _is_definite(self, statement: ast.AST) -> bool:
        own = bool(self.by_statement.get(statement))
        match statement:
            case ast.For() | ast.AsyncFor() | ast.While() | ast.If() | ast.Match():
                return False
            case ast.With(body=body) | ast.AsyncWith(body=body):
                return own or any(inner in self.inside and self.is_definite(inner) for inner in body)
            case ast.Try(body=body, handlers=handlers):
                given = any(inner in self.inside and self.is_definite(inner) for inner in body)
                return given and all(_leaves_block(handler.body) for handler in handlers)
        return own


class Steps:
    """The statements of a block by what they test and what they give something new: each use of a tested value asks for those before."""

    def __init__(self, block: Sequence[ast.AST]) -> None:
        self.stores: dict[str, dict[int, None]] = {}  # in order
        self._all: dict[str, list[int]] = {}
        for number, statement in enumerate(block):
            tested = [statement.test] if isinstance(statement, ast.Assert | ast.If) else []
            texts = {spelled(node) for test in tested for node in ast.walk(test) if isinstance(node, _SPELLED)}
            for node in ast.walk(statement):
                if isinstance(node, _SPELLED) and isinstance(node.ctx, ast.Store):
                    texts.add(text := spelled(node))
                    self.stores.setdefault(text, {})[number] = None
            for text in texts:
                self._all.setdefault(text, []).append(number)

    def before(self, number: int, *texts: str) -> Iterator[int]:
        """The places of those before one that speak of something, from the nearest upwards."""
        yield from heapq.merge(*(_upwards(self._all.get(text, []), number) for text in dict.fromkeys(texts)), reverse=True)


class Inference:
    """Types of expressions, each found once."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.api = world.api
        self.standing = Standing(self)
        self._known: dict[ast.AST, Known | None] = {}
        self._busy: dict[object, int] = {}  # the questions that are open, each with how many there were before it
        self._cut = _UNCUT  # the least of these that an answer has come back to: it may be none for the want of that one's
        self._givings: dict[tuple[Scope, str], Givings] = {}
        self._fixtures: dict[int, dict[str, Def]] = {}
        self._steps: dict[int, Steps] = {}  # by the block, which its module holds
        self._depth = 0
        self._questions = 0  # since nothing was open
        self._given_up: set[ast.AST] = set()

    def type(self, node: ast.expr, module: Module) -> Known | None:
        """What an expression stands for."""
        if node in self._known:
            return self._known[node]
        if self._depth > _MAX_DEPTH:
            self.cut()
            return None
        if self._is_open(node):
            return None
        if node in self._given_up:
            self.cut()
            return None
        self._questions += 1
        before, self._cut = self._cut, _UNCUT
        at = self._busy[node] = len(self._busy)
        self._depth += 1
        found: Known | None = None
        try:
            found = self._narrowed(node, module)
            found = self._type(node, module) if found is None else self._nearer(found, node, module)
        finally:
            del self._busy[node]
            self._depth -= 1
            # Whoever comes back to this question, or to one inside of it, is answered as if it had been asked first.
            is_whole, self._cut = self._cut >= at, min(before, self._cut) if self._cut < at else before
            if not self._busy:
                self._questions = 0
                self._given_up.clear()
        if found is not None or is_whole or not self._busy:
            self._known[node] = found
        elif self._questions > _MOST_ASKED:
            self._given_up.add(node)
        return found

    def _is_open(self, question: object) -> bool:
        """Whether a question is being answered, so that its answer cannot be waited for."""
        if question not in self._busy:
            return False
        self._cut = min(self._cut, self._busy[question])
        return True

    def cut(self) -> None:
        """Notes that an answer would be another one if less were asked at once."""
        self._cut = -1

    # -- expressions -----------------------------------------------------------
    def _type(self, node: ast.expr, module: Module) -> Known | None:
        match node:
            case ast.Name():
                return self._name(node, module)
            case ast.Attribute(value=value, attr=attr):
                above = self.type(value, module)
                known = self._attribute(above, attr) if above is not None else self._submodule(node, module)
                return self._replacement(node, module) if _is_own_method(known) and attr in module.replaced else known
            case ast.Call():
                return self._call(node, module)
            case ast.Await(value=value):
                return self._waited(self.type(value, module))
            case ast.Subscript():
                return self._subscript(node, module)
            case ast.Constant(value=value):
                return NONE if value is None else Instance(type(value).__name__)
            case ast.JoinedStr():
                return Instance("str")
            case ast.Tuple(elts=elements):
                return Instance("tuple", tuple(self.type(element, module) for element in elements))
            case ast.List(elts=elements) | ast.Set(elts=elements):
                return Instance("list", (either(self._elements(elements, module)),) if elements else ())
            case ast.Dict(values=values):
                return Instance("dict", (Instance("str"), either(self.type(value, module) for value in values)) if values else ())
            case ast.ListComp(elt=element) | ast.SetComp(elt=element) | ast.GeneratorExp(elt=element):
                return Instance("list", (self.type(element, module),))
            case ast.DictComp(value=value):
                return Instance("dict", (None, self.type(value, module)))
            case ast.IfExp(body=body, orelse=orelse):
                return either([self.type(body, module), self.type(orelse, module)])
            case ast.BoolOp(values=values):
                # `self.x = self.x or y` gives it nothing but `y`.
                found = [self.type(value, module) for value in values if not is_itself(value, module)]
                # `x or []`, `x and x.y`: an empty container and a plain test add nothing to what the others are.
                if isinstance(node.op, ast.And):
                    return found[-1]
                return (
                    either(item for item in found if not (isinstance(item, Instance) and item.name in ("list", "dict") and not item.args))
                    or found[-1]
                )
            case ast.NamedExpr(value=value) | ast.Starred(value=value):
                return self.type(value, module)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                one, other = self.type(left, module), self.type(right, module)
                return one if one == other else either([one, other]) if isinstance(one, Instance) and one.name == "list" else one
            case ast.Compare():
                return Instance("bool")
        return None

    def _submodule(self, node: ast.Attribute, module: Module) -> Known | None:
        """`a.b` after `import a.b`, where nothing is known of `a`: a package without code of interest is no part of the run."""
        if not module.submodules:
            return None
        text = dotted(node)
        if text not in module.submodules:
            return None
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        bindings = self.bindings(root.id, root, module) if isinstance(root, ast.Name) else ()
        if not bindings or any(binding.how is not How.IMPORTED or binding.target != text.partition(".")[0] for binding in bindings):
            return None
        found = self.world.locate(text, module)
        return ModuleOf(f"{found[0].path}{OWN}") if found is not None and not found[1] else None

    def _replacement(self, node: ast.Attribute, module: Module) -> Known | None:
        """A method that this file gives to objects from outside: `agent.ask = AsyncMock(...)` is not what the class says."""
        text, scope = dotted(node), module.scope(node)
        given = module.replaced[node.attr]
        if not text or any(other != text or module.scope(at) is not scope for at, other, _ in given):
            return None
        return either(self.type(value, module) if value is not None else None for _, _, value in given)

    def _elements(self, elements: Iterable[ast.expr], module: Module) -> Iterator[Known | None]:
        for element in elements:
            found = self.type(element, module)
            yield self._item(found) if isinstance(element, ast.Starred) else found

    def _waited(self, known: Known | None) -> Known | None:
        return self._each(known, lambda one: one.args[0] if isinstance(one, Instance) and one.name == "Awaitable" and one.args else None)

    def _each(self, known: Known | None, step: object) -> Known | None:
        found = [step(one) for one in members(known)]  # type: ignore[operator]
        return either([*found, None] if is_open(known) else found) if found else None

    def _item(self, known: Known | None) -> Known | None:
        """What iterating over something gives."""

        def one(thing: Known) -> Known | None:
            if isinstance(thing, Instance) and thing.name == "tuple" and thing.args:
                return either(thing.args)
            if isinstance(thing, Instance) and thing.name in (*_CONTAINERS, "dict") and thing.args:
                return thing.args[0]
            return None

        return self._each(known, one)

    def _subscript(self, node: ast.Subscript, module: Module) -> Known | None:
        base = self.type(node.value, module)
        index = node.slice

        def one(thing: Known) -> Known | None:
            if thing == _TABLE:
                asked = self.type(index, module) if not isinstance(index, ast.Slice) else None
                return Function(f"{_TABLE.name}.{asked.name}") if isinstance(asked, ClassOf) else None
            if isinstance(thing, ClassOf):
                items = index.elts if isinstance(index, ast.Tuple) else [index]
                return ClassOf(thing.name, tuple(self.annotated(item, module) for item in items))
            if not isinstance(thing, Instance) or not thing.args:
                return None
            if isinstance(index, ast.Slice):
                return thing
            if thing.name in (PLACES, WORDS):
                return self.standing.given(thing, index)
            if thing.name == "tuple":
                place = index.value if isinstance(index, ast.Constant) and isinstance(index.value, int) else None
                match index:
                    case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(back))):
                        place = -back
                return thing.args[place] if place is not None and -len(thing.args) <= place < len(thing.args) else None
            return thing.args[-1] if thing.name in ("list", "dict") else None

        return self._each(base, one)

    def _call(self, node: ast.Call, module: Module) -> Known | None:
        func = node.func
        if isinstance(func, ast.Name) and func.id in _GIVING and not self.bindings(func.id, func, module):
            return self._builtin(func.id, node, module)
        if isinstance(func, ast.Subscript) and _last(func.value) == "create_memory_object_stream":
            return Instance("tuple", (self._stream(func.slice, module),) * 2)
        callee = self.type(func, module)
        if callee is None:
            return self._known_call(node, module)
        return self._each(callee, lambda one: self._result(one, node, module))

    def _known_call(self, node: ast.Call, module: Module) -> Known | None:
        """Functions of the standard library that hand on what they are given."""
        func = node.func
        name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
        if name in STAND_INS:
            return self._mocked(node, module)
        first = node.args[0] if node.args else None
        if first is None:
            return None
        if is_patch(node):
            mock = self.standing.entered(node, module)
            # That of pytest-mock holds until the test ends.
            return mock if mock is None or dotted(func).startswith("mocker.") else Instance("Context", (mock,))
        if name == "enter_async_context":
            entered = self.entered(self.type(first, module))
            return Instance("Awaitable", (entered,)) if entered is not None else None
        if name == "enter_context":
            return self.entered(self.type(first, module))
        if name == "import_module" and isinstance(first, ast.Constant) and isinstance(first.value, str):
            return self._imported(first.value, module) if len(node.args) == 1 else None
        if name in _FIRST_WAITS:
            inner = self.type(first, module)
            return inner if isinstance(inner, Instance) and inner.name == "Awaitable" else None
        if name in _RUNS:
            inner = self.type(first, module)
            if isinstance(inner, Function):  # anyio.run(main)
                inner = self._result(inner, None, module)
            return self._waited(inner)
        if name == "raises" and isinstance(func, ast.Attribute | ast.Name):
            caught = self._raised(first, module)
            return Instance("Context", (Instance("ExceptionInfo", (caught,)),)) if caught is not None else None
        if name == "gather" and isinstance(first, ast.Starred):
            item = self._item(self.type(first.value, module))
            return Instance("Awaitable", (Instance("list", (self._waited(item),)),)) if item is not None else None
        if name == "gather":
            waited = [self._waited(self.type(argument, module)) for argument in node.args if not isinstance(argument, ast.Starred)]
            return Instance("Awaitable", (Instance("tuple", tuple(waited)),)) if any(waited) else None
        if name in ("deepcopy", "copy"):
            return self.type(first, module)
        if name == "cast" and len(node.args) > 1:
            return self.annotated(first, module)
        return None

    def _mocked(self, node: ast.Call, module: Module) -> Known | None:
        """What a mock stands for: the class that it is made after, or the one that all functions which it is handed to ask for."""
        known = self._made_after(node, module)
        if known is not None:
            return known
        goes = self.standing.value(node, module)
        if isinstance(goes, Function):
            given = next((self.type(word.value, module) for word in node.keywords if word.arg == "return_value"), None)
            return Instance(MOCK, (goes, Instance("Awaitable", (given,)) if _last(node) == "AsyncMock" else given))
        if goes is not None and all(isinstance(one, Instance) and self.api.is_class(one.name) for one in members(goes)):
            return goes
        name = _named_by(node, module)
        inside = module.scope(node).node
        if not name or not isinstance(inside, Def):
            return None
        asked: list[Known | None] = []
        for call in _own_nodes(inside):
            if not isinstance(call, ast.Call):
                continue
            places: list[tuple[int | str, ast.expr]] = [*enumerate(call.args)]
            places += [(word.arg, word.value) for word in call.keywords if word.arg]
            for place, value in places:
                if isinstance(value, ast.Name) and value.id == name:
                    asked += [self._asked(one, place, call) for one in members(self.type(call.func, module))] or [None]
        known = either(asked) if asked else None
        return known if known is not None and all(isinstance(one, Instance) and OWN not in one.name for one in members(known)) else None

    def _made_after(self, node: ast.Call, module: Module) -> Known | None:
        """The class that a mock is made after."""
        spec = next((word.value for word in node.keywords if word.arg in ("spec", "spec_set")), node.args[0] if node.args else None)
        known = self.type(spec, module) if spec is not None else None
        return Instance(known.name) if isinstance(known, ClassOf) else None

    def _is_blank(self, node: ast.expr, module: Module) -> bool:
        """Whether this is a mock that is made after no class: it tells nothing of what a function is handed elsewhere."""
        if isinstance(node, ast.Name):
            bindings = self.bindings(node.id, node, module)
            return bool(bindings) and all(one.value is not None and not one.path and self._is_mock(one.value, module) for one in bindings)
        return self._is_mock(node, module)

    def _is_mock(self, node: ast.expr, module: Module) -> bool:
        return isinstance(node, ast.Call) and _last(node) in STAND_INS and self._made_after(node, module) is None

    def declared(self, call: ast.Call, place: int | str, module: Module) -> Known | None:
        """The type that functions of the project declare for an argument of a call, by its position or its name."""
        return either(self._asked(one, place, call) for one in members(self.type(call.func, module)))

    def _asked(self, callee: Known, place: int | str, call: ast.Call) -> Known | None:
        return None if any(isinstance(one, ast.Starred) for one in call.args) else self.asked(callee, place)

    def asked(self, callee: Known, place: int | str) -> Known | None:
        """The type that a function of the project declares for one of its arguments, or is handed."""
        found = self._parameter_of(callee, place)
        if found is None:
            return None
        node, parameter, module = found
        return self.declares(callee, place) if parameter.annotation is not None else self._passed(node, parameter.arg, module)

    def declares(self, callee: Known, place: int | str) -> Known | None:
        """The type that a function of the project declares for one of its arguments."""
        found = self._parameter_of(callee, place)
        return self.annotated(found[1].annotation, found[2]) if found is not None else None

    def _parameter_of(self, callee: Known, place: int | str) -> tuple[Def, ast.arg, Module] | None:
        if not isinstance(callee, Function) or OWN not in callee.name:
            return None
        path, _, name = callee.name.partition(OWN)
        module = self.world.module_at(path)
        node = module.defined.get(name)
        if not isinstance(node, Def):
            return None
        arguments = [*node.args.posonlyargs, *node.args.args]
        if isinstance(module.parents.get(node), ast.ClassDef) and not _is_static(node):
            arguments = arguments[1:]
        if isinstance(place, int):
            parameter = arguments[place] if place < len(arguments) else None
        else:
            parameter = next((one for one in (*arguments, *node.args.kwonlyargs) if one.arg == place), None)
        return (node, parameter, module) if parameter is not None else None

    def _stream(self, item: ast.expr, module: Module) -> Instance:
        """A stream of what an annotation says; an error that comes instead of a message has nothing that is asked of messages."""
        known = self.annotated(item, module)
        return Instance(_STREAM, (either(members(known)) if known is not None else None,))

    def _builtin(self, name: str, node: ast.Call, module: Module) -> Known | None:
        first = self.type(node.args[0], module) if node.args else None
        if name == "next":
            return either([self._item(first), *(self.type(argument, module) for argument in node.args[1:])])
        if name == "enumerate":
            return Instance("list", (Instance("tuple", (Instance("int"), self._item(first))),))
        if name == "zip":
            return Instance("list", (Instance("tuple", tuple(self._item(self.type(argument, module)) for argument in node.args)),))
        if name == "filter":
            return Instance("list", (self._item(self.type(node.args[1], module)),)) if len(node.args) > 1 else None
        if name == "cast":
            return self.annotated(node.args[0], module) if node.args else None
        if name == "getattr":
            key = node.args[1] if len(node.args) > 1 else None
            return self._attribute(first, key.value) if isinstance(key, ast.Constant) and isinstance(key.value, str) else None
        if name == "super":
            scope = module.scope(node)
            owner = next((above for above in module.around(scope.node) if isinstance(above, ast.ClassDef)), None)
            bases = [base for base in (self.type(base, module) for base in (owner.bases if owner else ())) if isinstance(base, ClassOf)]
            return Instance(bases[0].name) if bases else None
        item = self._item(first)
        return Instance("list", (item,) if item is not None else ())

    def result(self, function: Function) -> Known | None:
        """What a call of a function gives, whatever it is given."""
        return self._own_result(function) if OWN in function.name else self.api.returned(function.name)

    def _result(self, callee: Known, node: ast.Call | None, module: Module) -> Known | None:
        """What a call gives."""
        if isinstance(callee, ClassOf):
            if callee.name == ADAPTER and not callee.args and node is not None and node.args:
                return Instance(ADAPTER, (self.annotated(node.args[0], module),))
            return Instance(callee.name, callee.args)
        if not isinstance(callee, Function):
            if isinstance(callee, Instance) and callee.name == MOCK:
                return callee.args[1]
            if isinstance(callee, Instance):
                method = self._attribute(callee, "__call__")
                return self._result(method, node, module) if isinstance(method, Function) else None
            return None
        if OWN in callee.name:
            return self._own_result(callee)
        bound = callee.bound
        if isinstance(bound, Instance) and bound.name == WORDS:
            return (
                self.standing.given(bound, node.args[0])
                if callee.name.endswith((".get", ".pop")) and node is not None and node.args
                else None
            )
        if isinstance(bound, Instance) and bound.name in ("list", "dict", "tuple", "ContextVar", _STREAM):
            return self._container_result(bound, callee.name.rpartition(".")[2], node, module)
        if callee.name.startswith(f"{_TABLE.name}."):
            answer = Instance(callee.name.removeprefix(f"{_TABLE.name}.").removesuffix("Request") + "Result")
            return Instance("Awaitable", (Instance("mcp.types.ServerResult", (answer,)),)) if self.api.is_class(answer.name) else None
        name = callee.name.rpartition(".")[2]
        if isinstance(bound, Instance) and bound.name == ADAPTER:
            return bound.args[0] if bound.args and name in ("validate_python", "validate_json") else None
        if name in ("model_validate", "model_validate_json", "model_construct", "parse_obj", "parse_raw") and isinstance(bound, ClassOf):
            return Instance(bound.name)
        if name in ("model_copy", "copy") and isinstance(bound, Instance):
            return bound
        if name in ("model_dump", "dict"):
            return Instance("dict")
        returned = self.api.returned(callee.name)
        if name == "send_request" and node is not None and len(node.args) > 1:
            asked = self.type(node.args[1], module)
            return Instance("Awaitable", (Instance(asked.name),)) if isinstance(asked, ClassOf) else returned
        return returned

    def _container_result(self, bound: Instance, name: str, node: ast.Call | None, module: Module) -> Known | None:
        args = bound.args
        if bound.name == "dict":
            key, value = (*args, None, None)[:2]
            match name:
                case "get" | "pop" | "setdefault":
                    default = [self.type(argument, module) for argument in node.args[1:2]] if node is not None else []
                    return either([value, *(item for item in default if item is not None)])
                case "values":
                    return Instance("list", (value,))
                case "keys":
                    return Instance("list", (key,))
                case "items":
                    return Instance("list", (Instance("tuple", (key, value)),))
                case "popitem":
                    return Instance("tuple", (key, value))
                case "copy":
                    return bound
        elif bound.name == "ContextVar":
            return args[0] if name == "get" and args else None
        elif bound.name == _STREAM:
            item = self._item(bound)
            match name:
                case "receive" | "__anext__":
                    return Instance("Awaitable", (item,))
                case "receive_nowait":
                    return item
                case "clone":
                    return bound
        elif name in ("pop", "popleft"):
            return self._item(bound)
        elif name == "copy":
            return bound
        return None

    # -- attributes ------------------------------------------------------------
    def _attribute(self, known: Known | None, attr: str) -> Known | None:
        return self._each(known, lambda one: self.attribute(one, attr))

    def attribute(self, one: Known, attr: str) -> Known | None:
        """What an attribute of one known thing is."""
        match one:
            case ModuleOf(name=name) if OWN in name:
                return self._of_module(self.world.module_at(name.partition(OWN)[0]), attr)
            case ModuleOf(name=name):
                return self.symbol(name, attr)
            case Instance(name=name, args=[Instance() as request, *_]) if attr == "request" and name.endswith(_RESPONDERS):
                return request
            case Instance(name=name) | ClassOf(name=name) if OWN in name:
                return self._of_class(name, attr, one)
            case ClassOf(name=name):
                inner = self.api.nested(name, attr)
                if inner is not None:
                    return ClassOf(inner)
                return Function(f"{name}.{attr}", one)
            case Instance(name=name) if name == ADAPTER:
                return Function(f"{ADAPTER}.{attr}", one)
            case Instance(name="ExceptionInfo", args=(inside,)):
                return inside if attr == "value" else None
            case Instance(name=name) if name == MOCK:
                return self.standing.recorded(one, attr)
            case Instance(name="tuple", args=[Instance(name=name) as places, words]) if name == PLACES and attr in ("args", "kwargs"):
                return places if attr == "args" else words
            case Instance(name=name) if name in ("list", "dict", "tuple", "str", "ContextVar", _STREAM, WORDS):
                return Function(f"{name}.{attr}", one)
            case Instance(name="mcp.types.ServerResult", args=(Instance() as answer,)) if attr == "root":
                return answer
            case Instance(name=name, args=[Instance() as message, *_]) if name == _MESSAGE and attr == "message":
                return message
            case Instance(name=name, args=[Instance() as session, *_]) if name == _CONTEXT and attr == "session":
                return session
            case Instance(name=name, args=[_, params]) if name == _CONTEXT and attr == "meta":
                return Instance("mcp.types.RequestParams.Meta", (params,))
            case Instance(name=name):
                inner = self.api.nested(name, attr)
                if inner is not None:
                    return ClassOf(inner)
                owner = self.api.owner(name, attr)
                if owner is None:
                    return (
                        Function(f"{name}.{attr}", one)
                        if self.api.is_class(name) and attr.startswith(("model_", "dict", "json", "copy"))
                        else None
                    )
                if self.api.is_method(name, attr) and self.api.field(name, attr) is None:
                    return Function(f"{owner}.{attr}", one)
                return self.api.field(name, attr)
        return None

    def symbol(self, module: str, name: str) -> Known | None:
        """What a name of an SDK module stands for."""
        if module == "pydantic":
            return self._imported(f"pydantic.{name}", None)  # type: ignore[arg-type]
        canonical = self.api.exported(module, name)
        if canonical is None:
            return None
        if canonical == "mcp.server.lowlevel.server.request_ctx":
            return Instance("ContextVar", (Instance(_CONTEXT, (Instance("mcp.server.session.ServerSession"),)),))
        if self.api.is_class(canonical):
            return ClassOf(canonical)
        if self.api.is_module(canonical):
            return ModuleOf(canonical)
        if self.api.is_function(canonical):
            return Function(canonical)
        union = _ADAPTERS.get(canonical)
        if union is not None:
            return Instance(ADAPTER, (Instance(union),))
        return ClassOf(_PYDANTIC[canonical]) if canonical in _PYDANTIC else None

    # -- names -----------------------------------------------------------------
    def _name(self, node: ast.Name, module: Module) -> Known | None:
        bindings = self.bindings(node.id, node, module)
        if bindings:
            # `x = []` says nothing about the items that are appended later.
            found = [(self._bound(binding, node.id, module), binding) for binding in bindings]
            filled = [known for known, _ in found if not _is_empty(known)]
            known = either(filled) if filled else self._filled(node, module) or either(known for known, _ in found)
            return known if known is not None else self._declared(node, module)
        if node.id in _BUILTINS:
            return ClassOf(node.id)
        for star in reversed(module.stars):
            found_in = self.world.locate(star, module)
            known = self._of_module(found_in[0], node.id) if found_in and not found_in[1] else self._imported(f"{star}.{node.id}", module)
            if known is not None:
                return known
        return None

    def _declared(self, node: ast.Name, module: Module) -> Known | None:
        """`x: Class` above, without a value, of a name that is given something unknown since."""
        for binding in module.scope(node).bindings.get(node.id, ()):
            if binding.how is How.ANNOTATED and isinstance(binding.node, ast.AnnAssign) and binding.node.value is None:
                return self.annotated(binding.node.annotation, module)
        return None

    def _filled(self, node: ast.Name, module: Module) -> Known | None:
        """The items that are appended to a list, or stored in a dict, of this name in the same scope."""
        return self._items(((how, value) for how, _, value in module.filled_beside(node.id, node)), module)

    def _items(self, filled: Iterable[tuple[str, ast.expr]], module: Module) -> Known | None:
        found = [(how, self.type(value, module)) for how, value in filled]
        if not found:
            return None
        item = either(self._item(known) if how == "extend" else known for how, known in found)
        return Instance("dict", (None, item)) if found[0][0] == "[]" else Instance("list", (item,))

    def uses(self, alias: ast.alias, module: Module) -> Iterator[ast.Name]:
        """Where the name is read that an import gives, perhaps beside other bindings."""
        name = alias.asname or alias.name
        loads = module.loads.get(name, ())
        yield from (node for node in loads if any(binding.node is alias for binding in self.bindings(name, node, module)))

    def bindings(self, name: str, node: ast.AST, module: Module) -> list[Binding]:
        """What a name may have been given where it is used; by a guard of imports, what the older release gives."""
        found = self._all_bindings(name, node, module)
        newer = self.world.newer_in(module) if len(found) > 1 else ()
        return [binding for binding in found if binding.node not in newer] if newer else found

    def _all_bindings(self, name: str, node: ast.AST, module: Module) -> list[Binding]:
        for above in module.around(node):
            if isinstance(above, COMPREHENSIONS) and name in (inner := looped(above)):
                return inner[name]
            if isinstance(above, ast.stmt):
                break
        scope: Scope | None = module.scope(node)
        first = True
        while scope is not None:
            if name in scope.outside:
                scope = scope.parent
                continue
            if name in scope.bindings and (first or not isinstance(scope.node, ast.ClassDef)):
                bindings = scope.bindings[name]
                if first and len(bindings) > 1:
                    return self._reaching(name, node, scope, module) or bindings
                # A function sees what others give to a name of the module by `global`.
                return bindings if first or scope.parent is not None else [*bindings, *module.given_to(name)]
            scope, first = scope.parent, False
        return []

    def _reaching(self, name: str, node: ast.AST, scope: Scope, module: Module) -> list[Binding]:
        """The bindings that a use can see: the nearest that surely comes before, and those that may come between."""
        given = self._givings.get((scope, name))
        if given is None:
            given = self._givings[scope, name] = Givings(name, scope, module)
        found: list[Binding] = []
        current: ast.AST | None = module.statement(node)
        # A use in the header of a compound statement, or on the right of its own assignment, sees what came before.
        own = (
            given.by_statement.get(current, [])
            if current is not None and not isinstance(current, ast.Assign | ast.AnnAssign | ast.AugAssign)
            else []
        )
        if current is not None and isinstance(current, ast.For | ast.AsyncFor | ast.With | ast.AsyncWith) and own:
            own = [binding for binding in own if binding.value is not None and not _inside(node, binding.value, module)]
        if own and isinstance(current, ast.With | ast.AsyncWith):
            return own  # `with a() as x, b(x)`
        while current is not None and current is not scope.node:
            above = module.parents.get(current)
            for sibling in given.before(current):
                found += given.inside[sibling]
                if given.is_definite(sibling):
                    return _distinct(found)
            if above is None or above is scope.node:
                break
            if isinstance(above, ast.For | ast.AsyncFor | ast.While) and given.is_in_body(current, above):
                its_own = given.by_statement.get(above, ())
                found += [binding for binding in given.inside.get(above, ()) if binding not in its_own]
            if isinstance(above, ast.For | ast.AsyncFor | ast.With | ast.AsyncWith | ast.ExceptHandler) and above in given.by_statement:
                return _distinct([*found, *given.by_statement[above]])
            if isinstance(above, ast.ExceptHandler):
                handled = given.by_node.get(above)
                if handled:
                    return _distinct([*found, *handled])
                current = above
                continue
            current = above
        found += given.parameters
        return _distinct(found)

    def _bound(self, binding: Binding, name: str, module: Module) -> Known | None:
        key = (binding, name)
        if self._is_open(key):
            return None
        self._busy[key] = len(self._busy)
        try:
            return self._into(self._given(binding, name, module), binding.path)
        finally:
            del self._busy[key]

    def _into(self, known: Known | None, path: tuple[int, ...]) -> Known | None:
        for place in path:

            def one(thing: Known, place: int = place) -> Known | None:
                if isinstance(thing, Instance) and thing.name == "tuple":
                    return thing.args[place] if place < len(thing.args) else None
                return self._item(thing)

            known = self._each(known, one)
        return known

    def _given(self, binding: Binding, name: str, module: Module) -> Known | None:
        match binding.how:
            case How.VALUE:
                assert binding.value is not None
                return self.type(binding.value, module)
            case How.ITEM:
                assert binding.value is not None
                return self._item(self.type(binding.value, module))
            case How.ENTERED:
                assert binding.value is not None
                return self.entered(self.type(binding.value, module))
            case How.ANNOTATED:
                assert isinstance(binding.node, ast.AnnAssign)
                declared = self.annotated(binding.node.annotation, module)
                given = self.type(binding.node.value, module) if binding.node.value is not None else None
                return declared if declared is not None and not _is_vague(declared) else given or declared
            case How.PARAMETER:
                return self._parameter(binding, name, module)
            case How.DEFINED if isinstance(binding.node, ast.ClassDef) and binding.node in self.world.newer_in(module):
                return None
            case How.DEFINED:
                where = f"{module.path}{OWN}{module.qualified(binding.node)}"
                return ClassOf(where) if isinstance(binding.node, ast.ClassDef) else Function(where)
            case How.IMPORTED:
                return None if binding.node in self.world.newer_in(module) else self._imported(binding.target, module)
            case How.RAISED:
                return self._raised(binding.value, module)
            case How.OTHER:
                return self._captured(binding.node, module)
        return None

    def _captured(self, node: ast.AST, module: Module) -> Known | None:
        """What a pattern binds; what `x += y` adds to a list."""
        match node:
            case ast.AugAssign(op=ast.Add(), value=value):
                return self.type(value, module)
            case ast.MatchAs(pattern=ast.pattern() as inner):
                return self._matched(inner, module)
            case ast.MatchAs():
                above = module.parents.get(node)
                outer = module.parents.get(above) if isinstance(above, ast.match_case) else None
                if isinstance(outer, ast.Match):
                    return self.type(outer.subject, module)
                if isinstance(above, ast.MatchClass) and node in above.kwd_patterns:
                    name = above.kwd_attrs[above.kwd_patterns.index(node)]
                    return self._attribute(self.annotated(above.cls, module), name)
        return None

    def _raised(self, node: ast.expr | None, module: Module) -> Known | None:
        if node is None:
            return None
        items = node.elts if isinstance(node, ast.Tuple) else [node]
        classes = [self.type(item, module) for item in items]
        return either(Instance(one.name) if isinstance(one, ClassOf) else None for one in classes)

    def entered(self, known: Known | None) -> Known | None:
        """What `with` and `async with` bind."""

        def one(thing: Known) -> Known | None:
            if not isinstance(thing, Instance):
                return None
            if thing.name in ("AsyncContext", "Context"):
                return thing.args[0] if thing.args else None
            if thing.name == _STREAM:
                return thing
            method = self._attribute(thing, "__aenter__") or self._attribute(thing, "__enter__")
            if OWN in thing.name and isinstance(method, Function) and self._gives_itself(method):
                return thing
            result = (
                self._result(method, None, self.world.module_at(thing.name.partition(OWN)[0]))
                if isinstance(method, Function) and OWN in thing.name
                else None
            )
            if isinstance(method, Function) and OWN not in thing.name:
                result = self.api.returned(method.name)
            result = self._waited(result) if isinstance(result, Instance) and result.name == "Awaitable" else result
            return result or (thing if self.api.is_class(thing.name) else None)

        return self._each(known, one)

    def _gives_itself(self, method: Function) -> bool:
        """Whether what a class inherits for `with` gives the object itself, whatever its class."""
        path, _, name = method.name.partition(OWN)
        if not name:
            return True  # of the SDK
        node = self.world.module_at(path).defined.get(name)
        if not isinstance(node, Def):
            return False
        returns = [inner.value for inner in _own_nodes(node) if isinstance(inner, ast.Return)]
        return bool(returns) and all(isinstance(value, ast.Name) and value.id == "self" for value in returns)

    def _imported(self, dotted: str, module: Module) -> Known | None:
        """What an absolute dotted name leads to."""
        head = dotted.partition(".")[0]
        if head in self.api.roots and not self.world.is_shadowed(module, head):
            return self.dotted(dotted)
        if head == "pydantic":
            return ClassOf(_PYDANTIC[dotted]) if dotted in _PYDANTIC else ModuleOf(dotted) if dotted == "pydantic" else None
        found = self.world.locate(dotted, module)
        if found is None:
            return None
        inner, rest = found
        known: Known | None = ModuleOf(f"{inner.path}{OWN}")
        for part in rest.split(".") if rest else []:
            known = self._attribute(known, part)
        return known

    def dotted_name(self, name: str, module: Module) -> Known | None:
        """What an absolute dotted name leads to, as imports of a file see it."""
        return self._imported(name, module)

    def dotted(self, name: str) -> Known | None:
        """What a dotted name of the SDK stands for."""
        name = f"mcp.types{name.removeprefix('mcp_types')}" if name.partition(".")[0] == "mcp_types" else name
        if self.api.is_module(name):
            return ModuleOf(name)
        parent, _, last = name.rpartition(".")
        if not parent:
            return None
        above = self.dotted(parent)
        return self._attribute(above, last) if above is not None else None

    def _of_module(self, module: Module, name: str) -> Known | None:
        key = ("of", module.path, name)
        if self._is_open(key):
            return None
        self._busy[key] = len(self._busy)
        try:
            bindings = module.scopes[module.tree].bindings.get(name)
            newer = self.world.newer_in(module) if bindings and len(bindings) > 1 else ()
            if bindings := [one for one in bindings or () if one.node not in newer]:
                return either(self._bound(binding, name, module) for binding in bindings)
            inner = self.world.locate(f"{module.name}.{name}" if module.name else name, module)
            if inner is not None and not inner[1] and inner[0] is not module:
                return ModuleOf(f"{inner[0].path}{OWN}")
            for star in reversed(module.stars):
                known = self._imported(f"{star}.{name}", module)
                if known is not None:
                    return known
            return None
        finally:
            del self._busy[key]

    # -- the project's own functions and classes ----------------------------------
    def _own_result(self, callee: Function) -> Known | None:
        path, _, name = callee.name.partition(OWN)
        module = self.world.module_at(path)
        node = module.defined.get(name)
        if not isinstance(node, Def) or self._is_open(("result", node)):
            return None
        self._busy[("result", node)] = len(self._busy)
        try:
            return self._wrapped(node, module, callee)
        finally:
            del self._busy[("result", node)]

    def _wrapped(self, node: Def, module: Module, callee: Function) -> Known | None:
        names = {_last(decorator) for decorator in node.decorator_list}
        waits = isinstance(node, ast.AsyncFunctionDef)
        yields = [inner for inner in _own_nodes(node) if isinstance(inner, ast.Yield)]
        declared = self.annotated(node.returns, module) if node.returns is not None else None
        if isinstance(declared, Instance) and declared.name == "Self" and isinstance(callee.bound, Instance):
            declared = callee.bound
        if yields:
            item = declared.args[0] if isinstance(declared, Instance) and declared.args else None
            item = item or either(self.type(inner.value, module) if inner.value is not None else NONE for inner in yields)
            if names & {"asynccontextmanager", "contextmanager"}:
                return Instance("AsyncContext" if waits else "Context", (item,))
            return item if names & {"fixture"} else Instance("list", (item,))
        known = declared
        if known is None or _is_vague(known):
            returns = [inner for inner in _own_nodes(node) if isinstance(inner, ast.Return)]
            given = either(self.type(inner.value, module) if inner.value is not None else NONE for inner in returns) if returns else NONE
            known = given if given is not None else known
        if waits:
            return Instance("Awaitable", (known,))
        return known

    def _of_class(self, name: str, attr: str, owner: Instance | ClassOf) -> Known | None:
        path, _, qualified = name.partition(OWN)
        module = self.world.module_at(path)
        node = module.defined.get(qualified)
        key = ("class", name, attr)
        if not isinstance(node, ast.ClassDef) or self._is_open(key):
            return None
        self._busy[key] = len(self._busy)
        try:
            found = self._member(node, attr, module, owner)
            given = module.attributes.get(node, {}).get(attr, ())
            defaulted = [one for one in given if isinstance(one.value, ast.BoolOp) and is_itself(one.value.values[0], module)]
            if found is not None and not defaulted:
                return found
            for base in node.bases:
                above = self.type(base, module)
                if isinstance(above, ClassOf):
                    inherited = self.attribute(Instance(above.name) if isinstance(owner, Instance) else above, attr)
                    if inherited is not None:
                        return inherited if found is None else either([found, inherited])
            # What nothing else gives a value to comes from where nobody looks.
            return either([found, None]) if len(defaulted) == len(given) and attr not in module.scopes[node].bindings else found
        finally:
            del self._busy[key]

    def ancestors(self, known: ClassOf) -> frozenset[str]:
        """The classes of packages that one of the project comes of, however far above."""
        found: set[str] = set()
        seen: set[str] = set()
        todo = [known.name]
        while todo:
            name = todo.pop()
            if OWN not in name:
                found.add(name)
            elif name not in seen:
                seen.add(name)
                path, _, qualified = name.partition(OWN)
                module = self.world.module_at(path)
                node = module.defined.get(qualified)
                bases = node.bases if isinstance(node, ast.ClassDef) else ()
                plain = [base.value if isinstance(base, ast.Subscript) else base for base in bases]
                todo += [one.name for base in plain for one in members(self.type(base, module)) if isinstance(one, ClassOf)]
        return frozenset(found)

    def _member(self, node: ast.ClassDef, attr: str, module: Module, owner: Instance | ClassOf) -> Known | None:
        for statement in node.body:
            if isinstance(statement, Def) and statement.name == attr:
                function = Function(f"{module.path}{OWN}{module.qualified(statement)}", owner)
                names = {_last(decorator) for decorator in statement.decorator_list}
                return self._own_result(function) if names & {"property", "cached_property"} else function
        scope = module.scopes[node]
        given: list[Known | None] = []
        if attr in scope.bindings:
            given += [self._bound(binding, attr, module) for binding in scope.bindings[attr]]
            if any(binding.how is How.ANNOTATED for binding in scope.bindings[attr]) and given and given[0] is not None:
                return either(given)
        for binding in module.attributes.get(node, {}).get(attr, ()):
            found = self._bound(binding, attr, module)
            if binding.how is How.ANNOTATED and found is not None and not _is_vague(found):
                return found
            given.append(found)
        filled = [known for known in given if known != NONE and not _is_empty(known)]
        if not filled and any(map(_is_empty, given)):
            # `self.x = []` says nothing about the items that methods append.
            items = ((how, value) for how, at, value in module.filled.get(f"self.{attr}", ()) if _inside(at, node, module))
            held = self._items(items, module)
            filled = [held] if held is not None else []
        return either(filled) if filled else (either(given) if given else None)

    def _parameter(self, binding: Binding, name: str, module: Module) -> Known | None:
        node = binding.node
        function = next((above for above in module.around(node) if isinstance(above, Def | ast.Lambda)), None)
        if function is None:
            return None
        arguments = [*function.args.posonlyargs, *function.args.args]
        owner = module.parents.get(function)
        declared = self.annotated(binding.value, module) if binding.value is not None else None
        bare = declared is None or declared == Instance(_MESSAGE)
        if (
            bare
            and isinstance(owner, ast.ClassDef)
            and isinstance(function, Def)
            and function.name in _HOOKS
            and node in arguments[1:2]
            and self._is_middleware(owner, module)
        ):
            return Instance(_MESSAGE, (Instance(_HOOKS[function.name]),))
        if declared is not None and not _is_vague(declared):
            return declared
        if isinstance(function, ast.Lambda):
            return self._lambda_parameter(function, node, module)
        if isinstance(owner, ast.ClassDef) and arguments and node is arguments[0]:
            decorators = {_last(decorator) for decorator in function.decorator_list}
            if "staticmethod" not in decorators:
                where = f"{module.path}{OWN}{module.qualified(owner)}"
                return ClassOf(where) if "classmethod" in decorators else Instance(where)
        if isinstance(node, ast.arg) and node in arguments and (mock := self.standing.parameter(function, node, module)) is not None:
            return mock
        handed = self._handed(function, arguments.index(node) if node in arguments else -1, module)
        if handed is not None:
            return handed
        return self._fixture(name, function, module) or self._passed(function, name, module)

    def _is_middleware(self, owner: ast.ClassDef, module: Module) -> bool:
        return any(isinstance(one, ClassOf) and one.name == _MIDDLEWARE for base in owner.bases for one in members(self.type(base, module)))

    def _lambda_parameter(self, function: ast.Lambda, node: ast.AST, module: Module) -> Known | None:
        """`sorted(items, key=lambda t: ...)`, `filter(lambda t: ..., items)`, `map(...)`."""
        call = module.parents.get(function)
        call = module.parents.get(call) if isinstance(call, ast.keyword) else call
        if not isinstance(call, ast.Call) or len(function.args.args) != 1:
            return None
        others = [argument for argument in call.args if argument is not function]
        if _last(call) in ("sorted", "min", "max", "filter", "map") and len(others) == 1:
            return self._item(self.type(others[0], module))
        return None

    def _handed(self, function: Def, place: int, module: Module) -> Known | None:
        for decorator in function.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            known = self.type(called, module) if isinstance(called, ast.Attribute) else None
            name = known.name.replace(f"{HANDLER_MODULE}{OWN}", f"{OWN}{_SERVER}.") if isinstance(known, Function) else ""
            types = _HANDED.get(name.rpartition(OWN)[2], ())
            offset = place - (1 if isinstance(module.parents.get(function), ast.ClassDef) else 0)
            if 0 <= offset < len(types) and types[offset]:
                return Instance(types[offset])
        return None

    def _fixture(self, name: str, function: Def, module: Module) -> Known | None:
        """A pytest fixture of the same module, or of a conftest above it."""
        if not function.name.startswith("test") and not any(_last(decorator) == "fixture" for decorator in function.decorator_list):
            return None
        folders = module.path.split("/")[:-1]
        homes = [module.path, *("/".join([*folders[:depth], "conftest.py"]) for depth in range(len(folders), -1, -1))]
        owner = module.parents.get(function)
        if isinstance(owner, ast.ClassDef) and (found := self._giving(owner.body, name)) is not None:
            return self._given_by(found, module)
        for path in homes:
            try:
                home = self.world.module_at(path)
            except KeyError:
                continue
            if (found := self._giving(home.tree.body, name)) is not None:
                return self._given_by(found, home)
        return None

    def _giving(self, body: Sequence[ast.stmt], name: str) -> Def | None:
        """The first fixture of this name among the statements of a module or class: hundreds of tests ask for theirs."""
        if id(body) not in self._fixtures:
            found = self._fixtures[id(body)] = {}
            for node in body:
                if isinstance(node, Def) and any(_last(decorator) == "fixture" for decorator in node.decorator_list):
                    found.setdefault(node.name, node)
        return self._fixtures[id(body)].get(name)

    def _given_by(self, fixture: Def, home: Module) -> Known | None:
        known = self._own_result(Function(f"{home.path}{OWN}{home.qualified(fixture)}"))
        return self._waited(known) if isinstance(known, Instance) and known.name == "Awaitable" else known

    def _passed(self, function: Def, name: str, module: Module) -> Known | None:
        """What all calls of a function hand over for a parameter."""
        if self._is_open(("passed", function, name)) or (function.name.startswith("__") and function.name != "__init__"):
            return None
        self._busy[("passed", function, name)] = len(self._busy)
        try:
            where = f"{module.path}{OWN}{module.qualified(function)}"
            owner = module.parents.get(function)
            called = owner.name if function.name == "__init__" and isinstance(owner, ast.ClassDef) else function.name
            arguments = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
            skipped = 1 if isinstance(owner, ast.ClassDef) and not _is_static(function) else 0
            found: list[Known | None] = []
            for other, call in self.world.callers(called):
                if not any(_is_called(known, where) for known in members(self.type(call.func, other))):
                    continue
                given = next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
                place = arguments.index(name) - skipped if name in arguments else -1
                if given is None and 0 <= place < len(call.args) and not any(isinstance(a, ast.Starred) for a in call.args[: place + 1]):
                    given = call.args[place]
                if given is not None and not self._is_blank(given, other):
                    found.append(self.type(given, other))
            return either(found) if found else None
        finally:
            del self._busy[("passed", function, name)]

    # -- annotations -------------------------------------------------------------
    def annotated(self, node: ast.expr | None, module: Module) -> Known | None:
        """The instance that an annotation promises; quoted ones are read as code."""
        match node:
            case None:
                return None
            case ast.Constant(value=None):
                return NONE
            case ast.Constant(value=str()):
                inner = module.quoted(node)
                return self.annotated(inner, module) if inner is not None else None
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return either([self.annotated(left, module), self.annotated(right, module)])
            case ast.Subscript(value=value, slice=index):
                return self._generic(value, index, module)
        known = self.type(node, module)
        if isinstance(known, ClassOf):
            return Instance("list" if known.name in ("set", "frozenset") else known.name, known.args)
        if isinstance(node, ast.Name | ast.Attribute):
            name = node.attr if isinstance(node, ast.Attribute) else node.id
            if name == "Self":
                return Instance("Self")
            alias = self._alias(node, module)
            if alias is not None:
                return alias
            if name in _GENERIC and known is None:
                return Instance(_GENERIC[name])
        return None

    def _generic(self, value: ast.expr, index: ast.expr, module: Module) -> Known | None:
        name = _last(value)
        items = index.elts if isinstance(index, ast.Tuple) else [index]
        if name == "Optional":
            return self.annotated(index, module)
        if name == "Union":
            return either(self.annotated(item, module) for item in items)
        if name in ("Annotated", "ClassVar", "Final", "Required", "NotRequired"):
            return self.annotated(items[0], module)
        if name == "type" or name == "Type":
            inner = self.annotated(items[0], module)
            return ClassOf(inner.name) if isinstance(inner, Instance) else None
        if name == "Literal":
            return Instance("str")
        if name == "Coroutine":
            return Instance("Awaitable", (self.annotated(items[-1], module),))
        known = self.type(value, module)
        if isinstance(known, ClassOf) and known.name not in _BUILTINS:
            return Instance(known.name, tuple(self.annotated(item, module) for item in items))
        if _GENERIC.get(name) == _STREAM:
            return self._stream(index, module)
        if name in _GENERIC:
            args = tuple(self.annotated(item, module) for item in items)
            if _GENERIC[name] == "tuple" and len(items) == 2 and isinstance(items[1], ast.Constant) and items[1].value is ...:
                return Instance("list", args[:1])
            return Instance(_GENERIC[name], args)
        return None

    def _alias(self, node: ast.Name | ast.Attribute, module: Module) -> Known | None:
        """A type alias of the SDK, or one that the project gives itself."""
        dotted = self.reference(node, module)
        if dotted is not None:
            where, _, name = dotted.rpartition(".")
            canonical = self.api.exported(where, name)
            return self.api.alias(canonical) if canonical is not None else None
        if isinstance(node, ast.Name):
            for binding in self.bindings(node.id, node, module):
                if binding.how is How.VALUE and isinstance(binding.value, ast.Call) and _last(binding.value) == "TypeVar":
                    bound = next((word.value for word in binding.value.keywords if word.arg == "bound"), None)
                    return self.annotated(bound, module) if bound is not None else None
                if binding.how is How.VALUE and isinstance(binding.value, ast.BinOp | ast.Subscript) and not binding.path:
                    key = ("alias", binding)
                    if not self._is_open(key):
                        self._busy[key] = len(self._busy)
                        try:
                            return self.annotated(binding.value, module)
                        finally:
                            del self._busy[key]
        return None

    def reference(self, node: ast.expr, module: Module) -> str | None:
        """`module.name` of the SDK, as an import would spell it, behind a name or a dotted expression of modules."""
        if isinstance(node, ast.Name):
            bindings = self.bindings(node.id, node, module)
            if not bindings and module.stars and not self.world.is_shadowed(module):
                return next((f"{star}.{node.id}" for star in reversed(module.stars) if self.api.exported(star, node.id)), None)
            targets = {binding.target for binding in bindings if binding.how is How.IMPORTED}
            heads = {target.partition(".")[0] for target in targets}
            if len(targets) == 1 and heads <= self.api.roots and not self.world.is_shadowed(module, *heads):
                return targets.pop()
            return None
        if isinstance(node, ast.Attribute):
            base = self.type(node.value, module)
            return f"{base.name}.{node.attr}" if isinstance(base, ModuleOf) and OWN not in base.name else None
        return None

    # -- narrowing ---------------------------------------------------------------
    def _narrowed(self, node: ast.expr, module: Module) -> Known | None:
        """What `isinstance` has said about a name, attribute or item before it is used."""
        if not isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
            return None
        if isinstance(getattr(node, "ctx", None), ast.Store):
            return None
        text = spelled(node)
        if text not in module.tested:
            return None
        child: ast.AST = node
        for above in module.around(node):
            found: Known | None = None
            match above:
                case ast.If(test=test) | ast.While(test=test) if child is not test and child in above.body:
                    found = self._tested(test, text, module)
                case ast.IfExp(test=test, body=body) if child is body:
                    found = self._tested(test, text, module)
                case ast.BoolOp(op=ast.And(), values=values) if child in values:
                    found = next((f for v in values[: values.index(child)] if (f := self._tested(v, text, module)) is not None), None)
                case ast.BoolOp(op=ast.Or(), values=values) if child in values:
                    found = next((f for v in values[: values.index(child)] if (f := self._refused(v, text, module)) is not None), None)
                case ast.match_case(pattern=pattern):
                    outer = module.parents.get(above)
                    if isinstance(outer, ast.Match) and spelled(outer.subject) == text and child is not pattern:
                        found = self._matched(pattern, module)
                case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                    tests = [test for generator in above.generators for test in generator.ifs if test is not child]
                    found = next((f for test in tests if (f := self._tested(test, text, module)) is not None), None)
                    if not isinstance(child, ast.comprehension) or found is None:
                        pass
            if found is None and isinstance(child, ast.stmt):
                found = self._guarded(child, text, module)
            if found is not None:
                return found
            if isinstance(above, Def | ast.ClassDef | ast.Module | ast.Lambda):
                return None
            child = above
        return None

    def _nearer(self, narrowed: Known, node: ast.expr, module: Module) -> Known:
        """What `isinstance` says, unless more is known: that it is of a class which derives from the one that was asked for."""
        asked = {one.name for one in members(narrowed) if isinstance(one, Instance)}
        known = self._type(node, module)
        return known if isinstance(known, Instance) and asked.intersection(self.api.bases(known.name)) else narrowed

    def _guarded(self, statement: ast.stmt, text: str, module: Module) -> Known | None:
        """`if not isinstance(x, C): return` and `assert isinstance(x, C)` before a statement of the same block."""
        place = module.place(statement)
        if place is None:
            return None
        block, number = place
        if id(block) not in self._steps:
            self._steps[id(block)] = Steps(block)
        steps = self._steps[id(block)]
        root = text.partition(".")[0].partition("[")[0]
        for at in steps.before(number, text, root):
            before = block[at]
            match before:
                case ast.Assert(test=test):
                    found = self._tested(test, text, module)
                case ast.If(test=test, body=body, orelse=[]) if isinstance(body[-1], ast.Return | ast.Raise | ast.Continue | ast.Break):
                    found = self._refused(test, text, module)
                case _:
                    found = None
            if found is not None:
                return found
            if at in steps.stores.get(text, ()) or at in steps.stores.get(root, ()):
                return None
        return None

    def _tested(self, test: ast.expr, text: str, module: Module) -> Known | None:
        """What holds for `text` where a test is true."""
        match test:
            case ast.Call(func=ast.Name(id="isinstance"), args=[subject, classes]) if spelled(subject) == text:
                return self._instances(classes, module)
            case ast.BoolOp(op=ast.And(), values=values):
                return next((found for value in values if (found := self._tested(value, text, module)) is not None), None)
            case ast.Compare(
                left=ast.Attribute(value=subject, attr="type"), ops=[ast.Eq()], comparators=[ast.Constant(value=str(kind))]
            ) if spelled(subject) == text:
                return self._of_kind(subject, kind, module)
        return None

    def _of_kind(self, subject: ast.expr, kind: str, module: Module) -> Known | None:
        """`x.type == "text"` picks one of several content classes."""
        known = self.type(subject, module)
        if not isinstance(known, Either):
            return None
        names = {
            "text": "TextContent",
            "image": "ImageContent",
            "audio": "AudioContent",
            "resource": "EmbeddedResource",
            "resource_link": "ResourceLink",
        }
        picked = f"mcp.types.{names.get(kind)}"
        return Instance(picked) if Instance(picked) in known.items else None

    def _refused(self, test: ast.expr, text: str, module: Module) -> Known | None:
        """What holds for `text` where a test is false."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._tested(operand, text, module)
            case ast.BoolOp(op=ast.Or(), values=values):
                return next((found for value in values if (found := self._refused(value, text, module)) is not None), None)
        return None

    def _instances(self, classes: ast.expr, module: Module) -> Known | None:
        items = classes.elts if isinstance(classes, ast.Tuple) else [classes]
        found = [self.annotated(item, module) for item in items]
        return None if any(known is None for known in found) else either(found)

    def _matched(self, pattern: ast.pattern, module: Module) -> Known | None:
        match pattern:
            case ast.MatchClass(cls=cls):
                return self.annotated(cls, module)
            case ast.MatchAs(pattern=ast.pattern() as inner):
                return self._matched(inner, module)
            case ast.MatchOr(patterns=patterns):
                found = [self._matched(inner, module) for inner in patterns]
                return None if any(known is None for known in found) else either(found)
        return None


def _is_called(known: Known, where: str) -> bool:
    """Whether calling this runs the function at `where`."""
    if isinstance(known, Function):
        return known.name == where
    return isinstance(known, ClassOf) and where == f"{known.name}.__init__"


def _named_by(node: ast.Call, module: Module) -> str:
    """The name that a value is given, and nothing else is in this function."""
    statement = module.parents.get(node)
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]) if len(module.scope(node).bindings.get(name, ())) == 1:
            return name
    return ""


def _is_static(function: Def) -> bool:
    return any(_last(decorator) == "staticmethod" for decorator in function.decorator_list)


def _is_own_method(known: Known | None) -> bool:
    return isinstance(known, Function) and OWN in known.name and isinstance(known.bound, Instance)


def is_itself(node: ast.expr, module: Module) -> bool:
    """Whether `x` stands in `x = x or y`, for an attribute."""
    above = module.parents.get(node)
    if not isinstance(node, ast.Attribute) or not isinstance(above, ast.BoolOp) or not isinstance(above.op, ast.Or):
        return False
    given = module.parents.get(above)
    if not isinstance(given, ast.Assign) or len(given.targets) != 1 or above.values[-1] is node:
        return False
    return spelled(given.targets[0]) == spelled(node)


def _is_empty(known: Known | None) -> bool:
    return isinstance(known, Instance) and known.name in ("list", "dict") and not known.args


def _is_vague(known: Known) -> bool:
    """Whether a declared type leaves the items of a container open."""
    return isinstance(known, Instance) and known.name in ("list", "dict", "tuple", "Awaitable", "object") and not any(known.args)


def _last(node: ast.expr) -> str:
    """The last part of what is called or named."""
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _own_nodes(function: Def) -> Iterator[ast.AST]:
    """The nodes of a function's body without those of functions inside of it."""
    pending: list[ast.AST] = [*reversed(function.body)]
    while pending:
        node = pending.pop()
        yield node
        if FIELDS[node.__class__] and not isinstance(node, Def | ast.Lambda | ast.ClassDef):
            pending += reversed(children(node))


def _inside(node: ast.AST, above: ast.AST, module: Module) -> bool:
    return node is above or any(one is above for one in module.around(node))


def _upwards(places: Sequence[int], end: int) -> Iterator[int]:
    """The places before one, from the nearest upwards."""
    return (places[at] for at in range(bisect_left(places, end) - 1, -1, -1))


def _leaves_block(body: list[ast.stmt]) -> bool:
    return isinstance(body[-1], ast.Return | ast.Raise | ast.Continue | ast.Break)


def _distinct(bindings: list[Binding]) -> list[Binding]:
    return list(dict.fromkeys(bindings))
