"""Transport options in the constructor of a FastMCP server, or in its settings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.code import last
from ...facts.model import Symbol, SymbolUse
from ...rewrite import compat
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import, NewFile, Severity
from ...sdk import asserted
from ...sdk.modules import Def, Module
from ...sdk.options import MOVED, Options, Reach, Sink, plans_at
from ...sdk.servers import CLASSES, part
from ...sdk.symbols import REPLACED
from ...sdk.types import OWN, Function, Instance, members
from ...source import Span, is_test

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_LOCAL_ONLY = (
    "TransportSecuritySettings(",
    "    enable_dns_rebinding_protection=True,",
    '    allowed_hosts=["127.0.0.1:*", "localhost:*", "[::1]:*"],',
    '    allowed_origins=["http://127.0.0.1:*", "http://localhost:*", "http://[::1]:*"],',
    ")",
)
_WIDTH = 100
_MANY = 3
_EQUALS = frozenset({"assertEqual", "assertEquals", "assertIs"})


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    name = part(fact)
    if ctx.keeps:
        yield from _for_both(fact, ctx)
        return
    if fact.use is SymbolUse.PATCHED:
        yield from _of_stand_in(fact, ctx)
    if name is None or (name == "" and fact.use is not SymbolUse.CALL):
        return
    if name == "__init__":
        yield from _inherited(fact, ctx)
        return
    if name == "settings" and (lost := _unclaimed(fact, ctx)) is not None:
        yield ctx.finding(fact, Applicability.MANUAL, span=ctx.module.span(lost), hint=ctx.entry.hints["unsure"])
    if name == "settings" and (kept := _kept(fact, ctx)) is not None:
        message = f"`{kept.attr}` is still a setting of version 2 of the SDK, and an argument of the constructor too"
        hint = "nothing is to do; an argument of the constructor is clearer"
        yield ctx.finding(fact, Applicability.MANUAL, span=ctx.module.span(kept), message=message, hint=hint, severity=Severity.NOTE)
    for options in plans_at(ctx.module.at(fact.span), ctx.sdk, ctx.entry.data):
        for span in _places(fact, options, ctx):
            problem = options.problem
            if problem:
                yield ctx.finding(fact, Applicability.MANUAL, span=span, hint=_hint(problem, options, ctx))
            else:
                yield ctx.finding(fact, Applicability.SAFE, span=span)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    name, node = part(fact), ctx.module.at(fact.span)
    if fact.use is SymbolUse.PATCHED:
        for method in _deaf(fact, ctx):
            yield from _listening(method, ctx)
        given = dict(_asked_elsewhere(fact, ctx))
        for read, text in given.items():
            yield _written(text, read, ctx.module)
        for read in () if given else _idle_questions(fact, ctx):
            yield from _unasked(read, tree, ctx)
        return
    for options in plans_at(node, ctx.sdk, ctx.entry.data):
        if options.problem:
            continue
        if name == "" and node is options.server.call:
            yield from _made(options, tree, ctx)
        elif name == "settings" and options.shared and not options.shared.made:
            # The dict is made where the server is; a server without options of its own is no finding there.
            if any(change.use.node is node and options.is_idle(change) for change in options.changes):
                yield from _settings(node, options, tree, ctx)
            elif options.module is ctx.module and any(change.use.node is node for change in options.changes):
                yield from _made(options, tree, ctx)
        elif name == "settings":
            yield from _settings(node, options, tree, ctx)
        else:
            for sink in options.sinks:
                if sink.use.node is node:
                    yield from _served(sink, options, tree, ctx)


def _for_both(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    """A server whose class has to come from the module that takes such options with either release."""
    node = ctx.module.at(fact.span)
    if fact.key != compat.SERVER or fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call) or compat.is_taken(node, ctx):
        return
    words = [word for word in node.keywords if word.arg in MOVED]
    for word in words:
        yield ctx.finding(fact, Applicability.SAFE, span=ctx.module.span(word))


def keep(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import | NewFile]:
    if not compat.obstacle(ctx):
        yield from compat.taken(fact, "FastMCP", tree, ctx)


def _inherited(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    for word in node.keywords if isinstance(node, ast.Call) else ():
        if word.arg in MOVED:
            yield ctx.finding(fact, Applicability.MANUAL, span=ctx.module.span(word), hint=ctx.entry.hints["subclass"])


def _unclaimed(fact: Symbol, ctx: Context) -> ast.AST | None:
    """A setting that is gone, of a server that is made nobody knows where."""
    node = ctx.module.at(fact.span)
    above = ctx.module.parents.get(node) if node is not None else None
    if not isinstance(above, ast.Attribute) or above.attr not in MOVED:
        return None
    return None if ctx.sdk.servers.using(node) else above


def _kept(fact: Symbol, ctx: Context) -> ast.Attribute | None:
    """A setting that stays, where it is assigned."""
    node = ctx.module.at(fact.span)
    above = ctx.module.parents.get(node) if node is not None else None
    if not isinstance(above, ast.Attribute) or above.attr in (*MOVED, "mount_path") or not isinstance(above.ctx, ast.Store):
        return None
    return None if ctx.sdk.is_moved(ctx.file.source.path) else above


def _places(fact: Symbol, options: Options, ctx: Context) -> Iterator[Span]:
    """Where a fact shows something that has to move."""
    module, node = ctx.module, ctx.module.at(fact.span)
    if node is options.server.call and fact.key in CLASSES:
        yield from (module.span(place) for place in options.places)
    for change in options.changes:
        if change.use.node is node:
            yield module.span(change.statement)
    for read in options.reads:
        if read.use.node is node:
            yield module.span(read.node)
    for use in options.odd:
        if use.node is node and options.is_wanted:
            yield module.span(use.node)
    if not options.problem:
        for sink in options.sinks:
            if sink.use.node is node and options.missing(sink):
                yield module.span(node)


def _hint(problem: str, options: Options, ctx: Context) -> str:
    server, module = options.server, options.server.module
    statement = module.statement(server.call)
    name = ast.unparse(statement.targets[0]) if isinstance(statement, ast.Assign) else "server"
    method = "sse_app" if {"sse_path", "message_path"} & options.given.keys() else "streamable_http_app"
    words = [f"{word}={module.text(value)}" for word, value in options.given.items() if word != "port"]
    partial = " ".join(f"functools.partial({name}.{method}, {', '.join(words)})".split())
    if problem == "unserved" and not words:
        problem = "unheard"
    sink = next((sink.use.name for sink in options.sinks), "run")
    return ctx.entry.hints[problem].format(
        partial=partial, sink=f"{sink}()", port=module.text(options.given["port"]) if "port" in options.given else ""
    )


# -- where the server is made ----------------------------------------------------


def _made(options: Options, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    from ...rewrite import calls

    module, call = ctx.module, options.server.call
    found = calls.at(tree, module.span(call))
    if found is None or not options.is_ready:
        return
    own = [argument for argument in found.args if argument.keyword is not None and argument.keyword.value in options.given]
    if options.shared and not options.shared.made:
        yield from _hoisted(options, module)
        if not options.shared.attached and module.means("Any", "typing.Any"):
            yield Import("typing", "Any")
        if options.shared.guarded:
            yield Import("mcp.server.transport_security", "TransportSecuritySettings")
        if options.shared.attached:
            pass  # the constructor keeps its own until all have theirs
        elif own:
            first, *rest = own
            yield Edit(tree.span(first), f"**{options.shared.name}")
            yield from calls.drop(tree, found, rest)
        else:
            yield from calls.add(tree, found, [f"**{options.shared.name}"])
    elif options.is_settled:
        if options.shared and not options.shared.attached:
            own = [
                argument
                for argument in found.args
                if argument.star == "**" and tree.source.slice(tree.span(argument.value)) == options.shared.name
            ]
        yield from calls.drop(tree, found, own)


def _hoisted(options: Options, module: Module) -> Iterator[Edit]:
    """The options as a dict of their own, before the statement that makes the server, or as an attribute of the server."""
    from ...rewrite.lines import above_remarks, indent_of, line_start, next_line

    assert options.shared is not None
    statement = module.statement(options.server.call)
    assert statement is not None
    start = module.span(statement).start
    indent = indent_of(module.source, start)
    entries = []
    for name, value in options.given.items():
        above, behind = options.remarks(name)
        entries += [*above, f'"{name}": {module.text(value)},' + (f"  {behind}" if behind else "")]
    entries += [f'"{name}": {text},' for name, text in options.shared.filled.items()]
    if options.shared.guarded:
        entries += [
            "# As version 1 had it: whatever address is bound later, only local names are let in.",
            f'"transport_security": {_LOCAL_ONLY[0]}',
            *_LOCAL_ONLY[1:-1],
            f"{_LOCAL_ONLY[-1]},",
        ]
    newline = module.source.newline
    kind = "dict[str, Any]" if module.means("Any", "typing.Any") else "dict"
    head, tail = f"{options.shared.name}: {kind} = ", ""
    if options.shared.attached and isinstance(statement, ast.Assign):
        head, tail = f'setattr({module.text(statement.targets[0])}, "{options.shared.name}", ', ")"
    flat = "{" + " ".join(entries).removesuffix(",") + "}"
    plain = len(entries) < 3 and "\n" not in flat and not any("# " in entry for entry in entries)
    if plain and len(indent) + len(head) + len(flat) + len(tail) <= _WIDTH:
        text = f"{indent}{head}{flat}{tail}{newline}"
    else:
        lines = newline.join(f"{indent}    {entry}" for entry in entries)
        text = f"{indent}{head}{{{newline}{lines}{newline}{indent}}}{tail}{newline}"
    if options.shared.attached:
        at = next_line(module.source, module.span(statement).end)
        gap = "" if module.source.utf8[:at].endswith((b"\n", b"\r")) else newline
        yield Edit(Span(at, at), gap + text)
    else:
        # A comment above the server is about the server.
        at = above_remarks(module.source, start)
        yield Edit(Span(at, at), text if at == line_start(module.source, start) else f"{text}{newline}")


# -- the settings ------------------------------------------------------------------


def _settings(node: ast.AST | None, options: Options, tree: Tree, ctx: Context) -> Iterator[Edit]:
    from ...rewrite import cut
    from ...rewrite.lazy import cst

    module = ctx.module
    for change in options.changes:
        if change.use.node is node and options.is_idle(change):
            statement = tree.node(cst.Assign, module.span(change.statement))
            if statement is not None:
                yield from cut.statement(tree, statement)
            return
        if change.use.node is node and options.shared and options.shared.made:
            where = options.reach(options.shared.name, change.use)
            if where is not None:
                yield from _inserted(where)
                yield Edit(module.span(change.target), f'{where.text}["{change.name}"]')
    for read in options.reads:
        if read.use.node is node:
            if options.shared and not options.shared.made:
                return
            value = options.value(read.name, read.use)
            if value is not None:
                yield from _inserted(value)
                yield _written(value.text, read.node, module)


def _written(text: str, node: ast.expr, module: Module) -> Edit:
    """A value in place of a reading; inside of a string a literal is part of it, and quotes are others than its own."""
    span = module.span(node)
    string = next((above for above in module.around(node) if isinstance(above, ast.JoinedStr)), None)
    if string is None:
        return Edit(span, text)
    data = module.source.utf8
    plain = text.strip("\"'")
    alone = data[span.start - 1 : span.end + 1] == b"{%s}" % data[span.start : span.end]
    if alone and (text.isdigit() or text[1:-1] == plain) and not any(mark in plain for mark in "{}\\\"'"):
        return Edit(Span(span.start - 1, span.end + 1), plain)
    outer = module.text(string).lstrip("rRfFbBuU")[:1]
    return Edit(span, text.replace('"', "'") if outer == '"' else text)


# -- where a test puts something else in the place of the server -----------------------


def _of_stand_in(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    given = dict(_asked_elsewhere(fact, ctx))
    asked = [read for read in _idle_questions(fact, ctx) if read not in given]
    for method in _deaf(fact, ctx):
        start, end = ctx.module.span(method)
        head = ctx.module.source.utf8.index(b"(", start, end)
        message = f"`{method.name}` of a stand-in takes no options, and version 2 of the SDK is given those of the transport here"
        # What is found of one place is fixed in one go.
        sure = Applicability.UNSAFE if asked and not given else Applicability.SAFE
        yield ctx.finding(fact, sure, span=Span(start, head), message=message, hint=ctx.entry.hints["stand_in"])
    for read in (*given, *asked):
        message = f"a test asks for the setting `{read.attr}`, which version 2 of the SDK does not have, and nothing sets any more"
        if read in given:
            hint = ctx.entry.hints["elsewhere"].format(text=given[read])
            yield ctx.finding(fact, Applicability.SAFE, span=ctx.module.span(read), message=message, hint=hint)
        else:
            # Whether a test may go without a line of it is for a human.
            sure = Applicability.MANUAL if given else Applicability.UNSAFE
            yield ctx.finding(fact, sure, span=ctx.module.span(read), message=message, hint=ctx.entry.hints["unasked"])


def _replaced(fact: Symbol, ctx: Context) -> Options | None:
    """What has to move, or has moved, of the one server of the project, where a test puts something else in its place."""
    owner, _, name = str(fact.key).partition(".")
    if owner != REPLACED or name not in CLASSES or not ctx.project.is_test(ctx.file.source.path):
        return None
    servers = ctx.project.remember("servers outside of tests", lambda: [one for one in ctx.sdk.servers if not is_test(one.module.path)])
    if len(servers) != 1:
        return None
    found = [options for options in plans_at(servers[0].call, ctx.sdk, ctx.entry.data) if options.server is servers[0]]
    # A test that was not moved with its server is found later, too.
    options = found[0] if found else Options(servers[0], ctx.sdk, ctx.entry.data)
    return None if options.problem else options


def _deaf(fact: Symbol, ctx: Context) -> Iterator[Def]:
    """The methods of a class that is put in the server's place, which are to be given options and take nothing."""
    options, module = _replaced(fact, ctx), ctx.module
    node = module.at(fact.span)
    call = module.parents.get(node) if node is not None else None
    if options is None or not isinstance(call, ast.Call) or node not in call.args[:-1]:
        return
    known = ctx.sdk.type(call.args[call.args.index(node) + 1], module)
    path, own, qualified = known.name.partition(OWN) if isinstance(known, Instance) else ("", "", "")
    found = module.defined.get(qualified) if own and path == module.path else None
    if not isinstance(found, ast.ClassDef) or found.bases or found.keywords:
        return
    # Once, however many tests do so.
    if ctx.sdk.memo.setdefault(f"transport_option {path}:{qualified}", fact.span) != fact.span:
        return
    given = {sink.use.name for sink in options.sinks if options.missing(sink)}
    for method in found.body:
        if isinstance(method, Def) and method.name in given and not method.decorator_list and _takes_nothing(method):
            yield method


def _takes_nothing(method: Def) -> bool:
    args = method.args
    return len(args.args) == 1 and not (args.posonlyargs or args.kwonlyargs or args.vararg or args.kwarg)


def _listening(method: Def, ctx: Context) -> Iterator[Edit]:
    """`async def run_sse_async(self, **options)`; where the test looks at the settings of the stand-in, they go there."""
    module = ctx.module
    at = module.span(method.args.args[0]).end
    words = {*re.findall(r"\w+", module.text(method))}
    # What the method reads, or an inner function takes, by this name is something else.
    name = next(name for name in ("options", *(f"options_{number}" for number in range(2, len(words) + 3))) if name not in words)
    yield Edit(Span(at, at), f", **{name}")
    owner = module.parents.get(method)
    if not isinstance(owner, ast.ClassDef) or not _has_settings(owner, ctx):
        return
    me = method.args.args[0].arg
    body = method.body[1:] if ast.get_docstring(method, clean=False) is not None else method.body
    start = module.span(body[0] if body else method.body[0]).start
    line = module.source.utf8[:start].rpartition(b"\n")[2].decode("utf-8")
    if body and not line.strip():
        yield Edit(Span(start, start), f"vars({me}.settings).update({name}){module.source.newline}{line}")


def _has_settings(owner: ast.ClassDef, ctx: Context) -> bool:
    """Whether the objects of a class have settings that are an object like others."""
    module = ctx.module
    given = module.attributes.get(owner, {}).get("settings", ())
    for binding in given:
        value = binding.value
        known = ctx.sdk.type(value, module) if isinstance(value, ast.Call) else None
        path, own, qualified = known.name.partition(OWN) if isinstance(known, Instance) else ("", "", "")
        found = ctx.sdk.module_at(path).defined.get(qualified) if own else None
        plain = isinstance(found, ast.ClassDef) and not found.bases and not found.decorator_list and not _is_slotted(found)
        if not plain and not (isinstance(value, ast.Call) and last(value.func) == "SimpleNamespace"):
            return False
    return bool(given)


def _is_slotted(node: ast.ClassDef) -> bool:
    """Whether its objects have no dict, or methods decide on what they have."""
    given = (target for inner in node.body if isinstance(inner, ast.Assign) for target in inner.targets)
    methods = {inner.name for inner in node.body if isinstance(inner, Def)}
    return "__slots__" in map(last, given) or not methods.isdisjoint({"__setattr__", "__getattribute__", *MOVED})


def _idle_questions(fact: Symbol, ctx: Context) -> Iterator[ast.Attribute]:
    """`mock.settings.port` in an assertion about what is in the server's place: in version 2 nothing sets it there."""
    options, module = _replaced(fact, ctx), ctx.module
    node = module.at(fact.span)
    item = module.parents.get(module.parents.get(node, node), node) if node is not None else None
    if options is None or not isinstance(item, ast.withitem) or not isinstance(item.optional_vars, ast.Name):
        return
    name = item.optional_vars.id
    found: list[ast.Attribute] = []
    for use in module.loads.get(name, ()):
        settings = module.parents.get(use)
        read = module.parents.get(settings) if isinstance(settings, ast.Attribute) and settings.attr == "settings" else None
        if not isinstance(read, ast.Attribute) or read.attr not in MOVED or not isinstance(read.ctx, ast.Load):
            continue
        bindings = ctx.sdk.inference.bindings(name, use, module)
        mine = len(bindings) == 1 and module.statement(bindings[0].node) is module.statement(item)
        if mine and _is_assertion(module.statement(read), read, ctx) and not _is_given(name, read, item, module):
            found.append(read)
    # A test that would be left without a question is for a human.
    function = module.function(item)
    if function is not None and _asks_more(function, {module.statement(read) for read in found}):
        yield from found


def _asked_elsewhere(fact: Symbol, ctx: Context) -> Iterator[tuple[ast.Attribute, str]]:
    """The questions whose answer another mock of the test holds, and what asks that one."""
    options, module = _replaced(fact, ctx), ctx.module
    node = module.at(fact.span)
    item = module.parents.get(module.parents.get(node, node), node) if node is not None else None
    if options is not None and isinstance(item, ast.withitem):
        yield from asserted.moved(item, options, module)


def _asks_more(function: Def, unasked: set[ast.stmt | None]) -> bool:
    """Whether a test has other assertions than these."""
    for node in ast.walk(function):
        call = node.value if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
        asks = isinstance(node, ast.Assert) or (call is not None and last(call.func).startswith("assert"))
        if asks and node not in unasked:
            return True
    return False


def _is_given(name: str, read: ast.Attribute, item: ast.withitem, module: Module) -> bool:
    """Whether a test itself may set what it asks the stand-in for."""
    given = item.context_expr
    if (
        not isinstance(given, ast.Call)
        or given.keywords
        or any(isinstance(one, ast.Call) and (one.args or one.keywords) for one in given.args)
    ):
        return True
    around = module.function(item) or module.tree
    for use in ast.walk(around):
        if not isinstance(use, ast.Name) or use.id != name:
            continue
        settings = module.parents.get(use)
        if isinstance(settings, ast.Call):
            return True  # the whole stand-in is handed on
        if isinstance(settings, ast.Attribute) and settings.attr in ("settings", "configure_mock"):
            inner = module.parents.get(settings)
            if not isinstance(inner, ast.Attribute):
                return True
            if inner.attr == read.attr and not isinstance(inner.ctx, ast.Load):
                return True
    return False


def _is_assertion(statement: ast.stmt | None, read: ast.Attribute, ctx: Context) -> bool:
    """Whether a statement does nothing but say that what is read is something plain."""
    match statement:
        case ast.Assert(test=ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right]), msg=None):
            pass
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=attr) as asks, args=[left, right], keywords=[])
        ) if attr in _EQUALS:
            # One of the project's own may do more.
            if any(isinstance(one, Function) and OWN in one.name for one in members(ctx.sdk.type(asks, ctx.module))):
                return False
        case _:
            return False
    other = right if left is read else left
    return read in (left, right) and isinstance(other, ast.Constant | ast.Name)


def _unasked(read: ast.Attribute, tree: Tree, ctx: Context) -> Iterator[Edit]:
    from ...rewrite import cut
    from ...rewrite.lazy import cst

    statement = ctx.module.statement(read)
    if statement is not None:
        kind = cst.Assert if isinstance(statement, ast.Assert) else cst.Expr
        found = tree.node(kind, ctx.module.span(statement))
        if found is not None:
            yield from cut.statement(tree, found)


# -- where it is run ---------------------------------------------------------------


def _served(sink: Sink, options: Options, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    from ...rewrite import calls

    if options.shared and not options.shared.made:
        return
    names = options.missing(sink)
    if not names:
        return
    module, node = ctx.module, sink.use.node
    words: list[str] = []
    if sink.transport is not None:
        yield from _chosen(sink, names, options, tree, ctx)
        return
    for text, edits in _words(sink, names, options):
        words.append(text)
        yield from edits
    if sink.call is not None:
        found = calls.at(tree, module.span(sink.call))
        if found is not None:
            yield from calls.add(tree, found, words)
    else:
        span = module.span(node)
        yield Edit(Span(span.start, span.start), "partial(")
        yield Edit(Span(span.end, span.end), f", {', '.join(words)})")
        yield Import("functools", "partial")


def _words(sink: Sink, names: list[str], options: Options) -> Iterator[tuple[str, tuple[Edit, ...]]]:
    if options.shared and options.shared.names <= {*names}:
        where = options.reach(options.shared.name, sink.use)
        if where is not None:
            yield f"**{where.text}", (*_inserted(where),)
        return
    picked = _picked(names, sink, options)
    if picked is not None and len(names) >= _MANY:
        yield f"**{picked.text}", (*_inserted(picked),)
        return
    for name in names:
        value = options.value(name, sink.use)
        if value is not None:
            yield f"{name}={value.text}", (*_inserted(value),)


def _picked(names: list[str], sink: Sink, options: Options) -> Reach | None:
    """Some of the options that are kept together, as a dict."""
    where = options.reach(options.shared.name, sink.use) if options.shared else None
    if where is None:
        return None
    listed = ", ".join(f'"{name}"' for name in names)
    return Reach(f"{{name: {where.text}[name] for name in ({listed})}}", where.inserts)


def _chosen(sink: Sink, names: list[str], options: Options, tree: Tree, ctx: Context) -> Iterator[Edit]:
    """`run(transport=x)`: the options by the transport that it turns out to be."""
    from ...rewrite import calls
    from ...rewrite.lines import indent_of, line_start

    module, node = ctx.module, sink.call
    assert node is not None
    assert sink.transport is not None
    found = calls.at(tree, module.span(node))
    if found is None:
        return
    transport = module.text(sink.transport)
    if not sink.is_pure:
        # What works out the transport must run once.
        statement = module.statement(node)
        assert statement is not None
        name = "transport" if "transport" not in module.scope(node).bindings else "mcp_transport"
        at = line_start(module.source, module.span(statement).start)
        yield Edit(Span(at, at), f"{indent_of(module.source, module.span(statement).start)}{name} = {transport}{module.source.newline}")
        yield Edit(module.span(sink.transport), name)
        transport = name
    by_transport = {kind: options.accepted(names, kind) for kind in sink.kinds if kind != "stdio"}
    texts: dict[str, str] = {}
    for kind, accepted in by_transport.items():
        texts[kind], edits = _packed(accepted, sink, options)
        yield from edits
    different = {*texts.values()}
    if len(different) == 1:
        test = (
            f'{transport} == "stdio"'
            if isinstance(sink.transport, ast.Name | ast.Attribute) or not sink.is_pure
            else f'({transport}) == "stdio"'
        )
        word = f"**({{}} if {test} else {different.pop()})" if "stdio" in sink.kinds else f"**{different.pop()}"
        if isinstance(sink.transport, ast.IfExp) and sink.is_pure and "stdio" in sink.kinds:
            word = _by_test(sink.transport, next(iter(texts.values())), module) or word
    else:
        pairs = ", ".join(f'"{kind}": {text}' for kind, text in texts.items())
        word = f"**{{{pairs}}}.get({transport}, {{}})"
    yield from calls.add(tree, found, [word])


def _by_test(node: ast.IfExp, text: str, module: Module) -> str | None:
    """`"sse" if x else "stdio"`: the same test picks the options."""
    match node:
        case ast.IfExp(body=ast.Constant(value=one), orelse=ast.Constant(value=other)):
            if other == "stdio":
                return f"**({text} if {module.text(node.test)} else {{}})"
            if one == "stdio":
                return f"**({{}} if {module.text(node.test)} else {text})"
    return None


def _packed(names: list[str], sink: Sink, options: Options) -> tuple[str, tuple[Edit, ...]]:
    """A dict of options, as an expression."""
    if options.shared and options.shared.names <= {*names}:
        where = options.reach(options.shared.name, sink.use)
        if where is not None:
            return where.text, (*_inserted(where),)
    picked = _picked(names, sink, options)
    if picked is not None and len(names) > 1:
        return picked.text, (*_inserted(picked),)
    pairs: list[str] = []
    edits: list[Edit] = []
    for name in names:
        value = options.value(name, sink.use)
        if value is not None:
            pairs.append(f'"{name}": {value.text}')
            edits += _inserted(value)
    return "{" + ", ".join(pairs) + "}", tuple(edits)


def _inserted(where: Reach) -> Iterator[Edit]:
    return (Edit(Span(at, at), text) for at, text in where.inserts)
