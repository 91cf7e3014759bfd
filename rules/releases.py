"""Which release of the official SDK a project is written for, what it asks for, and what keeps it from being moved.

`major` and `blocked` are all that other rules need; how a project is judged stands here alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ..facts.model import FileFacts, Import, Place, Requirement
from ..rule import Aim, Applicability, Context

if TYPE_CHECKING:
    from ..facts.versions import Bounds
    from ..project import Project

SDK = "mcp"
# The low-level server's decorators, which mcp 2 has no more.
_DECORATED = re.compile(
    rb"@[\w.]+\.(?:list_tools|call_tool|list_resources|list_resource_templates|read_resource|list_prompts|get_prompt|completion"
    rb"|set_logging_level|subscribe_resource|unsubscribe_resource|progress_notification)\(\)"
)
# What it takes in their place.
_GIVEN = re.compile(rb"\bon_(?:list_tools|call_tool|list_resources|list_resource_templates|read_resource|list_prompts|get_prompt)\s*=")
# Code that asks which of both it runs with.
_GUARDED = re.compile(
    rb"(?m)^[ \t]*except\b[^\n]*(?:ImportError|ModuleNotFoundError|AttributeError|Exception|:[ \t]*$)"
    rb"|\bversion\([\"']mcp[\"']\)|\bfind_spec\([\"']mcp\b"
)
_NAME = re.compile(r"""(?m)^name[ \t]*=[ \t]*["']([\w.-]+)["']""")
_FROM = re.compile(r"(?m)^[ \t]*from[ \t]+(mcp[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]*)")


class Major(Enum):
    """What code is written for."""

    ONE = "mcp 1"
    TWO = "mcp 2"
    BOTH = "both"
    EITHER = "mcp, with nothing that only one of both has"
    OTHER = "the SDK only by way of another package"
    NONE = "nothing of it"


class Blocker(NamedTuple):
    """A requirement that leaves no room for mcp 2, where it stands, and why."""

    file: FileFacts
    requirement: Requirement
    reason: str


def major(ctx: Context, path: str = "") -> Major:
    """What the code around a file is written for: below its folder, or in the whole project where nothing there uses the SDK."""
    path = path or ctx.file.source.path
    if has_block(ctx, path):
        return _use(ctx, ctx.project.files[path])
    folder = path.rpartition("/")[0]
    while True:
        found = ctx.project.remember(f"major {folder}", partial(_judged_below, ctx, folder))
        if found is not Major.NONE or not folder:
            return found
        folder = folder.rpartition("/")[0]


def blocked(ctx: Context) -> str:
    """Why the code around this file cannot be moved to mcp 2, and so must not be rewritten; "" where nothing is in the way."""
    return next((f"{_spelled(one.requirement)} ({_place(one)}) {one.reason}" for one in blockers(ctx, ctx.file.source.path)), "")


def blockers(ctx: Context, path: str) -> Iterator[Blocker]:
    """The requirements that keep mcp below 2 for a file, nearest first; those that `fix` can raise are none."""
    for one in (*_capped(ctx), *_unmet(ctx)):
        if is_about(ctx, one.file.source.path, path):
            yield one


def caps(ctx: Context, asked: Requirement) -> str | None:
    """Why a requirement leaves no room for mcp 2; None where it does. Only what an installation goes by counts."""
    from ..facts.versions import Version

    if asked.place is Place.COMMAND or asked.key in ctx.project.remember("own names", partial(_own_names, ctx)):
        return None
    for line in ctx.entry.data["blockers"]:
        spelled, _, since, *_ = line.split()
        name, _, extra = spelled.partition("[")
        if asked.key != name or (extra and extra.rstrip("]") not in asked.extras):
            continue
        if since == "-":
            return "needs mcp 1 in every release that is known"
        limits = bounds(asked.specifier)
        if limits is not None and not limits.reaches(Version(since)):
            return f"needs mcp 1; {name} {since} is the first release that takes mcp 2.3"
    return None


def raised(ctx: Context, asked: Requirement) -> str | None:
    """The specifier that a blocker can be given because no code uses it; None where some does, or no release takes mcp 2."""
    for line in ctx.entry.data["blockers"]:
        name, module, since, *_ = line.split()
        if asked.key == name and since != "-" and not _imports(ctx.project, module):
            first = int(since.partition(".")[0])
            return f">={since},<{first + 1}" if first else f">={since}"
    return None


def runs_on(ctx: Context, asked: Requirement) -> str:
    """The Python that a raised blocker needs, where the project allows an older one; "" where it fits."""
    from ..facts.versions import Version

    for line in ctx.entry.data["blockers"]:
        name, _, _, *python = line.split()
        if asked.key == name and python:
            allowed = [bounds(one.specifier) for _, one in ctx.project.requirements.get("python", ())]
            if any(limits is not None and limits.begins_before(Version(python[0])) for limits in allowed):
                return python[0]
    return ""


def floor(ctx: Context, asked: Requirement) -> str | None:
    """The lowest version that mcp 2.3 takes, where a requirement beside it admits none of these; None where it admits one."""
    from ..facts.versions import Version

    if asked.key in (SDK, "python") or asked.place is Place.COMMAND:
        return None
    for line in _floors(ctx):
        name, low = line.split()
        if asked.key == name and (limits := bounds(asked.specifier)) is not None and not limits.reaches(Version(low)):
            return low
    return None


def raises(asked: Requirement, low: str) -> Applicability:
    """How far a raised floor can be trusted: inside of one major version, little breaks."""
    from ..facts.versions import Version

    limits = bounds(asked.specifier)
    if asked.fixed or limits is None or limits.high is None:
        return Applicability.MANUAL
    # A bound such as `<3` leaves 2.* as the newest.
    newest = limits.high.major if limits.high_is_in or limits.high > Version(str(limits.high.major)) else limits.high.major - 1
    return Applicability.SAFE if newest == Version(low).major else Applicability.UNSAFE


def needs_sdk(file: FileFacts) -> bool:
    """Whether one file asks for the SDK."""
    return any(isinstance(fact, Requirement) and fact.key == SDK for fact in file.facts)


def is_moving(ctx: Context) -> bool:
    """Whether the code around this file is written for mcp 1, or for either while what it asks for lets mcp 1 in."""
    if ctx.aim is Aim.HOLD:
        return False
    written_for = major(ctx)
    if written_for is not Major.EITHER:
        return written_for is Major.ONE
    from ..facts.versions import Version

    asked = [bounds(one.specifier) for _, one in ctx.project.requirements.get(SDK, ())]
    return any(limits is not None and limits.begins_before(Version(ctx.entry.data["sdk"][1])) for limits in asked)


def has_block(ctx: Context, path: str) -> bool:
    """Whether a file is a script that says itself what it needs, and so has an environment of its own."""
    return path in ctx.project.files and not path.endswith("setup.py") and bool(ctx.project.of(path, Requirement))


def is_about(ctx: Context, manifest: str, path: str) -> bool:
    """Whether what one file asks for is installed with the code at a path."""
    if has_block(ctx, manifest) or has_block(ctx, path):
        return manifest == path
    return is_below(path, scope(manifest))


def scope(path: str) -> str:
    """The folder whose code a file is about; a folder of requirements is about the one around it."""
    folder = path.rpartition("/")[0]
    above, _, last = folder.rpartition("/")
    return above if last in ("requirements", "requires", "deps", "constraints") else folder


def is_below(path: str, folder: str) -> bool:
    """Whether a path lies in a folder, or below it; "" is the root."""
    return not folder or path.startswith(f"{folder}/")


def bounds(specifier: str) -> Bounds | None:
    from ..facts import versions

    return versions.bounds(specifier)


def uses_fastmcp_of_sdk(ctx: Context) -> bool:
    """Whether some code imports the high-level server of mcp 1."""
    return any(str(fact.key).startswith(("mcp.server.fastmcp", "mcp.server.FastMCP")) for _, fact in ctx.project.facts(Import))


def _judged_below(ctx: Context, folder: str) -> Major:
    return _judged({_use(ctx, file) for at, file in ctx.project.files.items() if is_below(at, folder)})


def _judged(uses: set[Major]) -> Major:
    if Major.BOTH in uses:
        return Major.BOTH
    if Major.ONE in uses:
        return Major.ONE
    return next((one for one in (Major.TWO, Major.EITHER, Major.OTHER) if one in uses), Major.NONE)


def _use(ctx: Context, file: FileFacts) -> Major:
    """What one file is written for."""
    names = {*file.imports.values(), *(f"{star}.*" for star in file.stars)}
    guarded = _GUARDED.search(file.source.utf8) is not None
    if guarded:  # two imports under one name, of which the table of names has the first
        names |= {f"{found[1]}.{name}" for found in _FROM.finditer(file.source.text) for name in re.findall(r"\w+", found[2])}
    official = {name for name in names if name.partition(".")[0] in (SDK, "mcp_types") and not _is_own(ctx.project, name)}
    if not official:
        return Major.OTHER if any(name.partition(".")[0] == "fastmcp" for name in names) else Major.NONE
    old = _has(official, ctx.entry.data["names_of_1"])
    new = _has(official, ctx.entry.data["names_of_2"])
    if any(name.startswith("mcp.server") for name in official):
        old = old or _DECORATED.search(file.source.utf8) is not None
        new = new or ctx.project.says(file.source.path, b".add_request_handler(") or _GIVEN.search(file.source.utf8) is not None
    if old and new:
        return Major.BOTH if guarded else Major.ONE
    return Major.ONE if old else Major.TWO if new else Major.EITHER


def _has(names: set[str], known: tuple[str, ...]) -> bool:
    return any(name == one or name.startswith(f"{one}.") for name in names for one in known)


def _is_own(project: Project, name: str) -> bool:
    """Whether the project itself has a package of this name at its root."""
    return any(
        (found := project.module(module)) is not None and found.module == module for module in (name, name.rpartition(".")[0]) if module
    )


def _own_names(ctx: Context) -> frozenset[str]:
    """What the distributions of the project itself are called: their own extras, and members of a workspace, may name them."""
    from ..facts.versions import normalized

    files = [file for path, file in ctx.project.manifests.items() if path.rpartition("/")[2] == "pyproject.toml"]
    return frozenset(normalized(found[1]) for file in files for found in _NAME.finditer(file.source.text))


def _capped(ctx: Context) -> Iterator[Blocker]:
    names = {line.split()[0].partition("[")[0] for line in ctx.entry.data["blockers"]}
    for name in sorted(names & ctx.project.requirements.keys()):
        for file, asked in ctx.project.requirements[name]:
            reason = caps(ctx, asked)
            if reason is not None and (asked.fixed or raised(ctx, asked) is None):
                yield Blocker(file, asked, reason)


def _unmet(ctx: Context) -> Iterator[Blocker]:
    names = {line.split()[0] for line in _floors(ctx)}
    for name in sorted(names & ctx.project.requirements.keys()):
        for file, asked in ctx.project.requirements[name]:
            low = floor(ctx, asked) if needs_sdk(file) else None
            if low is not None and raises(asked, low) is not Applicability.SAFE:
                yield Blocker(file, asked, f"leaves no room for {name} {low}, which mcp 2.3 needs")


def _floors(ctx: Context) -> tuple[str, ...]:
    data = ctx.entry.data
    return (*data["floors_of_pydantic"], *data["floors"], *data["floors_of_cli"])


def _imports(project: Project, module: str) -> bool:
    return any(target == module or target.startswith(f"{module}.") for file in project.files.values() for target in file.imports.values())


def _spelled(asked: Requirement) -> str:
    extras = f"[{','.join(asked.extras)}]" if asked.extras else ""
    return f"`{asked.key}{extras}{asked.specifier}`"


def _place(one: Blocker) -> str:
    return f"{one.file.source.path}:{one.file.source.position(one.requirement.span.start).line}"
