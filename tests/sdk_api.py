"""What a release of the official SDK, or of `fastmcp`, defines: modules, names, classes, fields and results, as installed.

    python tests/sdk_api.py OUTPUT.json             writes the table of both majors that `mcp_migrate.sdk` reads (rules/mcp2/api.json)
    python tests/sdk_api.py fastmcp OUTPUT.json     writes that of the standalone package (rules/fastmcp4/api.json)

`dump` and `dump_fastmcp` run inside an environment that holds the package; they need nothing of this project.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import re
import subprocess
import sys
import types
import typing
import warnings
from pathlib import Path

ROOTS = ("mcp", "mcp_types")
FASTMCP = "fastmcp"
MAJORS_OF_FASTMCP = (2, 3, 4)
# What people use although its name begins with an underscore.
KNOWN = frozenset(
    {
        "_custom_starlette_routes",
        "_experimental_handlers",
        "_initialization_state",
        "_lowlevel_server",
        "_mcp_server",
        "_prompt_manager",
        "_request_context",
        "_request_handlers",
        "_resource_manager",
        "_session_manager",
        "_tool_cache",
        "_tool_manager",
    }
)
# The same of a server of `fastmcp`.
KNOWN_OF_FASTMCP = frozenset(
    {
        "_add_prompt",
        "_add_resource",
        "_add_template",
        "_add_tool",
        "_cache",
        "_call_tool",
        "_deprecated_settings",
        "_get_additional_http_routes",
        "_lifespan",
        "_list_prompts",
        "_list_resources",
        "_list_tools",
        "_local_provider",
        "_mcp_call_tool",
        "_mcp_list_tools",
        "_mcp_server",
        "_prompt_manager",
        "_read_resource",
        "_resource_manager",
        "_tool_manager",
    }
)
# What is run as a program, or needs a package that is no part of a plain installation.
PASSED_OVER = ("mcp.cli", "mcp.server.__main__", "mcp.client.__main__", "fastmcp.__main__", "fastmcp.cli")


def dump() -> dict[str, object]:
    """All of the installed release, as plain data."""
    found = _modules(ROOTS)
    for name in [*sys.modules]:  # modules that stand for others, such as `mcp.types` in 2.x
        if name.partition(".")[0] in ROOTS and name not in found and name not in PASSED_OVER:
            found[name] = sys.modules[name]
    api = _Api(found)
    return {
        "modules": {name: api.exports(module) for name, module in sorted(found.items()) if not name.startswith("mcp_types")},
        "classes": dict(sorted(api.classes.items())),
        "functions": dict(sorted(api.functions.items())),
        "aliases": dict(sorted(api.aliases.items())),
    }


def dump_fastmcp() -> dict[str, object]:
    """All of the installed release of `fastmcp`; what it takes of the SDK has the names that the SDK's own table gives it."""
    importlib.import_module("mcp.types")
    home = Path(importlib.import_module(FASTMCP).__path__[0])
    # Some of its packages have no `__init__.py`, and are imported all the same.
    hidden = {".".join(path.relative_to(home.parent).parts) for path in home.rglob("*") if path.is_dir() and any(path.glob("*.py"))}
    found = _modules((FASTMCP, *sorted(name for name in hidden if "__pycache__" not in name and not name.startswith(PASSED_OVER))))
    api = _Fastmcp({**found, "mcp.types": sys.modules["mcp.types"]})
    api.name_all(found)
    modules = {name: api.exports(module) for name, module in sorted(found.items())}
    own = (f"{FASTMCP}.",)
    return {
        "modules": modules,
        "classes": {name: entry for name, entry in sorted(api.classes.items()) if name.startswith(own)},
        "functions": {name: result for name, result in sorted(api.functions.items()) if name.startswith(own)},
        "signatures": {name: parameters for name, parameters in sorted(api.signatures.items()) if name.startswith(own)},
        "aliases": {name: kind for name, kind in sorted(api.aliases.items()) if name.startswith(own)},
    }


def _modules(roots: tuple[str, ...]) -> dict[str, types.ModuleType]:
    """Every module of these packages that can be imported."""
    warnings.simplefilter("ignore")
    found: dict[str, types.ModuleType] = {}
    pending = [*roots]
    while pending:
        name = pending.pop()
        try:
            found[name] = module = importlib.import_module(name)
        except Exception:
            continue
        inner = (f"{name}.{info.name}" for info in pkgutil.iter_modules(getattr(module, "__path__", ())))
        pending += (name for name in inner if name not in PASSED_OVER)
    return found


class _Api:
    roots = ROOTS
    known = KNOWN

    def __init__(self, modules: dict[str, types.ModuleType]) -> None:
        self.modules = modules
        self.public: dict[int, str] = {}
        # `mcp.types` is where everybody takes these names from, wherever they are defined.
        home = modules["mcp.types"]
        for name, value in vars(home).items():
            if isinstance(value, type) and value.__module__.split(".")[0] in ROOTS and value.__name__ == name:
                self.public[id(value)] = f"mcp.types.{name}"
        self.classes: dict[str, dict[str, object]] = {}
        self.functions: dict[str, str] = {}
        self.aliases: dict[str, str] = {}

    def exports(self, module: types.ModuleType) -> dict[str, str]:
        """Every public name of a module and what it stands for; "" for what has no name of its own, such as a constant."""
        out = {}
        for name, value in sorted(self.offered(module).items()):
            if name.startswith("_") or (isinstance(value, types.ModuleType) and value.__name__.partition(".")[0] not in self.roots):
                continue
            if isinstance(value, types.ModuleType):
                out[name] = f"{value.__name__.replace('mcp_types', 'mcp.types')}"
            elif isinstance(value, type) and not isinstance(value, types.GenericAlias):
                out[name] = self.name(value)
                self.add(value)
            elif inspect.isfunction(value):
                out[name] = self.function_name(value)
                if value.__module__.partition(".")[0] in self.roots:
                    self.functions.setdefault(out[name], self.result(value))
            else:
                kind = self.type(value) if _is_annotation(value) else ""
                where = f"{module.__name__}.{name}"
                out[name] = where
                if kind not in ("", "Any") and not name.startswith("_"):
                    self.aliases[where] = kind
        return out

    def offered(self, module: types.ModuleType) -> dict[str, object]:
        """What `from module import ...` can ask for."""
        return vars(module)

    def function_name(self, function: types.FunctionType) -> str:
        return f"{function.__module__}.{function.__qualname__}".replace("mcp_types._types", "mcp.types")

    def is_public(self, name: str) -> bool:
        return not name.startswith("_") or name in self.known

    def name(self, cls: type) -> str:
        return self.public.get(id(cls), f"{cls.__module__}.{cls.__qualname__}").replace("builtins.", "")

    def add(self, cls: type) -> None:
        name = self.name(cls)
        if cls.__module__.partition(".")[0] not in self.roots or name in self.classes:
            return
        entry: dict[str, object] = {}
        self.classes[name] = entry
        bases = [base for base in cls.__mro__[1:] if base.__module__.partition(".")[0] in self.roots]
        for base in bases:
            self.add(base)
        entry["bases"] = [self.name(base) for base in bases if "[" not in self.name(base)]
        fields = getattr(cls, "model_fields", None) or getattr(cls, "__pydantic_fields__", None) or {}
        try:
            hints = typing.get_type_hints(cls)
        except Exception:
            hints = {key: field.annotation for key, field in fields.items()}
        attributes = {}
        for key in hints:
            if (not key.startswith(("model_", "__")) and not any(key in _own_hints(base) for base in bases)) or key in fields:
                attributes[key] = self.type(fields[key].annotation if key in fields else hints[key])
        methods = {}
        for key, value in [*vars(cls).items()]:
            if key.startswith("__") and key not in ("__aenter__", "__enter__", "__call__"):
                continue
            if isinstance(value, property):
                attributes[key] = self.result(value.fget) if value.fget else "Any"
            elif inspect.isfunction(value) or isinstance(value, classmethod | staticmethod):
                function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
                methods[key] = self.result(function)
            elif isinstance(value, type):
                methods[key] = f"type {self.name(value)}"
                self.add(value)
        if not fields and inspect.isfunction(vars(cls).get("__init__")):
            attributes = {**self.assigned(cls), **attributes}
        entry["fields"] = {key: kind for key, kind in sorted(attributes.items()) if self.is_public(key)}
        entry["methods"] = {key: kind for key, kind in sorted(methods.items()) if self.is_public(key) or key.startswith("__")}
        if fields:
            entry["model"] = sorted(fields)
            aliases = {key: field.alias for key, field in sorted(fields.items()) if field.alias and field.alias != key}
            if aliases:
                entry["aliases"] = aliases
        elif inspect.isfunction(vars(cls).get("__init__")):
            entry["parameters"] = _parameters(vars(cls)["__init__"])[1:]

    def assigned(self, cls: type) -> dict[str, str]:
        """`self.x = x` of the constructor, where x is a parameter with a type; other attributes have none that can be told."""
        import ast
        import textwrap

        function = vars(cls)["__init__"]
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
            hints = self.hints(function)
        except Exception:
            return {}
        out = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign | ast.AnnAssign):
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
                        known = hints.get(node.value.id) if isinstance(node.value, ast.Name) else None
                        out[target.attr] = self.type(known) if known is not None else "Any"
        return out

    def hints(self, function: types.FunctionType) -> dict[str, object]:
        return typing.get_type_hints(function)

    def result(self, function: object) -> str:
        inner = inspect.unwrap(function)  # type: ignore[arg-type]
        try:
            hint = self.hints(inner).get("return")
        except Exception:
            hint = None
        text = "None" if hint is type(None) else self.type(hint) if hint is not None else "Any"
        wrapped = inner is not function
        if inspect.isasyncgenfunction(inner) or inspect.isgeneratorfunction(inner):
            items = typing.get_args(hint)
            item = self.type(items[0]) if items else "Any"
            return f"{'AsyncContext' if inspect.isasyncgenfunction(inner) else 'Context'}[{item}]" if wrapped else f"Iterable[{item}]"
        return f"Awaitable[{text}]" if inspect.iscoroutinefunction(inner) else text

    def type(self, hint: object) -> str:
        """A type as text: dotted names, `list[...]`, `tuple[...]`, `dict[...]`, `a | b`, and Any for what cannot be told."""
        origin, items = typing.get_origin(hint), typing.get_args(hint)
        if hint is None or hint is type(None):
            return "None"
        if hint is Ellipsis:
            return "..."
        if isinstance(hint, typing.TypeVar):
            return (
                self.type(hint.__bound__)
                if hint.__bound__ is not None and not isinstance(hint.__bound__, str | typing.ForwardRef)
                else "Any"
            )
        if isinstance(hint, typing.ForwardRef | str):
            return "Any"
        if type(hint).__name__ == "TypeAliasType":
            return self.type(hint.__value__)  # type: ignore[attr-defined]
        if origin is typing.Annotated:
            return self.type(items[0])
        if origin is typing.Literal:
            return "str" if all(isinstance(item, str) for item in items) else "int"
        if origin in (typing.Union, types.UnionType):
            return " | ".join(dict.fromkeys(self.type(item) for item in items))
        if origin is type:
            return f"type[{self.type(items[0])}]"
        if isinstance(origin, type):
            name = {
                "Sequence": "list",
                "Iterable": "list",
                "Collection": "list",
                "set": "list",
                "Mapping": "dict",
                "MutableMapping": "dict",
            }.get(origin.__name__, origin.__name__)
            name = {"AbstractAsyncContextManager": "AsyncContext", "Coroutine": "Awaitable", "AsyncGenerator": "AsyncIterable"}.get(
                name, name
            )
            if name in ("AsyncIterator",):
                name = "AsyncIterable"
            if name in ("list", "dict", "tuple", "Awaitable", "AsyncContext", "AsyncIterable"):
                return f"{name}[{', '.join(self.type(item) for item in items)}]"
            if name == "Callable":
                return "Callable"
            self.add(origin)
            return self.name(origin) if origin.__module__.partition(".")[0] in self.roots else "Any"
        if isinstance(hint, type):
            self.add(hint)
            return self.name(hint) if "[" not in hint.__qualname__ else self.type(hint.__mro__[1])
        return "Any"


class _Fastmcp(_Api):
    """As the SDK's own, but that a thing is called by the shortest name under which it is offered: its home moves in each release."""

    roots = (FASTMCP, *ROOTS)
    known = KNOWN | KNOWN_OF_FASTMCP

    def __init__(self, modules: dict[str, types.ModuleType]) -> None:
        super().__init__(modules)
        self.signatures: dict[str, list[str]] = {}
        self.checked: dict[str, dict[str, object]] = {}

    def name_all(self, modules: dict[str, types.ModuleType]) -> None:
        """Names what these modules define: by the package that offers it, if one does."""
        for where in sorted(modules, key=lambda name: (name.count("."), name)):
            for name, value in self.offered(modules[where]).items():
                named = (isinstance(value, type) or inspect.isfunction(value)) and value.__name__ == name
                if named and f"{value.__module__}.".startswith(f"{where}."):
                    self.public.setdefault(id(value), f"{where}.{name}")

    def exports(self, module: types.ModuleType) -> dict[str, str]:
        """Without what it has from other packages than the SDK, which is no part of what it offers."""
        return {name: kind for name, kind in super().exports(module).items() if kind.partition(".")[0] in self.roots}

    def offered(self, module: types.ModuleType) -> dict[str, object]:
        found = dict(vars(module))
        for name in (*getattr(module, "__all__", ()), *dir(module)):  # some are made when they are first asked for
            if name not in found and not name.startswith("_"):
                try:
                    found[name] = getattr(module, name)
                except Exception:
                    continue
        return found

    def hints(self, function: types.FunctionType) -> dict[str, object]:
        """Also where an annotation names what is imported for a type checker only."""
        try:
            return super().hints(function)
        except Exception:
            pass
        module = sys.modules[function.__module__]
        if module.__name__ not in self.checked:
            self.checked[module.__name__] = _for_checkers(module)
        known = {**self.checked[module.__name__], **vars(module)}
        out: dict[str, object] = {}
        for name, text in getattr(function, "__annotations__", {}).items():
            try:
                out[name] = eval(text, known) if isinstance(text, str) else text
            except Exception:
                continue
        return out

    def function_name(self, function: types.FunctionType) -> str:
        name = self.public.get(id(function), super().function_name(function))
        if name.startswith(f"{FASTMCP}."):
            self.signatures[name] = _parameters(inspect.unwrap(function))
        return name

    def add(self, cls: type) -> None:
        known = self.name(cls) in self.classes
        super().add(cls)
        if known or cls.__module__.partition(".")[0] != FASTMCP:
            return
        entry = self.classes[self.name(cls)]
        if not entry["fields"] and "__dataclass_fields__" in vars(cls):
            # Its annotations name what is imported for a type checker only.
            entry["fields"] = dict.fromkeys(sorted(vars(cls).get("__annotations__", {})), "Any")
        for key, value in vars(cls).items():
            function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
            if inspect.isfunction(function) and self.is_public(key):
                parameters = _parameters(inspect.unwrap(function))
                self.signatures[f"{self.name(cls)}.{key}"] = parameters if isinstance(value, staticmethod) else parameters[1:]


def _for_checkers(module: types.ModuleType) -> dict[str, object]:
    """What a module imports below `if TYPE_CHECKING:`, as far as it is installed."""
    import ast

    out: dict[str, object] = {}
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for statement in node.body:
                try:
                    exec(ast.unparse(statement), out)
                except Exception:
                    continue
    return out


def _own_hints(cls: type) -> dict[str, object]:
    return vars(cls).get("__annotations__", {})


def _is_annotation(value: object) -> bool:
    return typing.get_origin(value) is not None or type(value).__name__ == "TypeAliasType"


def _parameters(function: object) -> list[str]:
    """Names of parameters in order; behind a `*` those that are keyword-only."""
    out: list[str] = []
    for parameter in inspect.signature(function).parameters.values():  # type: ignore[arg-type]
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in out:
            out.append("*")
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            out.append(f"{'*' if parameter.kind is parameter.VAR_POSITIONAL else '**'}{parameter.name}")
        else:
            out.append(parameter.name)
    return out


def both() -> dict[str, object]:
    """The table of both majors, from the environments that tests use."""
    import sdk

    return {str(major): _dumped(sdk.python(major), "dump") for major in (1, 2)}


def fastmcp() -> dict[str, object]:
    """The table of the majors of `fastmcp`."""
    import sdk

    tables = {str(major): _dumped(sdk.fastmcp(major), "dump_fastmcp") for major in MAJORS_OF_FASTMCP}
    newest = tables[str(MAJORS_OF_FASTMCP[-1])]["modules"]
    # What a release offers under a name that a newer one has elsewhere as well is one thing, with the newer name.
    for major in reversed(MAJORS_OF_FASTMCP[:-1]):
        table = tables[str(major)]
        moved = {
            old: newest[module][name]
            for module, names in table["modules"].items()
            for name, old in names.items()
            if (new := newest.get(module, {}).get(name)) and new != old and old.startswith(f"{FASTMCP}.") and new.startswith(f"{FASTMCP}.")
            if old.rpartition(".")[2] == new.rpartition(".")[2] == name
        }
        tables[str(major)] = table = _renamed(table, moved)
        newest = {module: {**table["modules"].get(module, {}), **newest.get(module, {})} for module in {*table["modules"], *newest}}
    return tables


def _renamed(table: object, moved: dict[str, str]) -> typing.Any:
    """A table in which some things have other names."""
    pattern = re.compile(r"(?<![\w.])(?:" + "|".join(map(re.escape, sorted(moved, key=len, reverse=True))) + r")(?![\w])")
    return json.loads(pattern.sub(lambda found: moved[found[0]], json.dumps(table)))


def _dumped(python: Path, function: str) -> dict[str, typing.Any]:
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import sdk_api, json; print(json.dumps(sdk_api.{function}()))"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def text(tables: dict[str, object]) -> str:
    """The table as its file has it: one line for each thing, so that a diff shows what a new release changes."""
    return json.dumps(tables, indent=0, sort_keys=True) + "\n"


if __name__ == "__main__":
    Path(sys.argv[-1]).write_text(text(fastmcp() if FASTMCP in sys.argv[1:-1] else both()), encoding="utf-8")
