"""Finds every use of something that the SDK defines, in one module."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from ..facts.model import Defined, Standalone, Symbol, SymbolUse
from ..source import is_test
from .infer import Inference
from .modules import Def, How, Module, dotted
from .standing import STAND_INS
from .types import ADAPTER, MAX_BASES, OWN, URI, ClassOf, Function, Instance, Known, ModuleOf, is_open, members
from .vocabulary import FIELDS, NEAR, OF_COMPONENTS, ONLY, STANDALONE, WANTED, WANTED_OF_STANDALONE

_DOTTED = re.compile(r"(fast)?mcp(\.[A-Za-z_]\w*)+")
_OF_STATE = frozenset({"get_state", "set_state"})
_REFLECTION = frozenset({"getattr", "hasattr", "setattr", "delattr"})
UNKNOWN = "?"
_PROTOCOL = "mcp.types."
IMITATED = "imitated"  # a field of a class of the project that has the older name of one of the protocol's
REPLACED = "replaced"  # what a test puts something else in place of, by its class
# Nine of ten nodes are of other kinds.
_LOOKED_AT = frozenset(
    {
        ast.Import, ast.ImportFrom, ast.Attribute, ast.Call, ast.ClassDef, ast.Subscript, ast.ExceptHandler, ast.MatchClass, ast.Constant,
    }
)  # fmt: skip
# What the decorators of `fastmcp` 2 left in place of a function.
_MADE = {
    "fastmcp.FastMCP.tool": "fastmcp.tools.FunctionTool",
    "fastmcp.FastMCP.resource": "fastmcp.resources.FunctionResource",
    "fastmcp.FastMCP.prompt": "fastmcp.prompts.FunctionPrompt",
}
_OF_STAND_INS = FIELDS | {"fastmcp"}
_DUMPS = frozenset({"model_dump", "model_dump_json", "dict", "json"})
# Texts of the SDK's own that code compares with, by what they come from.
_SAID = {
    "McpError": "mcp.shared.exceptions.McpError.__name__",
    "mcp.shared.exceptions.McpError": "mcp.shared.exceptions.McpError.__name__",
    "Timed out while waiting": "mcp.shared.exceptions.McpError.message",
    "Timed out while waiting for response": "mcp.shared.exceptions.McpError.message",
}


class Symbols:
    """One walk over one module."""

    def __init__(self, module: Module, inference: Inference) -> None:
        self.module = module
        self.inference = inference
        self.api = inference.api
        absent = {name for name, near in NEAR.items() if near not in module.source.utf8}
        self.named = WANTED | WANTED_OF_STANDALONE if self.api.standalone else WANTED
        self.wanted = self.named - absent
        self.packages = tuple(f"{root}." for root in self.api.roots)
        self.patches = b"patch" in module.source.utf8 or b".setattr(" in module.source.utf8
        # What imports bring in, by its local name: the SDK's own, and everything that may hand something of it on.
        self.imported: dict[str, set[str]] = {}
        for scope in module.scopes.values():
            for name, bindings in scope.bindings.items():
                for binding in bindings:
                    if binding.how is How.IMPORTED:
                        self.imported.setdefault(name, set()).add(binding.target)
        functions = module.of(ast.FunctionDef, ast.AsyncFunctionDef) if self.api.standalone else ()
        self.decorated = {node.name for node in functions if isinstance(node, Def) and node.decorator_list}
        self.decorated.update(self.imported if self.api.standalone else ())
        self._above: set[str] = set()  # the classes that a question about what is inherited has come by
        self._depth = 0
        # Classes with bases: one of these may be the SDK's.
        self.derived = {node.name for node in module.of(ast.ClassDef) if isinstance(node, ast.ClassDef) and node.bases}
        self.roots = {name for name, targets in self.imported.items() if any(map(self._is_known, targets))}
        self.roots.update(name for star in module.stars if self.api.is_module(star) for name in self.api.names(star))

    def _is_known(self, target: str) -> bool:
        """Whether an import brings in something of the packages, from them or from a module of the project that has it from them."""
        return target.partition(".")[0] in self.api.roots or self.inference.world.hands_on(target, self.module.path)

    def all(self) -> Iterator[Defined]:
        """The uses in source order; one node can be several, as a call of an attribute."""
        for node in self.module.nodes:
            if node.__class__ not in _LOOKED_AT:
                continue
            match node:
                case ast.Import() | ast.ImportFrom():
                    yield from self._import(node)
                case ast.Attribute():
                    yield from self._attribute(node)
                case ast.Call():
                    yield from self._call(node)
                case ast.ClassDef(bases=bases):
                    yield from (one for base in bases for one in self._class(base, SymbolUse.BASE))
                    if self.api.standalone:
                        yield from (one for base in bases for one in self._heir(base))
                    if not bases:
                        yield from self._fields(node)
                case ast.Subscript(value=value, ctx=ast.Load()):
                    yield from self._class(value, SymbolUse.SUBSCRIPT, node)
                case ast.ExceptHandler(type=ast.expr() as caught):
                    for item in caught.elts if isinstance(caught, ast.Tuple) else [caught]:
                        yield from self._class(item, SymbolUse.CAUGHT)
                case ast.MatchClass(cls=cls):
                    yield from self._class(cls, SymbolUse.PATTERN, node)
                case ast.Constant(value=str(text)) if text.startswith(self.packages) and _DOTTED.fullmatch(text):
                    yield from self._text(node, text)
                case ast.Constant(value=str(text)) if text in _SAID:
                    yield self._symbol(node, _SAID[text], SymbolUse.TEXT)

    def _symbol(self, node: ast.AST, key: str, use: SymbolUse, *, sure: bool = True) -> Defined:
        kind = Standalone if key.removeprefix("patched.").partition(".")[0] == STANDALONE else Symbol
        return kind(self.module.meet(node), key, self.module.qualified(node), use, sure)

    def _import(self, node: ast.Import | ast.ImportFrom) -> Iterator[Defined]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] in self.api.roots:
                    yield self._symbol(alias, alias.name, SymbolUse.IMPORT)
        elif not node.level and (node.module or "").partition(".")[0] in self.api.roots:
            for alias in node.names:
                yield self._symbol(alias, f"{node.module}.{alias.name}", SymbolUse.IMPORT)

    def _attribute(self, node: ast.Attribute) -> Iterator[Defined]:
        if isinstance(node.ctx, ast.Store) and node.attr not in self.wanted:
            yield from self._stored(node)
        if node.attr not in self.wanted and _root(node) not in self.roots and not self._may_be_component(node):
            return
        base = self.inference.type(node.value, self.module)
        if isinstance(base, ModuleOf):
            # `mcp.server.fastmcp.FastMCP` is one name, not four.
            above = self.module.parents.get(node)
            whole = not (isinstance(above, ast.Attribute) and isinstance(self.inference.type(node, self.module), ModuleOf))
            if OWN not in base.name and whole:
                yield self._symbol(node, f"{base.name}.{node.attr}", SymbolUse.NAME)
            return
        if node.attr not in self.wanted and not self._may_be_component(node):
            return
        use = SymbolUse.READ if isinstance(node.ctx, ast.Load) else SymbolUse.STORE
        owners = dict.fromkeys(self._owners(base, node.attr))
        # Of several classes of the SDK only those are meant that have it: the others would raise AttributeError.
        certain = not is_open(base) and all(self._owner(one, node.attr) or self._is_sdk(one) for one in members(base))
        for owner in owners:
            yield self._symbol(node, f"{owner}.{node.attr}", use, sure=certain)
        if base is None and node.attr not in NEAR:
            # The state of a context is a matter of `fastmcp` alone.
            package = f"{STANDALONE}." if node.attr in _OF_STATE else ""
            yield self._symbol(node, f"{package}{UNKNOWN}.{node.attr}", use, sure=False)

    def _may_be_component(self, node: ast.Attribute) -> bool:
        """Whether this may be read of what a decorator of `fastmcp` has made."""
        return node.attr in OF_COMPONENTS and isinstance(node.value, ast.Name) and node.value.id in self.decorated

    def _is_sdk(self, one: Known) -> bool:
        return isinstance(one, Instance) and OWN not in one.name and self.api.is_class(one.name)

    def _owners(self, known: Known | None, attr: str) -> Iterator[str]:
        for one in members(known):
            owner = self._owner(one, attr)
            if owner is not None:
                yield owner

    def _owner(self, one: Known, attr: str) -> str | None:
        """The SDK class that an attribute of something comes from."""
        if isinstance(one, Function) and self.api.standalone:
            return self._made(one)
        if not isinstance(one, Instance | ClassOf):
            return None
        if OWN in one.name:
            found = self._inherited(one.name, attr) or (self._dumped(one.name) if attr in _DUMPS and isinstance(one, Instance) else None)
            return found or (self._imitating(one.name, attr) if attr in _OF_STAND_INS and isinstance(one, Instance) else None)
        if one.name == ADAPTER and attr in ("dump_json", "dump_python"):
            return next((name for name in self._held(one.args) if self.api.is_class(name)), None)
        if one.name == URI:
            return URI if attr in NEAR else None
        if not self.api.is_class(one.name):
            return None
        if attr == "root" and one.name.startswith("mcp.types."):
            return one.name  # also of what another rule has unwrapped already
        if attr == "__init__":
            return one.name
        owner = self.api.owner(one.name, attr)
        # A method of pydantic is one of every model.
        return owner or (one.name if attr.startswith(("model_", "dict", "json", "copy", "parse_", "__dict__")) else None)

    def _made(self, function: Function) -> str | None:
        """The class of what `@mcp.tool` made of a function of the project, in `fastmcp` 2."""
        path, own, qualified = function.name.partition(OWN)
        if not own:
            return None
        module = self.inference.world.module_at(path)
        node = module.defined.get(qualified)
        for decorator in node.decorator_list if isinstance(node, Def) else ():
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            for known in members(self.inference.type(called, module)):
                if isinstance(known, Function) and known.name in _MADE:
                    return _MADE[known.name]
        return None

    def _dumped(self, name: str, depth: int = 3) -> str | None:
        """A model of the SDK that a model of the project holds, and dumps with its own fields."""
        path, _, qualified = name.partition(OWN)
        module = self.inference.world.module_at(path)
        node = module.defined.get(qualified)
        if not isinstance(node, ast.ClassDef) or not depth or not self._is_model(node, module):
            return None
        for statement in node.body:
            if isinstance(statement, ast.AnnAssign):
                for held in self._held((self.inference.annotated(statement.annotation, module),)):
                    if OWN in held and (inner := self._dumped(held, depth - 1)):
                        return inner
                    if self.api.has_new_names(held) and held.startswith("mcp.types."):
                        return held
        return None

    def _is_model(self, node: ast.ClassDef, module: Module, depth: int = 5) -> bool:
        for base in node.bases:
            known = self.inference.type(base, module)
            if isinstance(known, ClassOf) and known.name == "pydantic.main.BaseModel":
                return True
            if isinstance(known, ClassOf) and OWN in known.name and depth:
                above = self.inference.world.module_at(known.name.partition(OWN)[0])
                inner = above.defined.get(known.name.partition(OWN)[2])
                if isinstance(inner, ast.ClassDef) and self._is_model(inner, above, depth - 1):
                    return True
        return False

    def _held(self, items: Iterable[Known | None]) -> Iterator[str]:
        """The classes in a container's items, however deep."""
        for item in items:
            for one in members(item):
                if isinstance(one, Instance):
                    yield one.name
                    yield from self._held(one.args)

    def _inherited(self, name: str, attr: str) -> str | None:
        """The SDK class from which a class of the project has an attribute that it does not define itself."""
        outermost = not self._above
        # Each class once: bases may go round in a circle, or meet again and again.
        if name in self._above or self._depth == MAX_BASES:
            return None
        self._above.add(name)
        self._depth += 1
        try:
            return self._inherited_of(name, attr)
        finally:
            self._depth -= 1
            if outermost:
                self._above.clear()

    def _inherited_of(self, name: str, attr: str) -> str | None:
        path, _, qualified = name.partition(OWN)
        module = self.inference.world.module_at(path)
        node = module.defined.get(qualified)
        if not isinstance(node, ast.ClassDef):
            return None
        # A field of a model that is declared anew is still that field.
        if attr in module.scopes[node].bindings and attr not in FIELDS:
            return None
        for base in node.bases:
            known = self.inference.type(base, module)
            if isinstance(known, ClassOf) and known.name != name:
                owner = self._owner(known, attr)
                if owner is not None:
                    return owner
        return None

    def _stored(self, node: ast.Attribute) -> Iterator[Defined]:
        """What an object of the protocol is given that it has no field for."""
        if node.attr.startswith("_") or (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")):
            return
        if isinstance(node.value, ast.Attribute) and any(
            text == dotted(node.value) for _, text, _ in self.module.replaced.get(node.value.attr, ())
        ):
            return  # a test has put something else there
        base = self.inference.type(node.value, self.module)
        if isinstance(base, Instance) and base.name.startswith(_PROTOCOL):
            fields = self.api.fields(base.name)
            if fields is not None and node.attr not in fields:
                yield self._symbol(node, f"{base.name}.{node.attr}", SymbolUse.STORE)

    def _imitating(self, name: str, attr: str) -> str | None:
        """The SDK class that a class of a test stands in for, with an attribute that its methods give to `self`."""
        path, _, qualified = name.partition(OWN)
        module = self.inference.world.module_at(path)
        node = module.defined.get(qualified)
        if not is_test(path) or not isinstance(node, ast.ClassDef) or attr in module.scopes[node].bindings:
            return None
        known = self.inference.standing.of_class(name)
        # What the project's own code reads keeps its name.
        if not all(isinstance(one, Instance) and OWN not in one.name for one in known):
            return None
        found = {self._owner(one, attr) for one in known}
        found.discard(None)
        return found.pop() if len(found) == 1 else None

    def _call(self, node: ast.Call) -> Iterator[Defined]:
        yield from self._reflected(node)
        if node.keywords and _called(node) in STAND_INS:
            yield from self._imitated(node)
        if self.patches:
            yield from self._patched(node)
        # What a class of the project takes by the name of a field, it may have from a type of the protocol, whatever its own name is.
        if not self._is_wanted(node.func) and not any(word.arg in FIELDS for word in node.keywords):
            return
        callee = self.inference.type(node.func, self.module)
        made = {
            base
            for one in members(callee)
            if isinstance(one, ClassOf) and OWN in one.name and (base := self._inherited(one.name, "__init__"))
        }
        names = made | {
            one.name
            for one in members(callee)
            if isinstance(one, ClassOf | Function) and one.name.startswith(self.packages) and OWN not in one.name
        }
        certain = not is_open(callee) and len(names) == len([*members(callee)])
        for name in sorted(names):
            yield self._symbol(node, name, SymbolUse.CALL, sure=certain)
        if _is_super(node.func):
            assert isinstance(node.func, ast.Attribute)
            for one in members(self.inference.type(node.func.value, self.module)):
                if isinstance(one, Instance) and self.api.is_class(one.name):
                    yield self._symbol(node, f"{one.name}.__init__", SymbolUse.CALL)

    def _patched(self, node: ast.Call) -> Iterator[Defined]:
        """What of the SDK a module of the project has imported, where a test puts something else in its place."""
        match node:
            case ast.Call(
                func=ast.Name(id="patch") | ast.Attribute(attr="patch" | "setattr"), args=[ast.Constant(value=str(text)) as at, *_]
            ):
                where, _, name = text.rpartition(".")
                found = self.inference.world.locate(where, self.module) if where and not text.startswith(self.packages) else None
                module = found[0] if found is not None and not found[1] else None
            case ast.Call(func=ast.Attribute(attr="object" | "setattr"), args=[subject, ast.Constant(value=str(name)) as at, *_]):
                known = self.inference.type(subject, self.module)
                path, own, rest = known.name.partition(OWN) if isinstance(known, ModuleOf) else ("", "", "")
                module = self.inference.world.module_at(path) if own and not rest else None
            case _:
                return
        bindings = module.scopes[module.tree].bindings.get(name, ()) if module is not None else ()
        targets = {one.target for one in bindings if one.how is How.IMPORTED and one.target.startswith(self.packages)}
        if bindings and len(targets) == 1:
            yield self._symbol(at, f"patched.{targets.pop()}", SymbolUse.PATCHED)
        elif module is not None and not targets:
            known = self.inference.attribute(ModuleOf(f"{module.path}{OWN}"), name)
            if isinstance(known, Instance) and known.name.startswith(self.packages):
                yield self._symbol(at, f"{REPLACED}.{known.name}", SymbolUse.PATCHED)

    def _imitated(self, node: ast.Call) -> Iterator[Defined]:
        """`SimpleNamespace(isError=False)`: the names that a stand-in is given are read of it as of an object of the SDK."""
        words = [word for word in node.keywords if word.arg in self.wanted]
        base = self.inference.type(node, self.module) if words else None
        for word in words:
            for owner in dict.fromkeys(self._owners(base, word.arg or "")):
                yield self._symbol(word, f"{owner}.{word.arg}", SymbolUse.STORE, sure=not is_open(base))
            if base is None and word.arg in ONLY:
                yield self._symbol(word, f"{UNKNOWN}.{word.arg}", SymbolUse.STORE, sure=False)

    def _fields(self, node: ast.ClassDef) -> Iterator[Defined]:
        """`class FakeTool: inputSchema: dict`: what reads it of an object of the SDK may be given one of these."""
        made = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"]
        for statement in (*node.body, *(inner for function in made for inner in function.body)):
            match statement:
                case (
                    ast.AnnAssign(target=ast.Name(id=name))
                    | ast.Assign(targets=[ast.Name(id=name) | ast.Attribute(value=ast.Name(id="self"), attr=name)])
                    | ast.AnnAssign(target=ast.Attribute(value=ast.Name(id="self"), attr=name))
                ) if name in ONLY and self.module.parents[statement] in (node, *made):
                    yield self._symbol(statement, f"{IMITATED}.{name}", SymbolUse.STORE, sure=False)

    def _reflected(self, node: ast.Call) -> Iterator[Defined]:
        match node:
            case ast.Call(func=ast.Name(id=name), args=[subject, ast.Constant(value=str(attr)), *_]) if (
                name in _REFLECTION and attr in self.named
            ):
                base = self.inference.type(subject, self.module)
                owners = dict.fromkeys(self._owners(base, attr))
                for owner in owners:
                    yield self._symbol(node, f"{owner}.{attr}", SymbolUse.GETATTR, sure=not is_open(base))
                if base is None:
                    yield self._symbol(node, f"{UNKNOWN}.{attr}", SymbolUse.GETATTR, sure=False)
            case ast.Call(func=ast.Name(id="dict" | "vars" as name), args=[ast.Name() | ast.Attribute() as subject], keywords=[]):
                if not self.inference.bindings(name, node, self.module):
                    base = self.inference.type(subject, self.module)
                    for owner in dict.fromkeys(self._owners(base, "__dict__")):
                        yield self._symbol(node, f"{owner}.__dict__", SymbolUse.GETATTR, sure=not is_open(base))

    def _is_wanted(self, node: ast.expr) -> bool:
        """Whether something of the SDK may be called here."""
        if isinstance(node, ast.Attribute):
            return node.attr in self.wanted or _root(node) in self.roots
        if isinstance(node, ast.Name):
            return (
                node.id in self.named
                or node.id in self.roots
                or node.id in self.derived
                or any(target.rpartition(".")[2] in self.named for target in self.imported.get(node.id, ()))
            )
        return False

    def _class(self, node: ast.expr, use: SymbolUse, whole: ast.AST | None = None) -> Iterator[Defined]:
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        if not (name in self.named or _root(node) in self.roots):
            return
        for one in members(self.inference.type(node, self.module)):
            if isinstance(one, ClassOf) and OWN not in one.name and self.api.is_class(one.name):
                yield self._symbol(whole or node, one.name, use)

    def _heir(self, base: ast.expr) -> Iterator[Defined]:
        """What a class of the project, as the base of another one, comes of."""
        plain = base.value if isinstance(base, ast.Subscript) else base
        for one in members(self.inference.type(plain, self.module)):
            if isinstance(one, ClassOf) and OWN in one.name:
                for name in self.inference.ancestors(one):
                    if name.partition(".")[0] == STANDALONE:
                        yield self._symbol(plain, name, SymbolUse.HEIR)

    def _text(self, node: ast.Constant, text: str) -> Iterator[Defined]:
        """The module or name that a text begins with, as targets of `patch` go on into classes."""
        module = text
        while module and not self.api.is_module(module):
            module = module.rpartition(".")[0]
        name = text[len(module) + 1 :].partition(".")[0]
        known = module == text or (module and self.api.exported(module, name) is not None)
        if known and not isinstance(self.module.parents.get(node), ast.Expr | ast.JoinedStr):
            yield self._symbol(node, f"{module}.{name}" if name else module, SymbolUse.TEXT)


def attributes(module: Module) -> frozenset[str]:
    """The fields and attributes that the classes of a file have."""
    own = {name for node in module.attributes.values() for name in node}
    own |= {name for scope in module.scopes.values() if isinstance(scope.node, ast.ClassDef) for name in scope.bindings}
    return frozenset(own)


def _called(call: ast.Call) -> str:
    """The last part of what is called."""
    func = call.func
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_super(node: ast.expr) -> bool:
    """Whether this is `super().__init__`."""
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "__init__"
        and isinstance(node.value, ast.Call)
        and _root(node.value.func) == "super"
    )
