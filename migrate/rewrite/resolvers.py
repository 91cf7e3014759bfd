"""Moves a question out of a tool: the SDK asks before it calls the tool, and hands the answer over as one more parameter.

Only where the question is a function of the tool's arguments, and is asked once, before the tool does anything. Tests that leave the
tool before the question is reached become part of the resolver as well, which then asks nothing.
"""

from __future__ import annotations

import ast
import builtins
import textwrap
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from ..rule import Import
from ..sdk.modules import Def, How, Module, dotted
from ..source import Span
from . import cut, lines
from .edits import Edit
from .questions import TOOLS, Entry, Question, Questions, Quiet
from .tree import Tree

_BUILTINS = frozenset(dir(builtins))
_SERVER = "mcp.server.mcpserver"
_TELLING = ("logger", "logging", "log", "_logger", "LOGGER")


@dataclass(frozen=True)
class Ask:
    """What a function does up to its question: what is copied into the resolver, and what goes from the function."""

    question: Question
    target: str  # the name that the answer gets
    copied: tuple[ast.Assign | ast.If, ...]
    gone: tuple[ast.stmt, ...]  # the question, and what only the question uses
    names: frozenset[str]  # parameters of the function that are used
    optional: bool  # it may ask nothing
    call: str  # `Elicit(...)`
    marker: str  # `Elicit[Model]`
    answer: str  # the type of the answer
    needs: tuple[Import, ...]


@dataclass(frozen=True)
class Use:
    """A tool that gets an answer. `call` is its call of the function that asks; None where it asks itself."""

    entry: Entry
    ask: Ask
    call: ast.Call | None = None
    copied: tuple[ast.Assign | ast.If, ...] = ()
    given: tuple[tuple[str, ast.expr], ...] = ()  # the arguments of that call that the question depends on
    names: frozenset[str] = frozenset()
    optional: bool = False
    parameter: str = ""


@dataclass(frozen=True)
class Plan:
    """Everything that the move needs."""

    ask: Ask
    uses: tuple[Use, ...]
    edits: tuple[Edit, ...] = ()
    needs: tuple[Import, ...] = field(default=())


def plan(question: Question, found: Questions) -> Plan | None:
    """The plan for a question; None where something of what it takes is not proven."""
    reach = found.reach(question)
    module, function = question.module, question.function
    if reach.doubt or function is None or not reach.entries or question.name not in ("elicit", "create_message", "list_roots"):
        return None
    if any(step.module is not module for step in reach.steps):
        return None
    for entry in reach.entries:
        if entry.key not in TOOLS or entry.place is None or len(entry.function.decorator_list) != 1 or entry.module is not module:
            return None
        others = [one for one, _ in found.asked_by(entry.function)]
        called = found.is_used_otherwise(entry.function, module, ())
        named = module.functions.get(entry.function.name, [])
        if (
            len(named) > 1
            or others != [question]
            or called
            or any("Resolve(" in module.text(p.annotation) for p in _parameters(entry.function) if p.annotation)
        ):
            return None
    ask = _ask(question, function, found)
    if ask is None:
        return None
    own = [entry for entry in reach.entries if entry.function is function]
    if own:
        if len(reach.entries) > 1 or ask.target in {p.arg for p in _parameters(function)}:
            return None
        uses: list[Use] = [Use(own[0], ask, names=ask.names, optional=ask.optional, parameter=ask.target)]
    else:
        calls = [step for step in reach.steps if step.call is not question.call]
        if found.is_used_otherwise(function, module, [step.call for step in calls]):
            return None
        if len(calls) != len(reach.entries) or module.parents.get(function) is not module.tree or not _is_replaceable(ask, function):
            return None
        uses = []
        for step in calls:
            tool = next((one for one in reach.entries if one.function is step.function), None)
            use = _use(tool, step.call, ask, found) if tool is not None else None
            if use is None:
                return None
            uses.append(use)
    return Plan(ask, tuple(uses))


def edits(plan: Plan, tree: Tree, found: Questions) -> Iterator[Edit | Import]:
    """The edits of a plan."""
    module = plan.ask.question.module
    facts = found.read(module)
    step = lines.step_of(facts)
    shared = ""
    if len(plan.uses) > 1 or (plan.uses[0].call is not None and not _is_joinable(plan.uses[0])):
        function = plan.ask.question.function
        assert function is not None
        shared = _free(f"ask_{function.name.lstrip('_')}", module)
        body = [*_copied(plan.ask.copied, module, found, step), f"return {plan.ask.call}"]
        yield _above(
            module, function, _def(shared, _signature(function, plan.ask.names, module), _returns(plan.ask, plan.ask.optional), body, step)
        )
    for use in plan.uses:
        name = _free(f"ask_{use.entry.function.name.lstrip('_')}", module)
        body = [*_copied(use.copied, module, found, step)]
        if shared:
            arguments = ", ".join(f"{given}={module.text(value)}" for given, value in use.given)
            body.append(f"return await {shared}({arguments})")
        else:
            body += [f"{given} = {module.text(value)}" for given, value in use.given if not _is_name(value, given)]
            body += [*_copied(plan.ask.copied, module, found, step), f"return {plan.ask.call}"]
        signature = _signature(use.entry.function, use.names, module)
        yield _above(module, use.entry.function, _def(name, signature, _returns(plan.ask, use.optional or plan.ask.optional), body, step))
        yield _parameter(use, f"{use.parameter}: Annotated[{plan.ask.answer}, Resolve({name})]", module)
        if use.call is not None:
            yield Edit(module.span(_handed(use.call, plan.ask)), use.parameter)
    function = plan.ask.question.function
    assert function is not None
    if plan.uses[0].call is not None:
        origin = _context(plan.ask)
        yield Edit(module.span(origin), f"{plan.ask.target}: {plan.ask.answer}")
    nodes = [node for one in plan.ask.gone if (node := tree.statement(module.span(one))) is not None]
    yield from cut.statements(tree, nodes)
    bound = module.scopes[module.tree].bindings
    for need in (Import("typing", "Annotated"), Import(_SERVER, "Resolve"), *plan.ask.needs):
        if need.name not in bound:
            yield need


# -- what a function asks ----------------------------------------------------------
def _ask(question: Question, function: Def, found: Questions) -> Ask | None:
    module = question.module
    place = _asked(question, function, found)
    if place is None or not isinstance(question.origin, ast.Name):
        return None
    index, target = place
    context = question.origin.id
    if context not in {p.arg for p in _parameters(function)}:
        return None
    before = _before(function.body[:index], module, found, {context, target})
    made = _made(question, found)
    if before is None or made is None:
        return None
    call, marker, answer, needs = made
    before = _needed(before, [*question.call.args, *(keyword.value for keyword in question.call.keywords)])
    arguments = [*question.call.args, *(keyword.value for keyword in question.call.keywords)]
    tests = [one.test if isinstance(one, ast.If) else one.value for one in before]
    names = _names([*arguments, *tests], function, module, {context, target}, _given(before))
    quiet = Quiet(found, twice=True)
    if names is None or not all(quiet.expression(argument, module) for argument in arguments):
        return None
    if not all(_is_placeable(name, answer, function, module) for name in ("Annotated", "Resolve", *(need.name for need in needs))):
        return None
    given = _given(before)
    gone: list[ast.stmt] = []
    rest = [node for statement in function.body[index + 1 :] for node in ast.walk(statement)]
    rest += [node for one in before if isinstance(one, ast.If) for statement in one.body for node in ast.walk(statement)]
    used = {node.id for node in rest if isinstance(node, ast.Name)}
    parameters = {p.arg for p in _parameters(function)}
    if target in parameters | given:
        return None
    for one in before:
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name) and one.targets[0].id not in used | parameters:
            later = [test for other in before if isinstance(other, ast.If) for test in ast.walk(other.test)]
            if not any(isinstance(node, ast.Name) and node.id == one.targets[0].id for node in later):
                gone.append(one)
    # What is copied for something that goes has to go as a whole, or not at all.
    kept = [one for one in before if isinstance(one, ast.Assign) and one not in gone]
    needed = {node.id for one in kept for node in ast.walk(one.value) if isinstance(node, ast.Name)}
    gone = [
        one for one in gone if not (isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name) and one.targets[0].id in needed)
    ]
    return Ask(
        question,
        target,
        tuple(before),
        (*gone, function.body[index]),
        names & frozenset(parameters),
        any(isinstance(one, ast.If) for one in before),
        call,
        marker,
        answer,
        needs,
    )


def _asked(question: Question, function: Def, found: Questions) -> tuple[int, str] | None:
    """The place of the statement that only asks, and the name that it gives the answer."""
    for index, statement in enumerate(function.body):
        inner = statement
        if isinstance(statement, ast.Try):
            openings = {opening.handler for opening in found.openings(question) if opening.guarded is statement}
            if statement.orelse or statement.finalbody or len(statement.body) != 1 or openings != {*statement.handlers}:
                continue
            inner = statement.body[0]
        match inner:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Await(value=call)) if call is question.call:
                return index, name
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Await(value=call)) if call is question.call:
                return index, name
    return None


def _before(block: Sequence[ast.stmt], module: Module, found: Questions, closed: Collection[str]) -> list[ast.Assign | ast.If] | None:
    """What stands before a question, as far as the question may depend on it; None if something there does more than decide."""
    copied: list[ast.Assign | ast.If] = []
    quiet = Quiet(found, twice=True)
    for number, statement in enumerate(block):
        match statement:
            case ast.Expr(value=ast.Constant(value=str())) if number == 0:
                continue
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))) if name in _TELLING and not _mentions(
                statement, closed
            ):
                continue  # told a little later
            case ast.Assign(targets=[ast.Name()], value=value) if quiet.expression(value, module) and not _mentions(value, closed):
                copied.append(statement)
            case ast.If(test=test, body=body, orelse=[]) if isinstance(body[-1], ast.Return | ast.Raise) and not _mentions(test, closed):
                if not quiet.expression(test, module):
                    return None
                copied.append(statement)
            case _:
                return None
    return copied


def _needed(before: Sequence[ast.Assign | ast.If], asked: Sequence[ast.expr]) -> list[ast.Assign | ast.If]:
    """Of what stands before a question, the tests, and what they and the question depend on."""
    names = {inner.id for node in asked for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    found: list[ast.Assign | ast.If] = []
    for one in reversed(before):
        node = one.test if isinstance(one, ast.If) else one.value
        target = None if isinstance(one, ast.If) else one.targets[0]
        if target is None or (isinstance(target, ast.Name) and target.id in names):
            found.insert(0, one)
            names |= {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    return found


def _mentions(node: ast.AST, names: Collection[str]) -> bool:
    return any(isinstance(inner, ast.Name) and inner.id in names for inner in ast.walk(node))


def _given(copied: Sequence[ast.Assign | ast.If]) -> set[str]:
    return {target.id for one in copied if isinstance(one, ast.Assign) for target in one.targets if isinstance(target, ast.Name)}


def _names(
    nodes: Sequence[ast.expr], function: Def, module: Module, closed: Collection[str], given: Collection[str]
) -> frozenset[str] | None:
    """The names that expressions use; None if one of them is known in the function alone and cannot be handed over."""
    local = module.scopes[function].bindings
    top = module.scopes[module.tree].bindings
    own = {inner.id for node in nodes for inner in ast.walk(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)}
    names = {inner.id for node in nodes for inner in ast.walk(node) if isinstance(inner, ast.Name)} - own
    parameters = {p.arg: p for p in _parameters(function)}
    for name in names:
        if name in closed:
            return None
        if name in parameters:
            if "alias" in module.text(parameters[name]):  # the SDK hands it over by its other name
                return None
            continue
        if name in local:
            if name not in given:  # by a statement that is copied
                return None
        elif (name not in top and name not in _BUILTINS) or _is_hidden(name, function, module):
            return None
    return frozenset(names)


def _is_hidden(name: str, function: Def, module: Module) -> bool:
    """Whether a function or class around this one has a name of its own that a resolver beside it would not see."""
    scope = module.scopes[function].parent
    while scope is not None and scope.parent is not None:
        if name in scope.bindings:
            return True
        scope = scope.parent
    return False


def _made(question: Question, found: Questions) -> tuple[str, str, str, tuple[Import, ...]] | None:
    """What the resolver returns, its type, the type of the answer, and what these need."""
    module, call = question.module, question.call
    if any(isinstance(argument, ast.Starred) for argument in call.args) or any(keyword.arg is None for keyword in call.keywords):
        return None
    text = lines.moved(found.read(module), call)
    if text is None:
        return None
    arguments = text[len(module.text(call.func)) :]
    if question.name == "elicit":
        words = {keyword.arg: keyword.value for keyword in call.keywords}
        schema = call.args[1] if len(call.args) > 1 else words.get("schema")
        model = dotted(schema) if schema is not None else ""
        if not model or not {*words} <= {"message", "schema"}:
            return None
        needs = (Import(_SERVER, "Elicit"), Import(_SERVER, "ElicitationResult"))
        return f"Elicit{arguments}", f"Elicit[{model}]", f"ElicitationResult[{model}]", needs
    if question.name == "create_message":
        words = {keyword.arg: keyword.value for keyword in call.keywords}
        if "related_request_id" in words or len(call.args) > 1:
            return None
        tools = [value for name in ("tools", "tool_choice") if (value := words.get(name)) is not None]
        if any(not isinstance(value, ast.Constant) and isinstance(value, ast.Name) for value in tools):
            return None
        result = "CreateMessageResultWithTools" if any(not isinstance(value, ast.Constant) for value in tools) else "CreateMessageResult"
        return f"Sample{arguments}", "Sample", result, (Import(_SERVER, "Sample"), Import("mcp.types", result))
    return "ListRoots()", "ListRoots", "ListRootsResult", (Import(_SERVER, "ListRoots"), Import("mcp.types", "ListRootsResult"))


def _is_placeable(name: str, answer: str, function: Def, module: Module) -> bool:
    """Whether a name means what it should beside the function, and the model of the answer is there by then."""
    for binding in module.bound.get(name, ()):
        known = binding.how is How.IMPORTED and binding.target.rpartition(".")[2] == name
        if not known or binding.target.partition(".")[0] not in ("mcp", "mcp_types", "typing", "typing_extensions"):
            return False
    model = answer.partition("[")[2].rstrip("]").partition(".")[0]
    if not model:
        return True
    bindings = module.scopes[module.tree].bindings.get(model, ())
    anchor = _anchor(function, module)
    start = module.span(anchor).start
    return len(bindings) == 1 and hasattr(bindings[0].node, "lineno") and module.span(bindings[0].node).start < start


# -- what a tool does with a function that asks ---------------------------------------
def _is_replaceable(ask: Ask, function: Def) -> bool:
    """Whether the function needs its context for nothing but the question."""
    origin = ask.question.origin
    assert isinstance(origin, ast.Name)
    used = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == origin.id]
    arguments = function.args
    defaulted = arguments.args[len(arguments.args) - len(arguments.defaults) :] if arguments.defaults else []
    plain = any(p.arg == origin.id for p in arguments.args) and all(p.arg != origin.id for p in defaulted)
    return len(used) == 1 and plain and not arguments.posonlyargs and not function.decorator_list


def _context(ask: Ask) -> ast.arg:
    function, origin = ask.question.function, ask.question.origin
    assert function is not None
    assert isinstance(origin, ast.Name)
    return next(p for p in _parameters(function) if p.arg == origin.id)


def _handed(call: ast.Call, ask: Ask) -> ast.expr:
    """The argument that hands the context over."""
    function, context = ask.question.function, _context(ask)
    assert function is not None
    named = next((keyword.value for keyword in call.keywords if keyword.arg == context.arg), None)
    return named if named is not None else call.args[function.args.args.index(context)]


def _use(entry: Entry, call: ast.Call, ask: Ask, found: Questions) -> Use | None:
    module, function = entry.module, entry.function
    asking = ask.question.function
    assert asking is not None
    index = next((number for number, statement in enumerate(function.body) if any(node is call for node in ast.walk(statement))), None)
    if (
        index is None
        or not _is_first(call, function.body[index], module)
        or any(isinstance(argument, ast.Starred) for argument in call.args)
    ):
        return None
    parameters = [p.arg for p in asking.args.args]
    values = dict(zip(parameters, call.args, strict=False)) | {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    context = _context(ask).arg
    handed = values.get(context)
    if len(call.args) > len(parameters) or any(keyword.arg is None or keyword.arg == context for keyword in call.keywords):
        return None
    own = {p.arg for p in _parameters(function)}
    if not isinstance(handed, ast.Name) or handed.id not in own or any(name not in values for name in ask.names):
        return None
    before = _before(function.body[:index], module, found, {handed.id})
    given = tuple((name, values[name]) for name in parameters if name in ask.names)
    quiet = Quiet(found, twice=True)
    if before is None or not all(quiet.expression(value, module) for _, value in given):
        return None
    before = _needed(before, [value for _, value in given])
    tests = [one.test if isinstance(one, ast.If) else one.value for one in before]
    names = _names([*(value for _, value in given), *tests], function, module, {handed.id}, _given(before))
    if names is None or not all(
        _is_placeable(name, ask.answer, function, module) for name in ("Annotated", "Resolve", *(need.name for need in ask.needs))
    ):
        return None
    taken = own | {*module.scopes[function].bindings}
    parameter = next((name for name in (ask.target, f"{ask.target}_of_{asking.name.lstrip('_')}") if name not in taken), None)
    if parameter is None:
        return None
    return Use(entry, ask, call, tuple(before), given, names & frozenset(own), any(isinstance(one, ast.If) for one in before), parameter)


def _is_first(call: ast.Call, statement: ast.stmt, module: Module) -> bool:
    """Whether a statement always makes this call, before anything else."""
    if not isinstance(statement, ast.Expr | ast.Assign | ast.AnnAssign | ast.Return | ast.If):
        return False
    node: ast.AST = call
    for above in module.around(call):
        if isinstance(above, ast.If):
            return above is statement and node is above.test
        if isinstance(above, ast.stmt):
            return above is statement
        if isinstance(above, ast.BoolOp):
            if above.values[0] is not node:
                return False
        elif not isinstance(above, ast.Await | ast.UnaryOp | ast.Compare | ast.Attribute | ast.NamedExpr):
            return False
        node = above
    return False


def _is_joinable(use: Use) -> bool:
    """Whether the question's own names can stand in the tool's resolver."""
    given = {name for name, value in use.given if not _is_name(value, name)}
    return not ((given | _given(use.ask.copied)) & (use.names | _given(use.copied)))


# -- text ----------------------------------------------------------------------------
def _copied(statements: Sequence[ast.Assign | ast.If], module: Module, found: Questions, step: str) -> Iterator[str]:
    facts = found.read(module)
    for one in statements:
        if isinstance(one, ast.If):
            yield f"if {lines.moved(facts, one.test) or ast.unparse(one.test)}:\n{step}return None"
        else:
            target = one.targets[0]
            assert isinstance(target, ast.Name)
            yield f"{target.id} = {lines.moved(facts, one.value) or ast.unparse(one.value)}"


def _def(name: str, signature: str, returns: str, body: Sequence[str], step: str) -> str:
    return f"async def {name}({signature}) -> {returns}:\n" + "".join(textwrap.indent(part, step) + "\n" for part in body) + "\n\n"


def _returns(ask: Ask, optional: bool) -> str:
    return f"{ask.marker} | None" if optional else ask.marker


def _signature(function: Def, names: Collection[str], module: Module) -> str:
    parts = []
    top = module.scopes[module.tree].bindings
    for parameter in _parameters(function):
        if parameter.arg in names:
            annotation = parameter.annotation
            match annotation:
                case ast.Subscript(value=value, slice=ast.Tuple(elts=[first, *_])) if dotted(value).rpartition(".")[2] == "Annotated":
                    annotation = first
            known = annotation is not None and all(
                node.id in top or node.id in _BUILTINS for node in ast.walk(annotation) if isinstance(node, ast.Name)
            )
            parts.append(f"{parameter.arg}: {module.text(annotation)}" if known and annotation is not None else parameter.arg)
    return ", ".join(parts)


def _parameter(use: Use, text: str, module: Module) -> Edit:
    """One more parameter, before those that have a default; in place of the context, where only the question needed that."""
    function = use.entry.function
    arguments = function.args
    context = _useless(use)
    if context is not None:
        return Edit(module.span(context), text)
    places = [*arguments.posonlyargs, *arguments.args]
    required = len(places) - len(arguments.defaults)
    source = module.source
    if not places:
        start = module.span(arguments.kwonlyargs[0]).start
        return Edit(Span(start, start), f"{text}, ")
    if required < len(places):
        start = module.span(places[required]).start
        line = source.utf8[lines.line_start(source, start) : start].decode()
        gap = f",{source.newline}{line}" if not line.strip() else ", "
        return Edit(Span(start, start), f"{text}{gap}")
    last = places[-1]
    start, end = module.span(last)
    line = source.utf8[lines.line_start(source, start) : start].decode()
    gap = f",{source.newline}{line}" if not line.strip() else ", "
    return Edit(Span(end, end), f"{gap}{text}")


def _useless(use: Use) -> ast.arg | None:
    """The parameter that holds the context, if it has no default, and nothing that stays uses it."""
    handed = _handed(use.call, use.ask) if use.call is not None else use.ask.question.origin
    assert isinstance(handed, ast.Name)
    function, arguments = use.entry.function, use.entry.function.args
    gone = {node for statement in use.ask.gone for node in ast.walk(statement)} if use.call is None else {handed}
    used = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == handed.id and node not in gone]
    required = [*arguments.posonlyargs, *arguments.args][: len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults)]
    required += [one for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if default is None]
    return next((one for one in required if one.arg == handed.id), None) if not used else None


def _parameters(function: Def) -> list[ast.arg]:
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def _anchor(function: Def, module: Module) -> ast.stmt:
    """The statement of the module that a function is part of."""
    node: ast.AST = function
    for above in module.around(function):
        if above is module.tree:
            break
        node = above
    assert isinstance(node, ast.stmt)
    return node


def _above(module: Module, function: Def, text: str) -> Edit:
    """Lines above a function and its comments, at the margin."""
    source = module.source
    anchor = _anchor(function, module)
    first = anchor.decorator_list[0] if isinstance(anchor, Def | ast.ClassDef) and anchor.decorator_list else anchor
    row = first.lineno
    while row > 1 and source.line(row - 1).startswith("#") and not source.line(row - 1).startswith("#!"):
        row -= 1
    at = source.line_starts[row - 1]
    return Edit(Span(at, at), lines.block(source, text))


def _free(name: str, module: Module) -> str:
    """A name that nothing in the file has."""
    taken = module.bound.keys()
    return next(one for one in (name, *(f"{name}_{number}" for number in range(2, 99))) if one not in taken)


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
