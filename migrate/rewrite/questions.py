"""What functions of a server of the SDK ask their client, which functions have to run again for an answer, and what that repeats."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..facts import consent, effects, functions
from ..facts.functions import walk
from ..facts.gates import QUESTION_MODULE
from ..facts.model import Symbol, SymbolUse
from ..project import Project
from ..sdk.modules import TRY, Def, How, Module, dotted
from ..sdk.types import OWN, ClassOf, Function, Instance, is_open, members
from ..source import is_test

CONTEXTS = ("mcp.server.fastmcp.server.Context", "mcp.server.mcpserver.context.Context")
SESSION = "mcp.server.session.ServerSession"
_REQUESTS = (*CONTEXTS, "mcp.shared.context.RequestContext", "mcp.server.context.ServerRequestContext")
_SERVERS = ("mcp.server.fastmcp.server.FastMCP", "mcp.server.mcpserver.server.MCPServer")
_LOW = "mcp.server.lowlevel.server.Server"
# What makes a function one that a client calls, and may be answered with a question.
REGISTERS = frozenset(
    {f"{server}.{name}" for server in _SERVERS for name in ("tool", "prompt", "resource")}
    | {f"{_LOW}.{name}" for name in ("call_tool", "get_prompt", "read_resource")}
)
TOOLS = frozenset(f"{server}.tool" for server in _SERVERS)
_ADDERS = frozenset(f"{server}.add_tool" for server in _SERVERS)
KEYS = frozenset(
    {f"{context}.{name}" for context in CONTEXTS for name in ("elicit", "elicit_url")}
    | {f"{SESSION}.{name}" for name in ("elicit", "elicit_form", "elicit_url", "create_message", "list_roots")}
)
_WORDS = (b".elicit", b".create_message", b".list_roots")
# A server of `fastmcp` may run a tool itself, by its name; a client is answered as clients are.
_OWN_CALLS = ("fastmcp.FastMCP.call_tool", "fastmcp.FastMCP.get_tool")
_CLIENT_CALLS = frozenset({"fastmcp.Client.call_tool", "fastmcp.Client.call_tool_mcp"})
_WAITING = frozenset({"wait_for"})
_DEPTH = 4


@dataclass(frozen=True, eq=False)
class Question:
    """One call that asks. `origin` is the context that it goes through; None where that cannot be seen."""

    module: Module
    call: ast.Call
    name: str  # elicit, elicit_form, elicit_url, create_message, list_roots
    function: Def | None
    origin: ast.expr | None

    @property
    def consents(self) -> bool:
        """Whether a user is asked, and not a model or a program."""
        return self.name.startswith("elicit")


@dataclass(frozen=True, eq=False)
class Entry:
    """A function that clients call; `place` is the decorator that registers it."""

    module: Module
    function: Def
    place: ast.expr | None
    key: str


@dataclass(frozen=True, eq=False)
class Step:
    """A call on the way from a function that clients call to a question; the last one is the question itself."""

    module: Module
    call: ast.Call
    function: Def


@dataclass(frozen=True)
class Reach:
    """How a question is reached. `doubt` says why it may be reached in another way too, or not as an answer needs."""

    entries: tuple[Entry, ...]
    steps: tuple[Step, ...]
    doubt: str = ""


@dataclass(frozen=True)
class Opening:
    """A handler that lets an action go on although its user was not asked."""

    module: Module
    handler: ast.ExceptHandler
    guarded: ast.Try


class Questions:
    """All questions of a project."""

    def __init__(self, project: Project) -> None:
        assert project.sdk is not None
        self.project, self.sdk = project, project.sdk
        self._reaches: dict[Question, Reach] = {}
        self._facts: dict[str, functions.Module] = {}
        self._uses: dict[str, tuple[tuple[Module, ast.AST], ...]] = {}
        self._registrations: dict[str, dict[str, list[tuple[ast.Call, frozenset[str]]]]] = {}

    @cached_property
    def all(self) -> tuple[Question, ...]:
        found: dict[tuple[str, ast.AST], Question] = {}
        for path, file in self.project.files.items():
            if is_test(path) or path.rpartition("/")[2] == QUESTION_MODULE or not any(word in file.source.utf8 for word in _WORDS):
                continue
            for fact in self.project.of(path, Symbol):
                question = self._question(fact, path)
                if question is not None:
                    found.setdefault((path, question.call), question)
        return tuple(found.values())

    def at(self, path: str, fact: Symbol) -> Question | None:
        node = self.sdk.module_at(path).at(fact.span)
        return self._by_call.get(node) if fact.key in KEYS else None

    @cached_property
    def _by_call(self) -> dict[ast.AST | None, Question]:
        return {question.call: question for question in self.all}

    def inside(self, module: Module) -> list[Question]:
        """The questions of one module, in order."""
        return self._by_module.get(module, [])

    def in_order(self, some: Collection[Question]) -> list[Question]:
        return sorted(some, key=self.numbers.__getitem__)

    @cached_property
    def numbers(self) -> dict[Question, int]:
        """The place of each question among all."""
        return {question: number for number, question in enumerate(self.all)}

    @cached_property
    def _by_module(self) -> dict[Module, list[Question]]:
        found: dict[Module, list[Question]] = defaultdict(list)
        for question in self.all:
            found[question.module].append(question)
        return {**found}

    def asked_by(self, function: ast.AST | None) -> list[tuple[Question, Entry]]:
        """The questions that a function which clients call leads to, in order."""
        return self._by_entry.get(function, [])

    @cached_property
    def _by_entry(self) -> dict[ast.AST | None, list[tuple[Question, Entry]]]:
        found: dict[ast.AST | None, list[tuple[Question, Entry]]] = defaultdict(list)
        for question in self.all:
            for entry in self.reach(question).entries:
                found[entry.function].append((question, entry))
        return {**found}

    def led_through(self, function: ast.AST | None) -> list[tuple[Question, Step]]:
        """The calls in a function that lead to questions, question by question."""
        return self._by_step.get(function, [])

    @cached_property
    def _by_step(self) -> dict[ast.AST | None, list[tuple[Question, Step]]]:
        found: dict[ast.AST | None, list[tuple[Question, Step]]] = defaultdict(list)
        for question in self.all:
            for step in self.reach(question).steps:
                found[step.function].append((question, step))
        return {**found}

    @cached_property
    def _asking(self) -> frozenset[ast.Call]:
        """All calls that lead to questions."""
        return frozenset(step.call for question in self.all for step in self.reach(question).steps)

    def _question(self, fact: Symbol, path: str) -> Question | None:
        if fact.use is not SymbolUse.CALL or fact.key not in KEYS:
            return None
        module = self.sdk.module_at(path)
        call = module.at(fact.span)
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            return None
        owner, _, name = str(fact.key).rpartition(".")
        receiver = call.func.value
        if owner == SESSION:
            name = "elicit_form" if name == "elicit" else name
            origin = self._origin(receiver, module)
        else:
            origin = receiver if not is_open(self.sdk.type(receiver, module)) else None
        return Question(module, call, name, module.function(call), origin)

    def _origin(self, session: ast.expr, module: Module) -> ast.expr | None:
        """The context whose session this is."""
        match session:
            case ast.Attribute(value=value, attr="session"):
                known = [*members(self.sdk.type(value, module))]
                return value if known and all(isinstance(one, Instance) and one.name in _REQUESTS for one in known) else None
            case ast.Name(id=name):
                bindings = self.sdk.inference.bindings(name, session, module)
                if len(bindings) == 1 and bindings[0].how is How.VALUE and not bindings[0].path and bindings[0].value is not None:
                    inner = self._origin(bindings[0].value, module) if isinstance(bindings[0].value, ast.Attribute) else None
                    return inner if isinstance(inner, ast.Name) else None
        return None

    # -- who reaches a question ----------------------------------------------------
    def reach(self, question: Question) -> Reach:
        if question not in self._reaches:
            self._reaches[question] = self._reach(question)
        return self._reaches[question]

    def _reach(self, question: Question) -> Reach:
        entries: dict[Def, Entry] = {}
        steps: list[Step] = []
        doubt = unused = ""
        pending: list[tuple[Module, ast.Call, int]] = [(question.module, question.call, 0)]
        seen: set[ast.AST] = set()
        while pending:
            module, call, depth = pending.pop(0)
            function = module.function(call)
            if function is None or depth > _DEPTH:
                doubt = doubt or "it is asked where no function of a client's request is seen"
                continue
            steps.append(Step(module, call, function))
            if not _is_waited(call, module):
                doubt = doubt or "it is not waited for where it is asked"
            elif handler := _holder(call, module):
                doubt = doubt or f"line {handler.lineno} of {module.path} holds back what ends the function"
            if function in seen:
                continue
            seen.add(function)
            entry = self.entry(function, module)
            if entry is not None:
                entries[function] = entry
            callers = [(other, node) for other, node in self.callers(function, module) if not is_test(other.path)]
            pending += [(other, node, depth + 1) for other, node in callers]
            if entry is None and not callers:
                unused = unused or f"no tool is seen that calls `{function.name}`"
        # A function that nothing calls takes nothing away from those that tools call.
        return Reach(tuple(entries.values()), tuple(steps), doubt or ("" if entries else unused))

    def callers(self, function: Def, module: Module) -> Iterator[tuple[Module, ast.Call]]:
        """The calls of a function of the project."""
        name = f"{module.path}{OWN}{module.qualified(function)}"
        for other, call in self.sdk.callers(function.name):
            if any(isinstance(one, Function) and one.name == name for one in members(self.sdk.type(call.func, other))):
                yield other, call

    def is_used_otherwise(self, function: Def, module: Module, calls: Collection[ast.Call]) -> bool:
        """Whether something beside these calls may use a function by its name, also in tests: its parameters cannot change then."""
        name = function.name
        known = {node for call in calls for node in ast.walk(call.func)}
        if name not in self._uses:
            self._uses[name] = tuple(self._uses_elsewhere(name))
        if any(other is not module and node not in known for other, node in self._uses[name]):
            return True
        for node in module.mentioned.get(name, ()):
            match node:
                case ast.Name() if node not in known:
                    return True
                case ast.Attribute() if node not in known and self._is_of_import(node, module):
                    return True
                case ast.Constant() if _is_path_to(name, node):
                    # The name of the tool is what its clients call it by; anything else may mean the function.
                    called = self._called(node, module)
                    if called.startswith(_OWN_CALLS) or (
                        not isinstance(module.parents.get(node), ast.keyword) and called not in _CLIENT_CALLS
                    ):
                        return True
        return False

    def _uses_elsewhere(self, name: str) -> Iterator[tuple[Module, ast.AST]]:
        """What may use a function of this name that is defined in another file: the same for all of these."""
        for path in self.sdk.texts.naming(name):
            other, stars = self.sdk.module_at(path), self.project.files[path].stars
            for node in other.mentioned.get(name, ()):
                match node:
                    case ast.Name():  # a star brings it along, or it is another thing
                        found = bool(stars) and not self.sdk.inference.bindings(name, node, other)
                    case ast.alias():
                        found = True
                    case ast.Attribute():
                        found = self._is_of_import(node, other)
                    case _:
                        found = _is_path_to(name, node) and self._called(node, other).startswith(_OWN_CALLS)
                if found:
                    yield other, node

    def _is_of_import(self, node: ast.Attribute, module: Module) -> bool:
        root = dotted(node.value).partition(".")[0]
        return any(binding.how is How.IMPORTED for binding in self.sdk.inference.bindings(root, node, module))

    def _called(self, text: ast.Constant, module: Module) -> str:
        """What takes a text as its first argument."""
        above = module.parents.get(text)
        if not isinstance(above, ast.Call) or above.args[:1] != [text]:
            return ""
        return next((one.name for one in members(self.sdk.type(above.func, module)) if isinstance(one, Function)), "")

    def entry(self, function: Def, module: Module) -> Entry | None:
        for decorator in function.decorator_list:
            key = self._registers(decorator, module)
            if key:
                return Entry(module, function, decorator, key)
        name = f"{module.path}{OWN}{module.qualified(function)}"
        for other, call, given in self._handed(function):
            if name in given:
                key = self._registers(call.func, other)
                if key:
                    return Entry(module, function, None, key)
        for other, call in self.sdk.callers("add_tool"):
            if call.args and any(isinstance(one, Function) and one.name == name for one in members(self.sdk.type(call.args[0], other))):
                key = next((one.name for one in members(self.sdk.type(call.func, other)) if isinstance(one, Function)), "")
                if key in _ADDERS:
                    return Entry(module, function, None, key)
        return None

    def _handed(self, function: Def) -> Iterator[tuple[Module, ast.Call, frozenset[str]]]:
        """Calls such as `mcp.tool()(function)` that are given functions of this name, with what they are given."""
        word = f"({function.name})".encode()
        for path in self.sdk.texts.naming(function.name):
            if word in self.project.files[path].source.utf8:
                other = self.sdk.module_at(path)
                if path not in self._registrations:
                    self._registrations[path] = self._registered_in(other)
                yield from ((other, call, given) for call, given in self._registrations[path].get(function.name, ()))

    def _registered_in(self, module: Module) -> dict[str, list[tuple[ast.Call, frozenset[str]]]]:
        """The calls such as `mcp.tool()(function)` of a file with the functions that each may be given, by the names of these."""
        found: dict[str, list[tuple[ast.Call, frozenset[str]]]] = defaultdict(list)
        for call in module.calls.get("", ()):
            if isinstance(call.func, ast.Call) and len(call.args) == 1:
                given = frozenset(one.name for one in members(self.sdk.type(call.args[0], module)) if isinstance(one, Function))
                for name in {one.rpartition(".")[2].rpartition(OWN)[2] for one in given}:
                    found[name].append((call, given))
        return found

    def _registers(self, decorator: ast.expr, module: Module) -> str:
        if not isinstance(decorator, ast.Call):
            return ""
        for one in members(self.sdk.type(decorator.func, module)):
            if isinstance(one, Function) and one.name in REGISTERS:
                # A resource without parameters is made once, and has nobody to ask.
                fixed = one.name.endswith(".resource") and not _is_template(decorator)
                return "" if fixed else one.name
        name = dotted(decorator.func)
        return f"{_LOW}.{name.partition('.')[2]}" if name in ("mcp_handlers.call_tool", "mcp_handlers.get_prompt") else ""

    # -- what goes wrong around a question -------------------------------------------
    def openings(self, question: Question) -> Iterator[Opening]:
        """Handlers that let an action go on although its user was not asked; those of the file with the question first."""
        if not question.consents:
            return
        for step in self.reach(question).steps:
            module = self.read(step.module)
            node: ast.AST = step.call
            for above in step.module.around(step.call):
                if isinstance(above, Def):
                    break
                if isinstance(above, ast.Try) and node in above.body:
                    function = module.function_of(above)
                    for handler in above.handlers:
                        if function is not None and consent.goes_on(handler.body, above, function, module):
                            yield Opening(step.module, handler, above)
                node = above

    def repeated(self, steps: Sequence[Step]) -> Iterator[tuple[Step, ast.expr | ast.stmt, str]]:
        """What functions change before they ask, with words for it: it happens again with every answer."""
        asking = {step.call for step in steps}
        for step in steps:
            module = self.read(step.module)
            function = module.function_of(step.call)
            if function is None or function.node is not step.function:
                continue
            for statement in effects.before(step.call, function, module):
                if any(node in asking for node in ast.walk(statement)):
                    continue
                for node, what in effects.effects(statement, function, module):
                    yield step, node, what

    def is_repeatable(self, reach: Reach) -> bool:
        """Whether nothing that runs before the last question does anything that could be noticed when it is done again."""
        by_function: dict[Def, list[Step]] = {}
        for step in reach.steps:
            by_function.setdefault(step.function, []).append(step)
        for entry in reach.entries:
            others = [decorator for decorator in entry.function.decorator_list if decorator is not entry.place]
            if any(not dotted(decorator).endswith("mcp_questions.asks") for decorator in others):
                return False
        # Clients give up after some rounds, and a loop may need more of them.
        if any(isinstance(above, _LOOPS) for step in reach.steps for above in _inside(step)):
            return False
        quiet = Quiet(self, self._asking)
        return all(quiet.before(function, steps[0].module) for function, steps in by_function.items())

    def read(self, module: Module) -> functions.Module:
        """A module as the facts about effects want it; the nodes are the same."""
        if module.path not in self._facts:
            self._facts[module.path] = functions.read(module.source, module.tree)
        return self._facts[module.path]


def questions(project: Project) -> Questions:
    """The questions of a project; found once."""
    return project.remember("questions to clients", lambda: Questions(project))


# -- what may be done twice ------------------------------------------------------------
_PURE = frozenset(
    {
        "abs", "all", "any", "bool", "dict", "enumerate", "float", "format", "frozenset", "getattr", "hasattr", "int", "isinstance", "len",
        "list", "max", "min", "print", "range", "repr", "reversed", "round", "set", "sorted", "str", "sum", "tuple", "type", "zip",
    }
)  # fmt: skip
_READING = frozenset(
    {
        "as_posix", "casefold", "check_client_capability", "count", "dict", "encode", "endswith", "exists", "format", "get", "get_context",
        "is_dir", "is_file", "isdigit", "items", "join", "json", "keys", "lower", "lstrip", "model_dump", "model_dump_json",
        "model_json_schema", "partition", "rpartition", "rstrip", "split", "splitlines", "startswith", "strip", "title", "upper", "values",
    }
)  # fmt: skip
# Of these, those that may ask somebody else: what is done twice for every client should not.
_FETCHING = frozenset({"check_client_capability", "get", "get_context", "json"})
_MODULES = ("os.path.", "json.dumps", "json.loads", "os.getenv", "os.environ.get", "textwrap.", "re.")
_COLLECTING = frozenset({"add", "append", "extend", "insert", "setdefault", "update"})
_TELLING = frozenset({"critical", "debug", "error", "exception", "info", "log", "notice", "report_progress", "warn", "warning"})
_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_DISPLAYS = (
    ast.Constant, ast.Name, ast.Attribute, ast.JoinedStr, ast.FormattedValue, ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.Compare, ast.IfExp,
    ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Subscript, ast.Slice, ast.Starred, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.GeneratorExp, ast.comprehension, ast.keyword, ast.expr_context, ast.operator, ast.boolop, ast.unaryop, ast.cmpop, ast.NamedExpr,
)  # fmt: skip


class Quiet:
    """Decides what can be done again and nobody will notice: what is not known to be so is not."""

    def __init__(self, questions: Questions, asking: Collection[ast.Call] = (), *, twice: bool = False) -> None:
        """`twice` asks for more: that it may be done twice for clients that have seen it done once."""
        self.questions, self.asking, self.reading = questions, asking, _READING - _FETCHING if twice else _READING

    def before(self, function: Def, module: Module) -> bool:
        """Whether everything in a function that may run before its last question is so."""
        return self._block(function.body, module, 0, until=True)

    def expression(self, node: ast.AST, module: Module, depth: int = 0) -> bool:
        pending = [node]
        while pending:
            inner = pending.pop()
            if isinstance(inner, ast.Call):
                if inner not in self.asking and not self._call(inner, module, depth):
                    return False
                if isinstance(inner.func, ast.Attribute):
                    pending.append(inner.func.value)
                pending += [*inner.args, *inner.keywords]
            elif isinstance(inner, ast.Await):
                if not self._is_waited(inner, module, depth):
                    return False
                pending.append(inner.value)
            elif isinstance(inner, _DISPLAYS):
                pending += ast.iter_child_nodes(inner)
            else:
                return False
        return True

    def _is_waited(self, node: ast.Await, module: Module, depth: int) -> bool:
        call = node.value
        return isinstance(call, ast.Call) and (call in self.asking or _waits_for(call, self.asking) or self._call(call, module, depth))

    def _call(self, call: ast.Call, module: Module, depth: int) -> bool:
        name = dotted(call.func)
        last = call.func.attr if isinstance(call.func, ast.Attribute) else name
        known = [*members(self.questions.sdk.type(call.func, module))]
        if isinstance(call.func, ast.Name) and name in _PURE and not known:
            return True
        if _waits_for(call, self.asking):
            return True
        for one in known:
            if isinstance(one, ClassOf) and (OWN not in one.name or self._is_plain_class(one.name)):
                return True
            if isinstance(one, Function) and OWN in one.name and depth < 3:
                path, _, qualified = one.name.partition(OWN)
                other = self.questions.sdk.module_at(path)
                inner = other.defined.get(qualified)
                return isinstance(inner, Def) and not inner.decorator_list and self._block(inner.body, other, depth + 1, until=False)
            if isinstance(one, Function) and one.name.rpartition(".")[2] in _TELLING | self.reading:
                return True
        if isinstance(call.func, ast.Attribute):
            if last in _TELLING and any(word in dotted(call.func.value).lower() for word in ("log", "ctx", "context")):
                return True
            if last in _COLLECTING and isinstance(call.func.value, ast.Name) and _is_new(call.func.value, module):
                return True
            return last in self.reading or name.startswith(_MODULES) or name in ("mcp_questions.asker", "mcp_rounds.asker")
        return False

    def _is_plain_class(self, name: str) -> bool:
        path, _, qualified = name.partition(OWN)
        node = self.questions.sdk.module_at(path).defined.get(qualified)
        return isinstance(node, ast.ClassDef) and not any(
            isinstance(inner, Def) and inner.name in ("__init__", "__new__", "__post_init__", "model_post_init") for inner in node.body
        )

    def _block(self, block: Sequence[ast.stmt], module: Module, depth: int, *, until: bool) -> bool:
        """Whether the statements are quiet; with `until`, those that may run before the last question of the block."""
        stop = len(block)
        if until:
            stop = max((number + 1 for number, statement in enumerate(block) if self._asks(statement)), default=0)
        return all(self._statement(statement, module, depth, until=until) for statement in block[:stop])

    def _asks(self, statement: ast.AST) -> bool:
        return any(node in self.asking for node in walk(statement))

    def _statement(self, statement: ast.stmt, module: Module, depth: int, *, until: bool) -> bool:
        def quiet(*nodes: ast.AST | None) -> bool:
            return all(node is None or self.expression(node, module, depth) for node in nodes)

        def block(body: Sequence[ast.stmt], *, looped: bool = False) -> bool:
            return self._block(body, module, depth, until=until and not looped and any(map(self._asks, body)))

        match statement:
            case ast.Expr(value=value):
                return quiet(value)
            case ast.Assign(targets=targets, value=value):
                return all(isinstance(target, ast.Name | ast.Tuple) for target in targets) and quiet(value)
            case ast.AnnAssign(target=ast.Name(), value=value):
                return quiet(value)
            case ast.AugAssign(target=ast.Name(), value=value):
                return quiet(value)
            case ast.Return(value=value):
                return quiet(value)
            case ast.Raise(exc=exc):
                return exc is None or not isinstance(exc, ast.Call) or quiet(*exc.args, *exc.keywords)
            case ast.Pass() | ast.Continue() | ast.Break() | ast.Import() | ast.ImportFrom() | ast.Assert():
                return True
            case ast.ClassDef():
                return not statement.decorator_list and not any(isinstance(inner, ast.Expr | ast.Call) for inner in statement.body[1:])
            case ast.If(test=test, body=body, orelse=orelse):
                if until and not self._asks(statement):
                    # A branch that leaves the function is not followed by a question.
                    return quiet(test) and all(_leaves(part) or block(part) for part in (body, orelse) if part)
                asking = [part for part in (body, orelse) if any(map(self._asks, part))]
                others = [part for part in (body, orelse) if part and part not in asking]
                return quiet(test) and all(map(block, asking)) and all(not until or _leaves(part) or block(part) for part in others)
            case ast.For(iter=value, body=body, orelse=orelse):
                return quiet(value) and block(body, looped=True) and block(orelse, looped=True)
            case ast.While(test=test, body=body, orelse=orelse):
                return quiet(test) and block(body, looped=True) and block(orelse, looped=True)
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=finalbody):
                # A question leaves the body in the middle: what is to be done at the end is done then.
                return (
                    block(body)
                    and all(_leaves(handler.body) or block(handler.body) for handler in handlers)
                    and block(orelse)
                    and self._block(finalbody, module, depth, until=False)
                )
        return False


def _inside(step: Step) -> Iterator[ast.AST]:
    """What is around a call in its function."""
    for above in step.module.around(step.call):
        if above is step.function:
            return
        yield above


def _is_new(name: ast.Name, module: Module) -> bool:
    """Whether a name of the function holds a collection that the function has made."""
    bindings = module.scope(name).bindings.get(name.id, [])
    made = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
    return bool(bindings) and all(
        (isinstance(one.node, ast.AnnAssign) and isinstance(one.node.value, made))
        or (one.how is How.VALUE and not one.path and isinstance(one.value, made))
        for one in bindings
    )


def _leaves(block: Sequence[ast.stmt]) -> bool:
    return bool(block) and isinstance(block[-1], ast.Return | ast.Raise)


def _waits_for(call: ast.Call, asking: Collection[ast.Call]) -> bool:
    """`asyncio.wait_for(ctx.elicit(...), 60)`."""
    return dotted(call.func).rpartition(".")[2] in _WAITING and bool(call.args) and call.args[0] in asking


def _is_waited(call: ast.Call, module: Module) -> bool:
    above = module.parents.get(call)
    if isinstance(above, ast.Call) and call in above.args and dotted(above.func).rpartition(".")[2] == "wait_for":
        above = module.parents.get(above)
    return isinstance(above, ast.Await)


def _holder(node: ast.AST, module: Module) -> ast.ExceptHandler | ast.With | ast.AsyncWith | None:
    """What holds back even what is no error, in the function around a call."""
    child = node
    for above in module.around(node):
        if isinstance(above, Def):
            return None
        if isinstance(above, ast.With | ast.AsyncWith) and any(_suppresses(item.context_expr) for item in above.items):
            return above
        if isinstance(above, TRY) and child in above.body:
            for handler in above.handlers:
                kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
                everything = any(kind is None or dotted(kind).endswith("BaseException") for kind in kinds)
                if everything and not (isinstance(last := handler.body[-1], ast.Raise) and last.exc is None):
                    return handler
        child = above
    return None


def _suppresses(manager: ast.expr) -> bool:
    """`contextlib.suppress(BaseException)`."""
    if not isinstance(manager, ast.Call) or dotted(manager.func).rpartition(".")[2] != "suppress":
        return False
    return any(dotted(kind).endswith("BaseException") or isinstance(kind, ast.Starred) for kind in manager.args)


def _is_path_to(name: str, text: ast.Constant) -> bool:
    """Whether a text is a name, or a dotted path that ends in it."""
    return isinstance(text.value, str) and (text.value == name or text.value.endswith(f".{name}"))


def _is_template(call: ast.Call) -> bool:
    match call.args:
        case [ast.Constant(value=str(uri)), *_]:
            return "{" in uri
    return False
