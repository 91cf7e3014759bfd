"""What a value of a test stands in for. A bare namespace does not say so; where it goes does.

`session.get_tool = AsyncMock(return_value=SimpleNamespace(inputSchema={}))` is about a tool, as that is what `get_tool` gives.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..facts import code
from .modules import Def, Module
from .types import NONE, OWN, ClassOf, Function, Instance, Known, either, is_open, members

if TYPE_CHECKING:
    from .infer import Inference

STAND_INS = frozenset({"Mock", "MagicMock", "AsyncMock", "NonCallableMock", "NonCallableMagicMock", "SimpleNamespace"})
"""What tests hand over in place of an object of the SDK, with the names that the code reads of it."""
MOCK = "Mock"
"""A mock that stands in for a function, which is its first argument; the second is what a call of it gives."""
PLACES, WORDS = "MockPlaces", "MockWords"
"""What such a mock was called with: the values by their place and by their name."""
_RECORDS = frozenset({"call_args", "await_args"})
_LISTS = frozenset({"call_args_list", "await_args_list"})
_SETTINGS = frozenset({"spec", "spec_set", "side_effect", "name", "wraps"})
_ENTERS = frozenset({"__enter__", "__aenter__"})
_MANAGERS = frozenset({"asynccontextmanager", "contextmanager"})
_MAX_DEPTH = 8
# Where the value goes nowhere: it is only looked at.
_LOOKS = (ast.Attribute, ast.Compare, ast.Assert, ast.FormattedValue, ast.Subscript, ast.BoolOp, ast.UnaryOp, ast.If, ast.Expr)


class Standing:
    """Asks where a value goes, and what is expected there."""

    def __init__(self, inference: Inference) -> None:
        self.inference = inference
        self._busy: set[ast.AST] = set()
        self._classes: dict[str, tuple[Known, ...]] = {}

    def value(self, node: ast.AST, module: Module) -> Known | None:
        """What is expected where a value, or the function of a statement, goes; None where anything may be."""
        if node in self._busy or len(self._busy) >= _MAX_DEPTH:
            self.inference.cut()
            return None
        self._busy.add(node)
        try:
            return self._known(self._expected(node, module))
        finally:
            self._busy.discard(node)

    def of_class(self, name: str) -> tuple[Known, ...]:
        """What the objects of a class without bases stand in for, by all that its module does with them.

        Nothing where one of them goes to a place of which that is not known, or where they go to different ones.
        """
        if name not in self._classes:
            self._classes[name] = ()  # for classes that make each other
            path, _, qualified = name.partition(OWN)
            module = self.inference.world.module_at(path)
            node = module.defined.get(qualified)
            if isinstance(node, ast.ClassDef) and not node.bases and not node.keywords:
                flows = () if self.inference.world.is_shared(node.name, module) else {*self._flows(node, name, module)}
                if any(isinstance(one, Def) and one.name in _ENTERS and _gives_itself(one) for one in node.body):
                    # `with` binds the object itself, which so is what is entered as well as what enters it.
                    flows = {(self.inference.entered(one) or one) if one is not None else None for one in flows}
                if len(flows) == 1:
                    self._classes[name] = tuple(members(*flows))
        return self._classes[name]

    def replaced(self, call: ast.Call, module: Module) -> Function | None:
        """The function that a mock, or `patch`, puts something else in the place of."""
        known = self.value(call, module) if last(call) in STAND_INS else self._target(call, module)
        return known if isinstance(known, Function) else None

    def entered(self, call: ast.Call, module: Module) -> Known | None:
        """What `with patch(...) as mock` binds."""
        if any(word.arg in ("autospec", "new_callable", "spec", "spec_set") for word in call.keywords):
            return None
        new = _new(call)
        if new is not None and not (isinstance(new, ast.Call) and last(new) in STAND_INS):
            return None
        function = self._target(call, module)
        return Instance(MOCK, (function, None)) if isinstance(function, Function) else None

    def parameter(self, function: Def, parameter: ast.arg, module: Module) -> Known | None:
        """What `@patch(...)` hands to a function; the decorator that stands nearest comes first."""
        given = [one for one in reversed(function.decorator_list) if isinstance(one, ast.Call) and is_patch(one) and _new(one) is None]
        names = [*function.args.posonlyargs, *function.args.args]
        place = names.index(parameter) - isinstance(module.parents.get(function), ast.ClassDef)
        return self.entered(given[place], module) if 0 <= place < len(given) else None

    def recorded(self, mock: Instance, attr: str) -> Known | None:
        """What `mock.call_args` and the like hold."""
        calls = Instance("tuple", (Instance(PLACES, mock.args[:1]), Instance(WORDS, mock.args[:1])))
        return calls if attr in _RECORDS else Instance("list", (calls,)) if attr in _LISTS else None

    def given(self, record: Instance, index: ast.expr) -> Known | None:
        """What stands at a place, or under a name, of the arguments that a mock was called with."""
        place = index.value if isinstance(index, ast.Constant) else None
        function = record.args[0]
        if not isinstance(function, Function) or not isinstance(place, int if record.name == PLACES else str):
            return None
        return self._known(self.inference.asked(function, place))

    # -- where it goes -----------------------------------------------------------
    def _expected(self, node: ast.AST, module: Module) -> Known | None:
        if isinstance(node, Def):
            return self._agreed(self._uses(node.name, node, module))
        above = module.parents.get(node)
        match above:
            case ast.keyword(arg=str(name)):
                call = module.parents.get(above)
                return self._handed(call, name, module) if isinstance(call, ast.Call) else None
            case ast.Call() if isinstance(node, ast.expr) and node in above.args:
                if any(isinstance(argument, ast.Starred) for argument in above.args):
                    return None
                return self._handed(above, above.args.index(node), module)
            case ast.Assign(targets=[ast.Attribute() as target]):
                return self._attribute(self.inference.type(target.value, module), target.attr)
            case ast.Assign(targets=[ast.Name(id=name)]):
                return self._agreed(self._uses(name, above, module))
            case ast.Return() | ast.Yield():
                return self._returned(above, module)
        return None

    def _uses(self, name: str, binding: ast.AST, module: Module) -> Iterator[Known | None]:
        """What is expected where that goes on which a statement gives to a name; None where the name may hold something else."""
        for use in module.loads.get(name, ()):
            if not _is_looked_at(use, module):
                bindings = self.inference.bindings(name, use, module)
                if any(module.statement(one.node) is binding for one in bindings):
                    yield self.value(use, module) if len(bindings) == 1 else None

    def _agreed(self, flows: Iterable[Known | None]) -> Known | None:
        found = [*flows]
        return either(found) if found and None not in found else None

    def _handed(self, call: ast.Call, place: int | str, module: Module) -> Known | None:
        name = last(call)
        if name in STAND_INS:
            if place == "return_value":
                return self._result(self.replaced(call, module))
            if isinstance(place, int) or place in _SETTINGS:
                return None
            return self._attribute(self.value(call, module), place)
        if is_patch(call) or name == "setattr":
            if place == "return_value":
                return self._result(self.replaced(call, module))
            return self._target(call, module) if place in ("new", "value", 2 if len(call.args) > 2 else 1) else None
        asked = [self._asked(one, place) for one in members(self.inference.type(call.func, module))]
        return self._agreed(asked)

    def _asked(self, callee: Known, place: int | str) -> Known | None:
        if isinstance(callee, ClassOf) and OWN in callee.name:
            method = self.inference.attribute(Instance(callee.name), "__init__")
            return self.inference.declares(method, place) if isinstance(method, Function) else None
        return self.inference.declares(callee, place)

    def _target(self, call: ast.Call, module: Module) -> Known | None:
        """What `patch` and `setattr` put something else in the place of."""
        match call.args:
            case [ast.Constant(value=str(text)), *_] if last(call) in ("patch", "setattr"):
                return self._known(self.inference.dotted_name(text, module))
            case [subject, ast.Constant(value=str(attr)), *_] if _is_of_object(call) or last(call) == "setattr":
                known = self.inference.type(subject, module)
                return self._known(either(self.inference.attribute(one, attr) for one in members(known))) if known is not None else None
        return None

    def _returned(self, node: ast.Return | ast.Yield, module: Module) -> Known | None:
        function = module.function(node)
        if function is None:
            return None
        owner = module.parents.get(function)
        if isinstance(owner, ast.ClassDef):
            whole = {self._attribute(one, function.name) for one in self.of_class(f"{module.path}{OWN}{module.qualified(owner)}")} - {None}
            known = whole.pop() if len(whole) == 1 else None
        else:
            known = self.value(function, module)
        if not isinstance(known, Function):
            names = {last(decorator) for decorator in function.decorator_list}
            return known if names & {"property", "cached_property"} else None
        manager = isinstance(node, ast.Yield)
        if manager != any(last(decorator) in _MANAGERS for decorator in function.decorator_list):
            return None
        result = self._result(known)
        return self.inference.entered(result) if manager else result

    def _flows(self, node: ast.ClassDef, name: str, module: Module) -> Iterator[Known | None]:
        """What is expected where the objects of a class go, or the class itself; nothing where they are only looked at."""
        uses: list[ast.expr] = [*module.loads.get(node.name, ())]
        uses += [call.func for call in module.calls.get(node.name, ()) if isinstance(call.func, ast.Attribute)]
        for use in uses:
            known = self.inference.type(use, module)
            if ClassOf(name) not in members(known):
                continue
            call = module.parents.get(use)
            if not isinstance(call, ast.Call) or call.func is not use or known != ClassOf(name):
                if not _is_annotation(use, module):
                    yield None
                continue
            above = module.parents.get(call)
            match above:
                case ast.Assign(targets=[ast.Name(id=local)]):
                    yield from self._uses(local, above, module)
                case _ if not _is_looked_at(call, module):
                    yield self.value(call, module)

    # -- what is there -----------------------------------------------------------
    def _result(self, function: Known | None) -> Known | None:
        """What a call of a function gives in the end."""
        if not isinstance(function, Function):
            return None
        result = self.inference.result(function)
        return result.args[0] if isinstance(result, Instance) and result.name == "Awaitable" and result.args else result

    def _attribute(self, known: Known | None, attr: str) -> Known | None:
        """The attribute of what is one thing, or may be nothing."""
        return self._known(self.inference.attribute(known, attr)) if isinstance(known, Instance | ClassOf) else None

    def _known(self, known: Known | None) -> Known | None:
        return None if known == NONE or is_open(known) else known


def last(node: ast.expr) -> str:
    """The last name of what is called, or of a decorator."""
    return code.last(node.func if isinstance(node, ast.Call) else node)


def _gives_itself(method: Def) -> bool:
    """Whether a method gives its object, and nothing else."""
    given = [one.value for one in ast.walk(method) if isinstance(one, ast.Return)]
    return bool(given) and all(isinstance(value, ast.Name) and value.id == "self" for value in given)


def is_patch(call: ast.Call) -> bool:
    """`patch(...)` and `patch.object(...)`, also of `mock` and `mocker`."""
    return last(call) == "patch" or _is_of_object(call)


def _is_looked_at(node: ast.expr, module: Module) -> bool:
    """Whether a value goes nowhere."""
    match module.parents.get(node):
        case ast.Call(func=ast.Name(id="isinstance"), args=[asked, _]):
            return asked is node
        case above:
            return isinstance(above, _LOOKS)


def _is_annotation(node: ast.expr, module: Module) -> bool:
    """Whether a name only says of what class something is, or asks for that."""
    match module.parents.get(node):
        case ast.arg():
            return True
        case ast.AnnAssign(annotation=asked):
            return asked is node
        case ast.FunctionDef() | ast.AsyncFunctionDef() as function:
            return function.returns is node
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, asked]):
            return asked is node
    return False


def _new(call: ast.Call) -> ast.expr | None:
    """What `patch` is told to put in the place of something."""
    place = 2 if _is_of_object(call) else 1
    return call.args[place] if len(call.args) > place else next((word.value for word in call.keywords if word.arg == "new"), None)


def _is_of_object(call: ast.Call) -> bool:
    """`patch.object(...)`."""
    return isinstance(call.func, ast.Attribute) and call.func.attr == "object" and last(call.func.value) == "patch"
