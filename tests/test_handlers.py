"""Deleting a handler leaves code that dispatches every other method as before."""

from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_migrate.facts.model import Handler, Shape
from mcp_migrate.rewrite import edits, handlers
from mcp_migrate.rewrite.tree import Tree
from mcp_migrate.source import Source, Span


def handler(source: Source, method: str, shape: Shape, nth: int = 0) -> Handler:
    """The handler that names the method, as facts point at it: by the string."""
    at = -1
    for _ in range(nth + 1):
        at = source.text.index(f'"{method}"', at + 1)
    start = len(source.text[:at].encode())
    return Handler(Span(start, start + len(method.encode()) + 2), method, shape=shape)


def without(text: str, method: str, shape: Shape = Shape.COMPARE) -> str:
    source = Source("app.py", text)
    found = list(handlers.remove(handler(source, method, shape), Tree(source)))
    return edits.apply(source.utf8, found).decode()


def check(before: str, after: str, shape: Shape = Shape.COMPARE) -> None:
    assert without(dedent(before), "ping", shape) == dedent(after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            """
            def f(m):
                x = 1

                if m == "ping":
                    return 1

                elif m == "b":
                    return 2
            """,
            """
            def f(m):
                x = 1

                if m == "b":
                    return 2
            """,
        ),
        (
            """
            def f(m):
                # Every method has its turn.
                if m == "ping":
                    return 1
                # about b
                elif m == "b":
                    return 2
                else:
                    return 3
            """,
            """
            def f(m):
                # Every method has its turn.
                # about b
                if m == "b":
                    return 2
                else:
                    return 3
            """,
        ),
        (
            """
            def f(m):
                if m == "a":
                    return 1
                # about ping
                elif m == "ping":
                    # inside
                    return 2
                    # at the end
                # about b
                elif m == "b":
                    return 3
            """,
            """
            def f(m):
                if m == "a":
                    return 1
                # about b
                elif m == "b":
                    return 3
            """,
        ),
        (
            """
            def f(m):
                if m == "a":
                    return 1
                elif m == "ping":
                    return 2
                else:
                    return 3
            """,
            """
            def f(m):
                if m == "a":
                    return 1
                else:
                    return 3
            """,
        ),
        (
            '''
            def f(m):
                # about ping or not
                if m == "ping":
                    return 1
                else:
                    # the rest
                    x = """
                    kept
                    """
                    return x  # done
                    # end
            ''',
            '''
            def f(m):
                # about ping or not
                # the rest
                x = """
                    kept
                    """
                return x  # done
                # end
            ''',
        ),
        (
            """
            def f(m):
                a = m

                # ping is nothing
                if m == "ping":
                    return 1

                # about b
                if m == "b":
                    return 2
                return 3
            """,
            """
            def f(m):
                a = m

                # about b
                if m == "b":
                    return 2
                return 3
            """,
        ),
        (
            """
            def f(m):
                if m == "ping":
                    return 1

                if m == "b":
                    return 2
            """,
            """
            def f(m):
                if m == "b":
                    return 2
            """,
        ),
        (
            """
            def f(m):
                if m == "ping":
                    send(1)
            """,
            """
            def f(m):
                pass
            """,
        ),
        (
            """
            def f(m):
                if m == "a": return 1
                if m == "ping": return {"x": 1}
                elif m == "b": return 2
                else: return 3
            """,
            """
            def f(m):
                if m == "a": return 1
                if m == "b": return 2
                else: return 3
            """,
        ),
        (
            """
            def f(m):
                if m == "ping": return 1
                else: return 3
            """,
            """
            def f(m):
                return 3
            """,
        ),
        (
            """
            def f(m):
                # --- lifecycle ---

                # answer
                if m == "ping":
                    return 1
                return 2
            """,
            """
            def f(m):
                # --- lifecycle ---

                return 2
            """,
        ),
    ],
    ids=[
        "gap before elif", "first of chain", "middle of chain", "last before else", "only branch with else", "early return", "first early return",
        "only statement", "one-line suites", "one-line else", "heading stays",
    ],
)  # fmt: skip
def test_a_branch_goes_with_its_comments(before: str, after: str) -> None:
    check(before, after)


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ('m == "ping" or m == "b"', 'm == "b"'),
        ('m == "b" or m == "ping"', 'm == "b"'),
        ('m == "a" or m == "ping" or m == "b"', 'm == "a" or m == "b"'),
        ('(m == "ping" or m == "b") and x', '(m == "b") and x'),
        ('m in ("ping", "b")', 'm in ("b",)'),
        ('m in ("b", "ping")', 'm in ("b",)'),
        ('m in ("ping", "b", "c")', 'm in ("b", "c")'),
        ('m in ["b", "ping"]', 'm in ["b"]'),
        ('m in {"a", "b", "c", "ping"}', 'm in {"a", "b", "c"}'),
        ('m in {"a", "ping", "b", "c"}', 'm in {"a", "b", "c"}'),
        ('not x and m != "ping"', "not x"),
        ('m not in ("ping",) and x', "x"),
        ('x or (m == "ping" and y)', "x"),
        ('x or not (m != "ping")', "x"),
        ('m.lower() == "ping" or x', "x"),
        ('"ping" == m or x', "x"),
    ],
)
def test_a_test_loses_one_member(test: str, expected: str) -> None:
    check(f"if {test}:\n    pass\n", f"if {expected}:\n    pass\n")


@pytest.mark.parametrize(
    "test",
    ['m == "ping" and x', 'x and m == "ping"', 'm in ("ping",)', '(m == "ping")', '"ping" == m', 'not m != "ping"', 'm in {"ping"}'],
)
def test_a_test_that_holds_for_one_method_only_takes_the_branch_along(test: str) -> None:
    check(f"if {test}:\n    a()\nelif x:\n    b()\n", "if x:\n    b()\n")


@pytest.mark.parametrize(
    "text",
    [
        'is_ping = m == "ping"\n',
        'while m == "ping":\n    pass\n',
        'if m != "ping":\n    raise Bad\nrest()\n',
        'if m != "ping" or x:\n    raise Bad\n',
        'if pop(queue) == "ping":\n    pass\n',
        'if advance() and m == "ping":\n    pass\n',
        'elif_ = [x for x in y if x == "ping"]\n',
        'match m:\n    case n if n == "ping":\n        pass\n    case _:\n        print(n)\n',
        'match pop():\n    case "ping":\n        pass\n',
        'if a:\n    pass\nelif (m := read()) == "ping":\n    pass\nelif m:\n    pass\n',
    ],
)
def test_what_cannot_be_proven_stays(text: str) -> None:
    assert without(text, "ping") == text


def test_the_other_side_of_a_negated_test_is_the_handler() -> None:
    check('if m != "ping":\n    a()\nelse:\n    b()\n', "a()\n")
    check('if x:\n    c()\nelif m != "ping":\n    a()\nelse:\n    b()\nd()\n', "if x:\n    c()\nelse:\n    a()\nd()\n")


def test_a_name_that_the_first_test_assigns_is_assigned_before_the_chain() -> None:
    check(
        'def f():\n    if (m := get()) == "ping":\n        return 1\n    elif m == "b":\n        return 2\n',
        'def f():\n    m = get()\n    if m == "b":\n        return 2\n',
    )


def test_a_conditional_expression_keeps_its_other_side() -> None:
    check('x = 1 if m == "ping" else f(m)\n', "x = f(m)\n")
    check('x = (g() if m != "ping" else f(m))\n', "x = (g())\n")


def test_operands_on_lines_of_their_own_take_their_comments() -> None:
    check(
        'if (\n    m == "a"  # about a\n    or m == "ping"  # about ping\n    or m == "b"  # about b\n):\n    pass\n',
        'if (\n    m == "a"  # about a\n    or m == "b"  # about b\n):\n    pass\n',
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('match m:\n    case "ping":\n        a()\n    case _:\n        b()\n', "match m:\n    case _:\n        b()\n"),
        ('match m:\n    case "a":\n        a()\n    # why\n    case "ping":\n        b()\n', 'match m:\n    case "a":\n        a()\n'),
        ('match m:\n    case "ping" | "b":\n        a()\n', 'match m:\n    case "b":\n        a()\n'),
        ('match m:\n    case "b" | "ping":\n        a()\n', 'match m:\n    case "b":\n        a()\n'),
        ('match m:\n    case "a" | "ping" | "b":\n        a()\n', 'match m:\n    case "a" | "b":\n        a()\n'),
        (
            'match m:\n    case {"method": "ping", "id": i}:\n        a()\n    case {"method": x}:\n        b()\n',
            'match m:\n    case {"method": x}:\n        b()\n',
        ),
        ('match m:\n    case R(method="ping"):\n        a()\n    case _:\n        b()\n', "match m:\n    case _:\n        b()\n"),
        ('x\nmatch m:\n    case "ping":\n        a()\ny\n', "x\ny\n"),
    ],
    ids=["first", "last", "or first", "or last", "or middle", "mapping", "class", "only case"],
)
def test_a_case_goes_or_loses_an_alternative(before: str, after: str) -> None:
    check(before, after, Shape.CASE)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('T = {"ping": f, "b": g}\n', 'T = {"b": g}\n'),
        ('T = {"b": g, "ping": f}\n', 'T = {"b": g}\n'),
        ('T = {"b": g, "ping": f,}\n', 'T = {"b": g,}\n'),
        ('T = {"ping": f}\n', "T = {}\n"),
        (
            'T = {\n    # about a\n    "a": f,  # a\n    # about ping\n    "ping": g,  # p\n    # about b\n    "b": h,  # b\n}\n',
            'T = {\n    # about a\n    "a": f,  # a\n    # about b\n    "b": h,  # b\n}\n',
        ),
        ('T = {\n    "a": f,\n    "ping": g\n}\n', 'T = {\n    "a": f,\n}\n'),
        ('T = {\n    "a": f,\n    "ping": {\n        "x": 1,\n    },\n}\n', 'T = {\n    "a": f,\n}\n'),
        ('T["ping"] = f\nx\n', "x\n"),
        ('class A:\n    T = {"a": f, "ping": g}\n', 'class A:\n    T = {"a": f}\n'),
        ('for m, h in [("a", f), ("ping", g)]:\n    r(m, h)\n', 'for m, h in [("a", f)]:\n    r(m, h)\n'),
        ('for m, h in (("ping", g), ("a", f)):\n    r(m, h)\n', 'for m, h in (("a", f),):\n    r(m, h)\n'),
    ],
)
def test_a_table_loses_one_entry(before: str, after: str) -> None:
    check(before, after, Shape.TABLE)


def test_a_dict_call_loses_one_keyword() -> None:
    text = "T = dict(ping=f, b=g)\n"
    source = Source("app.py", text)
    found = handlers.remove(Handler(Span(9, 13), "ping", shape=Shape.TABLE), Tree(source))
    assert edits.apply(source.utf8, found) == b"T = dict(b=g)\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('register("ping", f)\nregister("b", g)\n', 'register("b", g)\n'),
        ('a(); s.on("ping", f); b()\n', "a(); b()\n"),
        ('s.on("a", f).on("ping", g).on("b", h)\n', 's.on("a", f).on("b", h)\n'),
        ('s.on("a", f).on("ping", g)\n', 's.on("a", f)\n'),
        ('s = (\n    S()\n    .on("a", f)\n    .on("ping", g)\n)\n', 's = (\n    S()\n    .on("a", f)\n)\n'),
        ('register("ping")(f)\nx\n', "x\n"),
        ('if a: register("ping", f)\n', "if a: pass\n"),
    ],
)
def test_a_registration_goes(before: str, after: str) -> None:
    check(before, after, Shape.REGISTER)


def test_a_decorator_goes_and_the_function_is_left_to_the_sweep() -> None:
    check('@on("a")\n@on("ping")\ndef f(): ...\n', '@on("a")\ndef f(): ...\n', Shape.DECORATOR)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('M = {"ping"}\n', "M = set()\n"),
        ('M = ["ping"]\n', "M = []\n"),
        ('M = ("ping",)\n', "M = ()\n"),
        ('M = frozenset({"ping"})\n', "M = frozenset()\n"),
        ('M = frozenset({"ping", "b"})\n', 'M = frozenset({"b"})\n'),
        ('M = {\n    "ping",  # alive\n    "b",\n}\n', 'M = {\n    "b",\n}\n'),
        ('M = ("b", "ping")\n', 'M = ("b",)\n'),
        ('M = "b", "ping"\n', 'M = "b",\n'),
    ],
)
def test_a_collection_loses_one_member(before: str, after: str) -> None:
    check(before, after, Shape.MEMBER)


def test_a_method_found_by_its_name_goes_unless_it_is_called() -> None:
    text = "class A:\n    def handle_a(self): ...\n\n    # alive\n    def handle_ping(self):\n        return 1\n"
    start = text.index("handle_ping")
    fact = Handler(Span(start, start + 11), "ping", shape=Shape.ATTRIBUTE)
    source = Source("app.py", text)
    assert edits.apply(source.utf8, handlers.remove(fact, Tree(source))) == b"class A:\n    def handle_a(self): ...\n"
    assert list(handlers.remove(fact, Tree(Source("app.py", text + "\nA().handle_ping()\n")))) == []


def test_a_request_model_goes_with_its_mentions() -> None:
    text = dedent(
        """
        class A(Base):
            method: Literal["a"]


        class Ping(Base):
            method: Literal["ping"]


        Any1 = Union[A, Ping]
        Any2 = A | Ping

        def f(r):
            if isinstance(r, Ping):
                return 1
            elif isinstance(r, (A, Ping)):
                return 2
            match r:
                case Ping():
                    return 1
                case A():
                    return 2
        """
    )
    assert without(text, "ping", Shape.TYPE) == dedent(
        """
        class A(Base):
            method: Literal["a"]


        Any1 = Union[A]
        Any2 = A

        def f(r):
            if isinstance(r, (A,)):
                return 2
            match r:
                case A():
                    return 2
        """
    )
    used = text + "\nsend(Ping())\n"
    assert without(used, "ping", Shape.TYPE) == used


def test_a_literal_type_loses_one_member() -> None:
    check('M = Literal["a", "ping"]\n', 'M = Literal["a"]\n', Shape.TYPE)


def test_prefixes_and_parts_of_names_let_other_methods_through_and_stay() -> None:
    text = 'if m.startswith("ping"):\n    pass\n'
    assert without(text, "ping", Shape.PREFIX) == text
    assert without('if "ping" in m:\n    pass\n', "ping", Shape.SUBSTRING) == 'if "ping" in m:\n    pass\n'


# Chains of every shape, run before and after

METHODS = ["initialize", "ping", "tools/list", "tools/call", "logging/setLevel", "prompts/list"]
GONE = ["initialize", "ping", "logging/setLevel"]


@st.composite
def dispatchers(draw: st.DrawFn) -> tuple[str, Shape]:
    """The text of a module with `dispatch(m)`, and the shape of its handlers."""
    methods = draw(st.permutations(METHODS))[: draw(st.integers(1, len(METHODS)))]
    kind = draw(st.sampled_from(["chain", "early", "one-line", "match", "table", "own-line table", "pairs", "assigned", "nested"]))
    otherwise = draw(st.booleans())
    groups: list[list[str]] = []
    for method in methods:
        if groups and draw(st.integers(0, 3)) == 0:
            groups[-1].append(method)
        else:
            groups.append([method])
    end = "    return 'unknown'"
    answer = "return {!r}".format
    if kind in ("chain", "early", "one-line", "nested"):
        lines = []
        for number, group in enumerate(groups):
            test = draw(st.sampled_from(TESTS))(group)
            if draw(st.integers(0, 4)) == 0:
                test = f"({test}) and m"
            word = "elif" if number and kind != "early" else "if"
            space = draw(st.sampled_from(["", "    # about it\n", "    \n    # about it\n"]))
            suite = f" {answer(group[0])}" if kind == "one-line" else f"\n        # inside\n        {answer(group[0])}\n        # end"
            lines.append(f"{space}    {word} {test}:{suite}")
        if otherwise and kind != "early":
            lines.append("    else:\n        m += '!'\n        return m")
        body = "\n".join(lines)
        if kind == "nested":
            body = "    try:\n" + "\n".join("    " + line for line in body.split("\n")) + "\n    finally:\n        pass"
        return f"def dispatch(m):\n{body}\n{end}\n", Shape.COMPARE
    if kind == "match":
        cases = [f"        case {' | '.join(map(quoted, group))}:\n            {answer(group[0])}" for group in groups]
        cases += ["        case _:\n            return 'rest'"] if otherwise else []
        return "def dispatch(m):\n    match m:\n" + "\n".join(cases) + f"\n{end}\n", Shape.CASE
    if kind == "assigned":
        return "T = {}\n" + "".join(f"T[{quoted(m)}] = {m!r}\n" for m in methods) + "def dispatch(m):\n    return T.get(m)\n", Shape.TABLE
    if kind == "pairs":
        rows = ", ".join(f"({quoted(m)}, {m!r})" for m in methods) + ","
        return f"T = ({rows})\ndef dispatch(m):\n    return dict(T).get(m)\n", Shape.TABLE
    if kind == "table":
        rows = ", ".join(f"{quoted(m)}: {m!r}" for m in methods)
        return f"T = {{{rows}}}\ndef dispatch(m):\n    return T.get(m)\n", Shape.TABLE
    rows = "".join(f"    # about it\n    {quoted(m)}: {m!r},  # behind\n" for m in methods)
    return f"T = {{\n{rows}}}\ndef dispatch(m):\n    return T.get(m)\n", Shape.TABLE


def quoted(method: str) -> str:
    return f'"{method}"'


TESTS = [
    lambda group: " or ".join(f"m == {quoted(method)}" for method in group),
    lambda group: " or ".join(f"{quoted(method)} == m" for method in group),
    lambda group: "m in (" + ", ".join(map(quoted, group)) + ("," if len(group) == 1 else "") + ")",
    lambda group: "m in {" + ", ".join(map(quoted, group)) + "}",
    lambda group: "not (" + " and ".join(f"m != {quoted(method)}" for method in group) + ")",
    lambda group: "not m not in [" + ", ".join(map(quoted, group)) + "]",
]


def run(text: str) -> dict[str, object]:
    scope: dict[str, object] = {}
    exec(compile(text, "app.py", "exec"), scope)
    return {method: scope["dispatch"](method) for method in [*METHODS, "other"]}  # type: ignore[operator]


def is_named(text: str, method: str) -> bool:
    return quoted(method) in text


@settings(max_examples=300, deadline=None)
@given(dispatchers(), st.permutations(GONE))
def test_removing_handlers_changes_no_other_method(made: tuple[str, Shape], gone: list[str]) -> None:
    text, shape = made
    before = run(text)
    for method in gone:
        while is_named(text, method):
            source = Source("app.py", text)
            found = list(handlers.remove(handler(source, method, shape), Tree(source)))
            assert found, f"{method} stays in\n{text}"
            text = edits.apply(source.utf8, found).decode()
    after = run(text)
    assert {m: r for m, r in after.items() if m not in GONE} == {m: r for m, r in before.items() if m not in GONE}
    assert not any(is_named(text, method) for method in GONE)


@settings(max_examples=200, deadline=None)
@given(dispatchers())
def test_removing_in_rounds_as_the_engine_does_changes_no_other_method(made: tuple[str, Shape]) -> None:
    text, shape = made
    before = run(text)
    for _ in range(10):
        source = Source("app.py", text)
        tree = Tree(source)
        groups = [list(handlers.remove(handler(source, method, shape), tree)) for method in GONE if is_named(text, method)]
        taken, _ = edits.compose(groups)
        new = edits.apply(source.utf8, taken).decode()
        try:
            compile(new, "app.py", "exec")
        except SyntaxError:
            # Two edits that are right alone may leave nothing together: one at a time, then.
            new = edits.apply(source.utf8, groups[0]).decode()
        text = new
    after = run(text)
    assert {m: r for m, r in after.items() if m not in GONE} == {m: r for m, r in before.items() if m not in GONE}
    assert not any(is_named(text, method) for method in GONE)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("MCP = Stateless(INFO, CAPS)\n", "MCP = Stateless(INFO, CAPS, legacy=False)\n"),
        ("MCP = Stateless(INFO, CAPS, legacy=True)\n", "MCP = Stateless(INFO, CAPS, legacy=False)\n"),
        ("MCP = Stateless(INFO, CAPS, legacy=False)\n", "MCP = Stateless(INFO, CAPS, legacy=False)\n"),
        ("MCP = Stateless(\n    INFO,\n    CAPS,\n)\n", "MCP = Stateless(\n    INFO,\n    CAPS, legacy=False,\n)\n"),
        ("OTHER = Stateless(INFO, CAPS)\n", "OTHER = Stateless(INFO, CAPS)\n"),
    ],
    ids=["nothing said", "said otherwise", "said", "several lines", "another object"],
)
def test_a_boundary_is_told_to_refuse_older_clients(before: str, after: str) -> None:
    source = Source("app.py", before)
    assert edits.apply(source.utf8, handlers.refuse_legacy(Tree(source), {"MCP"})).decode() == after
