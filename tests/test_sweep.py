"""What only deleted code used goes with it, and nothing else does."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest
from mcp_migrate.rewrite import edits
from mcp_migrate.rewrite.sweep import _cut, _Place, mentions, sweep
from mcp_migrate.rewrite.tree import Tree
from mcp_migrate.source import Source, Span


def swept(before: str, after: str, *mentioned: str) -> str:
    """`after` without what the way from `before` has left unused."""
    before, after = dedent(before).lstrip(), dedent(after).lstrip()
    while True:
        source = Source("app.py", after)
        groups = list(sweep(Source("app.py", before), Tree(source), mentioned))
        if not groups:
            return after
        taken, _ = edits.compose(groups)
        after = edits.apply(source.utf8, taken).decode()


def gone(definition: str, use: str, *mentioned: str, kept: str = "") -> str:
    """What is left of a definition after its only use has gone."""
    definition = dedent(definition).lstrip()
    return swept(f"{definition}\n{use}\n{kept}", f"{definition}\n{kept}", *mentioned).removesuffix(f"\n{kept}")


@pytest.mark.parametrize(
    ("definition", "use"),
    [
        ("def helper():\n    return 1\n", "helper()"),
        ("async def helper():\n    return helper\n", "helper()"),
        ("def helper(x=1): ...\n", "helper()"),
        ("class Helper(Exception):\n    code = 1\n", "raise Helper"),
        ("LIMIT = 10\n", "print(LIMIT)"),
        ("LIMIT: int = 10\n", "print(LIMIT)"),
        ("STATE = {'a': [1, None]}\n", "STATE['a']"),
        ("LOCK = threading.Lock()\n", "LOCK.acquire()"),
        ("def one():\n    return two()\ndef two(): ...\n", "one()"),
        ("LIMIT = 10\nconfig.LIMIT\n", "LIMIT"),
        ("READY = False\ndef a():\n    global READY\n    READY = True\n", "if READY: a()"),
    ],
)
def test_what_became_unused_goes(definition: str, use: str) -> None:
    assert gone(definition, use).strip() in ("", "config.LIMIT")


@pytest.mark.parametrize(
    ("definition", "use", "kept"),
    [
        ("def helper(): ...\n", "helper()", "x = helper"),
        ("def helper(): ...\n", "helper()", "getattr(m, 'helper')()"),
        ("def handle_a(): ...\n", "handle_a()", "getattr(m, 'handle_' + name)()"),
        ("def helper(): ...\n", "helper()", "__all__ = ['helper']"),
        ("def helper(): ...\n", "helper()", "app.route('x.helper')"),
        ("def helper(): ...\n", "helper()", "globals()[name]()"),
        ("def helper(): ...\n", "helper()", "getattr(a, b)"),
        ("@deco\ndef helper(): ...\n", "helper()", ""),
        ("LIMIT = load()\n", "LIMIT", ""),
        ("A, B = 1, 2\n", "A", ""),
        ("for A in x: pass\n", "A", ""),
        ("class Helper(Plugin): ...\n", "Helper()", ""),
        ("class Helper(Exception, metaclass=M): ...\n", "Helper()", ""),
        ("def __getattr__(name): ...\n", "__getattr__()", ""),
        ("class A(Handler):\n    def do_x(self): ...\n", "A().do_x()", "A()"),
    ],
)
def test_what_may_still_be_used_or_does_something_stays(definition: str, use: str, kept: str) -> None:
    assert gone(definition, use, kept=kept) == dedent(definition)


def test_what_other_files_mention_stays() -> None:
    assert gone("def helper(): ...\n", "helper()", "helper") == "def helper(): ...\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import app\napp.helper\n", True),
        ("from app import helper as h\n", True),
        ("patch('app.helper')\n", True),
        ("monkeypatch.setattr(app, 'helper', 1)\n", True),
        ("f(helper=1)\n", True),
        ("getattr(app, name)\nNAMES = ['helper']\n", True),
        ("NAMES = ['helper']\n", False),
        ("# helper\n", False),
        ("def helper(): ...\n", False),
    ],
)
def test_another_file_mentions_what_it_can_reach(text: str, expected: bool) -> None:
    assert ("helper" in mentions(Source("other.py", text))) is expected


def test_state_that_only_deleted_code_changed_goes_though_nobody_read_it() -> None:
    before = (
        "class A:\n    def __init__(self):\n        self.x = 1\n        self.ready = False\n    def f(self):\n        self.ready = True\n"
    )
    after = before.replace("self.ready = True", "return self.x")
    assert swept(before, after) == after.replace("        self.ready = False\n", "")


def test_what_was_unused_before_stays() -> None:
    assert swept("def old(): ...\nx()\n", "def old(): ...\n") == "def old(): ...\n"


def test_methods_and_attributes_of_an_own_class_go() -> None:
    before = """
        class Server:
            level = "info"

            def __init__(self):
                self.tools = []
                self.ready = False
                self.client: dict = {}
                self.log = open_log()

            def _start(self, params):
                self.client = params["clientInfo"]
                self.ready = True
                return self._hello()

            def _hello(self):
                return self.level

            def handle(self, m):
                if m == "initialize":
                    return self._start(m)
                if not self.ready or self.client or self.log:
                    return None
                return self.tools
    """
    handle = before[before.index("            def handle") :]
    after = before.replace(handle, "            def handle(self, m):\n                return self.tools\n")
    assert (
        swept(before, after)
        == dedent(
            """
        class Server:
            def __init__(self):
                self.tools = []
                self.log = open_log()

            def handle(self, m):
                return self.tools
        """
        ).lstrip()
    )


def test_the_comment_above_a_function_goes_with_it() -> None:
    before = "x = 1\n\n\n# how to help\ndef helper(): ...\n\n\nhelper()\n"
    assert swept(before, before.removesuffix("\n\nhelper()\n")) == "x = 1\n"


def test_a_function_that_only_set_an_unused_global_keeps_a_body() -> None:
    before = "READY = 0\ndef f():\n    global READY\n\n    READY = 1\nprint(f())\nREADY\n"
    assert swept(before, before.removesuffix("READY\n")) == "def f():\n    pass\nprint(f())\n"


def test_the_gap_above_stays_where_the_next_statement_has_none() -> None:
    before = "import a\n\nV = 1\nN = 2\nprint(V, a, N)\n"
    assert swept(before, before.replace("V, ", "")) == "import a\n\nN = 2\nprint(a, N)\n"


def test_one_name_of_a_global_statement_goes() -> None:
    before = "A = B = 0\nREADY = False\ndef f():\n    global READY, B\n    READY = True\n    B = 2\n    return B\nREADY\n"
    after = before.removesuffix("READY\n")
    assert swept(before, after) == "A = B = 0\ndef f():\n    global B\n    B = 2\n    return B\n"


def test_a_decorated_function_goes_when_its_decorator_has_gone() -> None:
    before = '@on("ping")\ndef ping():\n    return {}\n\n\n@on("a")\ndef a(): ...\n'
    assert swept(before, before.removeprefix('@on("ping")\n')) == '@on("a")\ndef a(): ...\n'


def test_locals_of_the_function_that_lost_a_branch_go() -> None:
    before = """
        def f(message):
            params = message.get("params", {})
            asked = params.get("protocolVersion")
            body = read(message)
            if asked:
                return body
            for unused in message:
                pass
            return params
    """
    after = before.replace("    if asked:\n                return body\n        ", "")
    assert "asked" not in after.replace("asked = ", "")
    assert (
        swept(before, after)
        == dedent(
            """
        def f(message):
            params = message.get("params", {})
            body = read(message)
            for unused in message:
                pass
            return params
        """
        ).lstrip()
    )


def test_a_file_with_syntax_that_had_to_be_masked_is_left_alone() -> None:
    new = 'def f(a):\n    return f"{a["b"] + helper()}"\n'
    assert swept(f"def helper(): ...\n{new}helper()\n", f"def helper(): ...\n{new}") == f"def helper(): ...\n{new}"


def test_a_name_stays_whole_if_one_of_its_places_cannot_be_found() -> None:
    tree = Tree(Source("app.py", "X = 1\nX = 2\n"))
    found, lost = (_Place(ast.Pass(), span, True, "X") for span in (Span(0, 5), Span(7, 9)))
    assert [edit.span for edit in _cut(tree, [found])] == [Span(0, 6)]
    assert _cut(tree, [found, lost]) == _cut(tree, [lost]) == []


def test_what_a_chain_of_hundreds_of_branches_mentions_is_read() -> None:
    branches = "".join(f"    elif m == {number}:\n        return a{number}\n" for number in range(980))
    assert "a979" in mentions(Source("app.py", f"def f(m):\n    if m:\n        return a\n{branches}"))


REPLY = "def reply(body, sid=None):\n    return body\n"
SENT = "def reply(body, sid=None):\n    if sid:\n        send(sid)\n    return body\n"


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("reply(1, key)", "reply(1)"),
        ("reply(1, sid=key)", "reply(1)"),
        ("reply(sid=key, body=1)", "reply(body=1)"),
        ("reply(1)", "reply(1)"),
    ],
)
def test_a_parameter_that_only_deleted_code_used_goes_with_its_arguments(call: str, expected: str) -> None:
    assert (
        swept(f"{SENT}x = {call}\nprint(x)\n", f"{REPLY}x = {call}\nprint(x)\n")
        == f"def reply(body):\n    return body\nx = {expected}\nprint(x)\n"
    )


@pytest.mark.parametrize(
    "use",
    ["x = reply(*given)", "x = reply(1, make())", "x = map(reply, given)", "x = other.reply(1, key)", "x = 1"],
    ids=["starred", "does something", "handed on", "of another object", "never called here"],
)
def test_a_parameter_stays_where_a_call_may_still_give_it(use: str) -> None:
    rest = f"{use}\nprint(x, reply.__name__)\n" if use == "x = 1" else f"{use}\nprint(x)\n"
    assert swept(SENT + rest, REPLY + rest) == REPLY + rest


def test_a_parameter_stays_where_another_file_calls() -> None:
    rest = "print(reply(1, key))\n"
    assert swept(SENT + rest, REPLY + rest, "reply") == REPLY + rest


def test_names_that_go_side_by_side_leave_one_gap() -> None:
    before = "import os\n\nKEPT = 1\n\nA = 1\nB = 2\n\n\ndef f():\n    return KEPT\n\n\nprint(f(), A, B)\n"
    after = before.replace("f(), A, B", "f()")
    assert swept(before, after) == "import os\n\nKEPT = 1\n\n\ndef f():\n    return KEPT\n\n\nprint(f())\n"


def test_what_a_web_framework_looks_for_stays_and_other_names_of_its_classes_go() -> None:
    before = """
        class Page(web.RequestHandler):
            known = set()
            timeout = 5

            def prepare(self):
                return self.known, self.timeout

            def get(self):
                self.prepare()
        """
    after = before.replace("return self.known, self.timeout", "return None").replace("self.prepare()", "pass")
    assert "known" not in swept(before, after)
    assert "timeout = 5" in swept(before, after)
    assert "def prepare" in swept(before, after)


@pytest.mark.parametrize(("text", "stays"), [('{"helper": True}', False), ('{"helper": f}', True), ('["helper"]', True)])
def test_a_key_of_a_plain_value_is_no_mention(text: str, stays: bool) -> None:
    left = gone("def helper():\n    return 1\n", "helper()", kept=f"f = 1\nprint({text}, f)\n")
    assert ("def helper" in left) is stays


@pytest.mark.parametrize(
    ("kept", "goes"),
    [("reply({'id': 1})", True), ("getattr(session, 'id')", False), ("vars(session)", False), ("print(session.id)", False)],
)
def test_a_key_of_a_message_keeps_no_attribute_but_a_look_by_name_does(kept: str, goes: bool) -> None:
    session = "class Session:\n    def __init__(self):\n        self.id = 1\n"
    assert ("self.id" not in swept(f"{session}SESSIONS[session.id]\n{kept}\n", f"{session}{kept}\n")) is goes


def test_an_object_of_a_known_class_is_asked_for_its_own_attributes_only() -> None:
    before = """
        class Desk:
            def open(self): ...
        class Hello: ...
        def call(desk: Desk, name):
            return getattr(desk, name)()
        Hello()
    """
    after = before.replace("        Hello()\n", "")
    assert swept(before, after) == dedent(after.replace("        class Hello: ...\n", "")).lstrip()


def test_settings_go_with_the_last_code_that_read_them() -> None:
    before = "settings.configure(DEBUG=True, SESSION_SECONDS=1800, KEY=load())\nkeep(settings.SESSION_SECONDS, settings.KEY)\n"
    assert swept(before, before.splitlines(keepends=True)[0]) == "settings.configure(DEBUG=True, KEY=load())\n"
    named = before + "get('SESSION_SECONDS')\n"
    assert "SESSION_SECONDS=1800" in swept(named, named.replace("keep(settings.SESSION_SECONDS, settings.KEY)\n", ""))
