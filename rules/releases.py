"""Which release of the official SDK a project is written for, what it asks for, and what keeps it from being moved.

`major` and `blocked` are all that other rules need; how a project is judged stands here alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ..facts.model import FileFacts, Import, Place, Requirement
from ..rule import Aim, Applicability, Context
from ..sdk.majors import Line, Major

if TYPE_CHECKING:
    from ..facts.versions import Bounds
    from ..project import Project

SDK = "mcp"
STANDALONE = ("fastmcp", "fastmcp-slim")
"""The distributions that bring the package `fastmcp`, which needs the SDK in its turn."""
# What a mixture counts as: code for both says what its project wants, and moved code runs with what older code is moved to.
_ORDER = (Major.BOTH, Major.ONE, Major.TWO, Major.EITHER, Major.OTHER)
_NAME = re.compile(r"""(?m)^name[ \t]*=[ \t]*["']([\w.-]+)["']""")


class Blocker(NamedTuple):
    """A requirement that leaves no room for mcp 2, where it stands, and why."""

    file: FileFacts
    requirement: Requirement
    reason: str


def major(ctx: Context, path: str = "") -> Major:
    """What the code is written for that a file asks things for: all below its folder that no other file asks for mcp for.

    Where there is none, everything below, or around it; for a file of code, the code of its package.
    """
    return next((one for one in _ORDER if one in majors(ctx, path)), Major.NONE)


def majors(ctx: Context, path: str = "") -> Mapping[Major, str]:
    """What the files of that code are written for, with one of them for each."""
    path = path or ctx.file.source.path
    if has_block(ctx, path):
        return {_written_for(ctx.project, path): path}
    folder = _home(ctx.project, path) if path in ctx.project.files else scope(path)
    return ctx.project.remember(f"majors {folder} {_homes(ctx.project)}", partial(_found, ctx.project, folder))


def blocked(ctx: Context) -> str:
    """Why the code around this file cannot be moved to mcp 2, and so must not be rewritten; "" where nothing is in the way.

    What has to run with mcp 1 as well can be rewritten wherever mcp 1 is installed.
    """
    if ctx.keeps:
        return ""
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
    """The specifier that a blocker can be given because no code uses it, or because that code is moved in the same run.

    None where code uses it otherwise, or no release takes mcp 2.
    """
    if asked.key in STANDALONE:
        return ctx.entry.data["standalone"][0]
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
            here = ctx.file.source.path
            # What another project of the same repository runs on says nothing.
            allowed = [
                bounds(one.specifier)
                for file, one in ctx.project.requirements.get("python", ())
                if is_about(ctx, file.source.path, here) or is_about(ctx, here, file.source.path)
            ]
            if any(limits is not None and limits.begins_before(Version(python[0])) for limits in allowed):
                return python[0]
    return ""


def room_for_both(asked: Requirement, of_both: Sequence[str]) -> str:
    """From the project's own lowest version, where that is not too low, to what is not known yet; `of_both` has the whole range first."""
    from ..facts.versions import Version

    limits = bounds(asked.specifier)
    whole, low = of_both
    return (
        whole
        if limits is None or limits.low is None or limits.begins_before(Version(low))
        else f">={limits.low},{whole.rpartition(',')[2]}"
    )


def floor(ctx: Context, asked: Requirement, file: FileFacts) -> str | None:
    """The lowest version that mcp 2.3, or fastmcp 4, takes, where a requirement beside it leaves no room for it; None where it does."""
    from ..facts.versions import Version

    if asked.key in (SDK, "python") or asked.place is Place.COMMAND:
        return None
    for line in _floors(ctx, file):
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
    """Whether one file asks for the SDK, or for `fastmcp`, which brings it."""
    return any(isinstance(fact, Requirement) and fact.key in (SDK, *STANDALONE) for fact in file.facts)


def needs_standalone(file: FileFacts, *, always: bool = False) -> bool:
    """Whether one file asks for `fastmcp`; `always` is whether an extra or a group does not count, which may be left out."""
    optional = (Place.EXTRA, Place.GROUP) if always else ()
    return any(isinstance(fact, Requirement) and fact.key in STANDALONE and fact.place not in optional for fact in file.facts)


def is_moving(ctx: Context) -> bool:
    """Whether the code around this file is written for mcp 1, or for either while what it asks for lets mcp 1, or an older fastmcp, in."""
    if ctx.aim is Aim.HOLD:
        return False
    written_for = major(ctx)
    if written_for is Major.OTHER:
        return is_moving_standalone(ctx)
    if written_for is Major.TWO:
        # Code for an older fastmcp never ran beside it: it is a module that `fix` has written for the newer one.
        return is_moving_standalone(ctx)
    if written_for is not Major.EITHER:
        return written_for is Major.ONE
    from ..facts.versions import Version

    # What is raised in this run was lower when it began.
    every = ctx.project.begun.get(SDK, ())
    if not every:  # the SDK comes with fastmcp, if at all
        return is_moving_standalone(ctx)
    limits_of = [bounds(one.specifier) for _, one in near(ctx, every)]
    # Names that mcp 1 and 2 share, such as those of `mcp.types`, go where the code for fastmcp beside them goes.
    return is_moving_standalone(ctx) or any(
        limits is not None and limits.begins_before(Version(ctx.entry.data["sdk"][1])) for limits in limits_of
    )


def lines(ctx: Context, path: str = "") -> frozenset[Line]:
    """Which releases of `fastmcp` the code is written for that a file asks things for."""
    path = path or ctx.file.source.path
    if ctx.project.sdk is None or not ctx.project.sdk.api.standalone:
        return frozenset()
    program = ctx.project.sdk
    if has_block(ctx, path):
        return frozenset({program.line(path)}) - {Line.NONE}
    folder = _home(ctx.project, path) if path in ctx.project.files else scope(path)

    def found(folder: str) -> frozenset[Line]:
        below = {program.line(one) for one in ctx.project.files if is_below(one, folder) and not has_own_block(ctx.project, one)}
        return frozenset(below - {Line.NONE})

    every = ctx.project.remember(f"lines {folder}", partial(found, folder))
    return every or ctx.project.remember("lines", partial(found, ""))


def is_moving_standalone(ctx: Context) -> bool:
    """Whether the code around this file is for fastmcp 2 or 3, or for any while what it asks for lets these in."""
    if ctx.aim is Aim.HOLD:
        return False
    from ..facts.versions import Version

    written_for = lines(ctx)
    if Line.OLD in written_for:
        return True
    every = [(file, one) for name in STANDALONE for file, one in ctx.project.begun.get(name, ())]
    limits_of = [bounds(one.specifier) for _, one in near(ctx, every)]
    end = Version(ctx.entry.data["standalone"][1])
    return Line.EITHER in written_for and any(limits is not None and limits.begins_before(end) for limits in limits_of)


def has_block(ctx: Context, path: str) -> bool:
    """Whether a file is a script that says itself what it needs, and so has an environment of its own."""
    return has_own_block(ctx.project, path)


def has_own_block(project: Project, path: str) -> bool:
    """Whether a script names its own dependencies (PEP 723)."""
    return path in project.files and not path.endswith("setup.py") and bool(project.of(path, Requirement))


def is_about(ctx: Context, manifest: str, path: str) -> bool:
    """Whether what one file asks for is installed with the code at a path."""
    if has_block(ctx, manifest) or has_block(ctx, path):
        return manifest == path
    return is_below(path, scope(manifest))


def near(ctx: Context, asked: Sequence[tuple[FileFacts, Requirement]], path: str = "") -> Sequence[tuple[FileFacts, Requirement]]:
    """Those of some requirements that are installed with the code at a path, or with this file; all, where nothing is known to be."""
    path = path or ctx.file.source.path
    return [one for one in asked if is_about(ctx, one[0].source.path, path)] or asked


def scope(path: str) -> str:
    """The folder whose code a file is about; a folder of requirements is about the one around it."""
    folder = path.rpartition("/")[0]
    above, _, last = folder.rpartition("/")
    return above if last in ("requirements", "requires", "deps", "constraints") else folder


def is_below(path: str, folder: str) -> bool:
    """Whether a path lies in a folder, or below it; "" is the root, and `..` one above it."""
    return not folder.replace("../", "").removesuffix("..") or path.startswith(f"{folder}/")


def has_code(project: Project, folder: str) -> bool:
    """Whether some code lies in a folder, or below it, in the sense of `is_below`."""
    return bool(project.files) if not folder.replace("../", "").removesuffix("..") else folder in project.folders


def bounds(specifier: str) -> Bounds | None:
    """The releases that a specifier lets in; None for one that cannot be read."""
    from ..facts import versions

    return versions.bounds(specifier)


def uses_fastmcp_of_sdk(ctx: Context) -> bool:
    """Whether some code imports the high-level server of mcp 1."""
    return any(str(fact.key).startswith(("mcp.server.fastmcp", "mcp.server.FastMCP")) for _, fact in ctx.project.facts(Import))


def _found(project: Project, folder: str) -> Mapping[Major, str]:
    homes = _homes(project)
    while True:
        every = [path for path in project.files if is_below(path, folder)]
        # A script that says itself what it needs counts only where nothing else is there: it can be run either way.
        below = [path for path in every if not has_own_block(project, path)]
        own = [
            path
            for path in below
            if not any(_depth(home) > _depth(folder) and is_below(home, folder) and is_below(path, home) for home in homes)
        ]
        for paths in (own, below, every):
            found = {_written_for(project, path): path for path in reversed(paths)}
            found.pop(Major.NONE, None)
            if found:
                return found
        if not folder or folder.startswith(".."):
            return {}
        folder = folder.rpartition("/")[0]


def _depth(folder: str) -> int:
    """How far a folder lies below the run's root, in characters; less than nothing above it."""
    return -len(folder) if folder.startswith("..") else len(folder)


def _written_for(project: Project, path: str) -> Major:
    found = Major.NONE if project.sdk is None else project.sdk.majors.get(path, Major.NONE)
    file = project.files[path]
    if found is Major.NONE and any(name.partition(".")[0] == "fastmcp" for name in (*file.imports.values(), *file.stars)):
        return Major.OTHER
    return found


def _home(project: Project, path: str) -> str:
    """The innermost folder around a file that asks for the SDK; "" where there is none."""
    return max((home for home in _homes(project) if is_below(path, home)), key=_depth, default="")


def _homes(project: Project) -> frozenset[str]:
    """The folders whose files ask for the SDK, each for code of its own."""
    return frozenset(
        scope(file.source.path)
        for file, asked in project.requirements.get(SDK, ())
        if asked.place in (Place.DEPENDENCY, Place.EXTRA, Place.GROUP) and not has_own_block(project, file.source.path)
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
            if reason is None or _follows(ctx, file, asked):
                continue
            if asked.fixed or file.source.path in ctx.project.outside or raised(ctx, asked) is None:
                yield Blocker(file, asked, reason)


def _unmet(ctx: Context) -> Iterator[Blocker]:
    names = {line.split()[0] for line in (*_floors(ctx, None), *ctx.entry.data["floors_of_fastmcp"])}
    for name in sorted(names & ctx.project.requirements.keys()):
        for file, asked in ctx.project.requirements[name]:
            low = floor(ctx, asked, file) if needs_sdk(file) else None
            if low is None or _follows(ctx, file, asked):
                continue
            if file.source.path in ctx.project.outside or raises(asked, low) is not Applicability.SAFE:
                by = "fastmcp 4" if needs_standalone(file) else "mcp 2.3"
                yield Blocker(file, asked, f"leaves no room for {name} {low}, which {by} needs")


def _follows(ctx: Context, file: FileFacts, asked: Requirement) -> bool:
    """Whether a requirement is compiled from those that another file asks for: made again, it goes where they go.

    Only of what may be raised there: what stands in the way there is named by itself.
    """
    if not asked.fixed or not file.source.path.endswith(".txt"):
        return False
    return any(
        other is not file and not one.fixed and is_about(ctx, other.source.path, file.source.path)
        for name in (SDK, *STANDALONE)
        for other, one in ctx.project.requirements.get(name, ())
    )


def _floors(ctx: Context, file: FileFacts | None) -> tuple[str, ...]:
    data = ctx.entry.data
    own = data["floors_of_fastmcp"] if file is not None and needs_standalone(file) else ()
    return (*own, *data["floors_of_pydantic"], *data["floors"], *data["floors_of_cli"])


def _imports(project: Project, module: str) -> bool:
    return any(target == module or target.startswith(f"{module}.") for file in project.files.values() for target in file.imports.values())


def _spelled(asked: Requirement) -> str:
    extras = f"[{','.join(asked.extras)}]" if asked.extras else ""
    return f"`{asked.key}{extras}{asked.specifier}`"


def _place(one: Blocker) -> str:
    return f"{one.file.source.path}:{one.file.source.position(one.requirement.span.start).line}"
