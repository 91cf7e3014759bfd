"""What a file says, free of syntax: plain data with byte spans.

A fact is named after what the code is, never after a rule. `key` is spelled as the catalog spells it; what one file
cannot know is a `Ref`, which `project.link` resolves or drops.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from ..source import Source, Span


@dataclass(frozen=True, slots=True)
class Ref:
    """A dotted name that another module of the project defines; `lower` when the code lower-cases it.

    With `stars`, the name comes from one of these modules, the last import first.
    """

    name: str
    lower: bool = False
    stars: tuple[str, ...] = ()


class Shape(str, Enum):
    """How code names a method: what a rewrite would have to change."""

    COMPARE = "compare"  # if method == "ping", also yoda, walrus, attribute, subscript
    CASE = "case"  # match method: case "ping"
    TABLE = "table"  # {"ping": handler}, dict(ping=handler), TABLE["ping"] = handler
    REGISTER = "register"  # register("ping", handler)
    DECORATOR = "decorator"  # @method("ping")
    ATTRIBUTE = "attribute"  # getattr(self, "handle_" + name) with def handle_ping
    MEMBER = "member"  # method in {"ping", ...}
    SUBSTRING = "substring"  # "init" in method
    PREFIX = "prefix"  # method.startswith("notifications/")
    TYPE = "type"  # method: Literal["ping"]
    LITERAL = "literal"  # {"method": "ping"}
    KEYWORD = "keyword"  # Request(method="ping")
    ARGUMENT = "argument"  # client.request("ping")
    TEXT = "text"  # '{"method": "ping"}' as JSON text or bytes
    CONSTANT = "constant"  # PING = "ping"


@dataclass(frozen=True, slots=True)
class Fact:
    """Something at `span`; `scope` is the dotted name of the enclosing function or class, empty at module level."""

    span: Span
    key: str | Ref
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Handler(Fact):
    """Code that answers (or routes, or lets through) one method; `key` is the method."""

    shape: Shape = Shape.COMPARE
    negated: bool = False  # != or not in: the other branch is the handler
    body: Span | None = None  # what runs for this method and nothing else, where that is known
    trivial: bool = False  # the body only returns an empty answer


@dataclass(frozen=True, slots=True)
class Send(Fact):
    """A request or notification that this code sends; `key` is the method."""

    shape: Shape = Shape.LITERAL
    notification: bool = False


@dataclass(frozen=True, slots=True)
class Constant(Fact):
    """A name that holds protocol vocabulary; `key` is the value, `name` the dotted name inside the module."""

    name: str = ""


class CodeUse(str, Enum):
    """What is done with an error code."""

    SEND = "send"  # built into an error or an exception
    COMPARE = "compare"  # recognised in a peer's answer
    CONSTANT = "constant"  # given a name


@dataclass(frozen=True, slots=True)
class ErrorCode(Fact):
    """A JSON-RPC error code; `key` is the number as text, `text` the message (or name) that shows its meaning."""

    use: CodeUse = CodeUse.SEND
    text: str = ""
    method: str = ""  # the method whose handler holds it, where that is known
    name: str = ""  # the constant, where `use` is CONSTANT
    beside: frozenset[str] = frozenset()  # the other codes of the same collection


class VersionUse(str, Enum):
    """What is done with a protocol revision."""

    REPLY = "reply"  # "protocolVersion": "2025-06-18" in an answer
    SEND = "send"  # the same in a request
    CONSTANT = "constant"  # PROTOCOL_VERSION = "2025-06-18"
    LIST = "list"  # one entry of the supported versions
    DEFAULT = "default"  # params.get("protocolVersion", "2025-06-18"), x or "2025-06-18", os.environ.get(..., ...)
    HEADER = "header"  # "MCP-Protocol-Version": "2025-06-18"
    COMPARE = "compare"  # version == "2025-06-18"
    ORDER = "order"  # version >= "2025-06-18"
    ECHO = "echo"  # the client's own value comes back unchecked; key is "echo"


@dataclass(frozen=True, slots=True)
class Version(Fact):
    """A protocol revision; `key` is the revision, or "echo"."""

    use: VersionUse = VersionUse.CONSTANT


class HeaderUse(str, Enum):
    """What is done with the name of a header."""

    READ = "read"
    WRITE = "write"
    CONSTANT = "constant"
    ALIAS = "alias"  # a parameter that a framework fills from the header
    LIST = "list"  # CORS lists and the like


@dataclass(frozen=True, slots=True)
class Header(Fact):
    """An HTTP header of the protocol; `key` is its lower-case name."""

    use: HeaderUse = HeaderUse.READ


@dataclass(frozen=True, slots=True)
class MetaKey(Fact):
    """A key of `_meta`; `key` is the key."""


@dataclass(frozen=True, slots=True)
class Member(Fact):
    """A field of a message, result or capability with a meaning of its own; `key` is a dotted path such as `capabilities.tasks`."""


@dataclass(frozen=True, slots=True)
class Call(Fact):
    """A call on a client or server session; `key` is the method's own name, `receiver` the receiver's source text."""

    receiver: str = ""


@dataclass(frozen=True, slots=True)
class Class(Fact):
    """A class that derives from protocol machinery; `key` is the base."""


@dataclass(frozen=True, slots=True)
class Route(Fact):
    """An HTTP route or verb handler of the MCP endpoint; `key` is the verb.

    Behind the path stands a mark: `#stream` for a handler that opens an event stream, `#registered` for a route that is
    registered elsewhere than at its handler, `#handler` (without a path) for a method named after the verb.
    """

    path: str = ""


@dataclass(frozen=True, slots=True)
class Result(Fact):
    """A result being built; `key` is the method it answers. Spans the literal."""

    stamped: bool = False  # it carries resultType
    cached: bool = False  # it carries ttlMs and cacheScope


@dataclass(frozen=True, slots=True)
class Envelope(Fact):
    """A JSON-RPC reply or notification being built; `key` is "result", "error" or "notification"."""

    method: str = ""


@dataclass(frozen=True, slots=True)
class Gate(Fact):
    """Code that refuses messages for what happened before; `key` is "initialized", "first-message" or "session"."""

    expects: str = ""  # the method that has to come next, where that is named


@dataclass(frozen=True, slots=True)
class Opening(Fact):
    """An action goes on although its user could not be asked; `key` is "elicitation"."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class Work(Fact):
    """An effect before a question to the client, in the same run of a tool; `key` is "question"."""

    what: str = ""


@dataclass(frozen=True, slots=True)
class Unasked(Fact):
    """A reply that a message gets which wants none; `key` is "notification"."""


@dataclass(frozen=True, slots=True)
class Store(Fact):
    """State kept for one client between requests; `key` is "session"."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class Stream(Fact):
    """A server-sent event with a protocol meaning; `key` is "endpoint", "id" or "retry"."""


@dataclass(frozen=True, slots=True)
class Import(Fact):
    """An import of an SDK module or name; `key` is the dotted name."""


class Place(str, Enum):
    """What a file asks for a distribution for."""

    DEPENDENCY = "dependency"  # of the project itself
    EXTRA = "extra"  # one of its optional dependencies
    GROUP = "group"  # for its developers
    CONSTRAINT = "constraint"  # bounds or overrides a version that others ask for
    COMMAND = "command"  # pip install, uvx --with, also as arguments of a client's settings


@dataclass(frozen=True, slots=True)
class Requirement(Fact):
    """A distribution that a file asks for; `key` is its normalized name, or "python" for the interpreter's own version.

    `specifier` is as PEP 440 spells it, whatever the file's own spelling is; "" for any version.
    """

    specifier: str = ""
    extras: tuple[str, ...] = ()
    place: Place = Place.DEPENDENCY
    versions: Span = Span(0, 0)  # where the specifier stands, or would stand
    brackets: Span = Span(0, 0)  # where the extras stand, with what encloses them
    quote: str = ""  # what has to be put around the whole once it holds `<` or `>`
    spelling: str = "pep508"  # of the specifier: "pep508", "poetry" (a string of its own) or "table" (a table that has to get it)
    fixed: str = ""  # why it is not written by hand
    entry: tuple[tuple[int, str], ...] = ()  # what puts one more name, {}, behind the last of the same list


@dataclass(frozen=True, slots=True)
class Remark(Fact):
    """Something else that a file beside the code says about the SDK; `key` is the kind, `text` what it names."""

    text: str = ""
    around: Span = Span(0, 0)  # the code of an example
    entry: tuple[tuple[int, str], ...] = ()  # what puts one more line, {}, behind the last of the same list


@dataclass(frozen=True, slots=True)
class Borrowed(Fact):
    """An import of a package that a release of the SDK brought along; `key` is the name of the distribution."""

    module: str = ""


@dataclass(frozen=True, slots=True)
class Dispatcher(Fact):
    """A function, table or registry that routes to handlers; `key` is "server", `methods` what it knows."""

    methods: frozenset[str] = frozenset()
    function: str = ""  # dotted name of the function that holds the chain or indexes the table, "" where none is known


Value = str | int | Ref | tuple["Value", ...]
"""What a name is bound to, as far as one file can tell: text, a number, another name, or a collection of these."""


class Role(str, Enum):
    """Where in the syntax a value of the protocol's vocabulary stands."""

    COMPARE = "compare"
    CASE = "case"
    KEY = "key"  # of a dict
    ENTRY = "entry"  # value in a dict; `name` is its key
    ARGUMENT = "argument"
    KEYWORD = "keyword"
    DECORATOR = "decorator"
    MEMBER = "member"  # x in (...)
    SUBSTRING = "substring"  # "..." in x
    PREFIX = "prefix"  # x.startswith("...")
    COLLECTION = "collection"  # in a literal that a name is bound to
    CONSTANT = "constant"
    FIELD = "field"  # default of a class field
    ANNOTATION = "annotation"  # Literal["..."]
    GET = "get"  # x.get("...")
    DEFAULT = "default"  # x.get("...", HERE), x or HERE
    ECHO = "echo"  # the client's own protocolVersion comes back
    SUBSCRIPT = "subscript"  # x["..."]
    STORE = "store"  # x["..."] = value
    PAIR = "pair"  # ("...", value)
    TEXT = "text"  # inside JSON text
    METHOD_NAME = "method name"  # def handle_ping, reached through getattr
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Use:
    """A value of the vocabulary (or a `Ref` that may be one) and where it stands: the raw material of facts."""

    role: Role
    value: Value
    span: Span
    scope: str = ""
    subject: str = ""  # source text of what it is compared with, called on or looked up in
    name: Value = ""  # the key, keyword or constant that it stands under
    around: str = ""  # the method whose handler encloses it
    text: str = ""  # the message beside it
    negated: bool = False
    callable: bool = False  # the value beside it is a handler
    siblings: frozenset[str] = frozenset()  # the keys of the same literal
    body: Span | None = None
    trivial: bool = False


@dataclass(frozen=True, slots=True)
class FileFacts:
    """Everything one file says. `module` is its dotted name, as imports of the project spell it.

    `collect` fills `uses` and the facts that need no other file; `facts` is complete after `Project.link`.
    """

    source: Source
    module: str
    facts: tuple[Fact, ...] = ()
    uses: tuple[Use, ...] = ()
    imports: Mapping[str, str] = field(default_factory=dict)  # local name -> dotted target
    hidden: tuple[str, ...] = ()  # dotted targets of what functions import under a name that means something else in the module
    names: Mapping[str, Value] = field(default_factory=dict)  # dotted name inside the module -> value
    stars: tuple[str, ...] = ()  # modules imported with *
    evidence: frozenset[str] = frozenset()  # protocol vocabulary seen as values: why this file is (or is not) MCP
    boundary: frozenset[str] = frozenset()  # functions behind a stateless boundary
    beside: frozenset[str] = frozenset()  # these, what they mention and what mentions them: code of a server that has a boundary
    makes: frozenset[str] = frozenset()  # names bound to a boundary object here
    borrows: Mapping[str, frozenset[str]] = field(default_factory=dict)  # dotted name of an imported one -> functions behind it
    masked: bool = False  # syntax newer than this interpreter was masked before reading


class SymbolUse(str, Enum):
    """How code uses something that the SDK, or `fastmcp`, defines."""

    IMPORT = "import"  # from mcp.types import Tool, import mcp.types
    NAME = "name"  # types.Tool, through a module
    CALL = "call"  # Tool(...), session.call_tool(...), stdio_client(...)
    READ = "read"  # tool.inputSchema; also a method that is not called
    STORE = "store"  # tool.inputSchema = ..., del tool.inputSchema
    GETATTR = "getattr"  # getattr(tool, "inputSchema"), hasattr, setattr
    BASE = "base"  # class Mine(Tool)
    HEIR = "heir"  # class Mine(Own), where Own of the project comes of one of `fastmcp`
    SUBSCRIPT = "subscript"  # Server[A, B]
    PATTERN = "pattern"  # case Tool(inputSchema=x)
    CAUGHT = "caught"  # except McpError
    TEXT = "text"  # patch("mcp.types.Tool")
    PATCHED = "patched"  # patch("app.server.Tool"), patch.object(server, "Tool"): what a module of the project has imported


@dataclass(frozen=True, slots=True)
class Defined(Fact):
    """A use of something that a package defines; `key` is its dotted name.

    For imports, names and texts that is the name as the code reaches it (`mcp.server.fastmcp.FastMCP`), for everything else
    the name of the class or function where the SDK defines it, with the field or method behind it
    (`mcp.types.Tool.inputSchema`). The span is that of the whole expression, import or class pattern.
    """

    use: SymbolUse = SymbolUse.NAME
    sure: bool = True  # the receiver can be nothing else


@dataclass(frozen=True, slots=True)
class Symbol(Defined):
    """A use of something that the official SDK defines."""


@dataclass(frozen=True, slots=True)
class Standalone(Defined):
    """A use of something that the standalone package `fastmcp` defines (`fastmcp.FastMCP.run`).

    What has the same name in the SDK (`mcp.server.fastmcp.FastMCP`) is none.
    """
