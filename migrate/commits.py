"""Makes commits out of changes: one after the other, all of a series or none. Hooks run as they do for everybody."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from . import files, worktree
from .files import Change

RULES = "Mcp-Migrate-Rules"
"""The trailer of a commit that says how often each rule was applied, as `MCP501=3 MCP504=12`."""

# What git has begun and somebody has to end first.
_UNFINISHED = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply")
_HOOKS = ("pre-commit", "prepare-commit-msg", "commit-msg")
# How many commits are searched for those of an earlier run.
_MOST = 1000
_SHOWN = 5


class NotCommitted(Exception):
    """Why nothing was committed; the text is one line."""


class Commit(NamedTuple):
    """Files to write and to commit, with the whole message."""

    message: str
    changes: Sequence[Change]

    @property
    def subject(self) -> str:
        return self.message.partition("\n")[0]


class Made(NamedTuple):
    """A commit of a series: its name, its subject, and how often it has applied each rule."""

    commit: str
    subject: str
    rules: dict[str, int]


class Series(NamedTuple):
    """The commits of a series, the oldest one first, of which the last `new` ones are this run's; `base` is the commit before them."""

    base: str
    made: list[Made]
    new: int


def tree_at(folder: str) -> str:
    """The root of the work tree around a folder. Raises NotCommitted."""
    root = worktree.root_of(os.path.abspath(folder))
    if root is None:
        raise NotCommitted(f"--commit needs git, and {folder} is in no work tree")
    return root


def tree_of(changes: Iterable[Change]) -> str:
    """The root of the work tree that all changes lie in, once nothing speaks against commits there. Raises NotCommitted."""
    changes = list(changes)
    roots = {worktree.root_of(os.path.dirname(change.location)) for change in changes}
    if None in roots:
        outside = next(one.location for one in changes if worktree.root_of(os.path.dirname(one.location)) is None)
        raise NotCommitted(f"--commit needs git, and {outside} is in no work tree")
    if len(roots) > 1:
        raise NotCommitted(
            f"the changes lie in several work trees of git; run `fix --commit` in each: {', '.join(sorted(map(str, roots)))}"
        )
    root = str(roots.pop())
    if not _ask(root, "rev-parse", "--verify", "--quiet", "HEAD").ok:
        raise NotCommitted("the repository has no commit yet that a series could begin behind")
    for name in _UNFINISHED:
        if os.path.exists(os.path.join(root, _ask(root, "rev-parse", "--git-path", name).said)):
            raise NotCommitted(f"git is in the middle of something ({name}); end it first")
    for who in ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"):
        if not _ask(root, "var", who).ok:
            raise NotCommitted("git does not know who commits; set user.name and user.email")
    _refuse_unclean(root)
    for change in changes:
        if change.before is None and (by := worktree.ignored(change.location)) is not None:
            name = os.path.relpath(change.location, root)
            raise NotCommitted(f"git would leave out {name}, which the code would need: {os.path.relpath(by.file, root)}:{by.line}")
    return root


def _refuse_unclean(root: str) -> None:
    if changed := _changed(root):
        more = f" and {len(changed) - _SHOWN} more" if len(changed) > _SHOWN else ""
        shown = f"{', '.join(changed[:_SHOWN])}{more}"
        raise NotCommitted(f"--commit wants a clean work tree, so nothing was written; commit or stash what has changed: {shown}")


def _changed(root: str) -> list[str]:
    """The tracked files that are not as they were committed. Raises NotCommitted."""
    status = _ask(root, "status", "--porcelain", "--untracked-files=no", "-z")
    if not status.ok:
        raise NotCommitted(status.said)
    return [record[3:] for record in status.out.split("\0") if record[2:3] == " "]


def head(root: str) -> str:
    """The name of the commit that is checked out."""
    return _ask(root, "rev-parse", "HEAD").said


def make(root: str, commits: Sequence[Commit]) -> None:
    """Writes and commits each in turn. Raises NotCommitted, and then files, index and branch are as they were before the first."""
    start = last = head(root)
    written: list[Change] = []
    for number, commit in enumerate(commits, start=1):
        try:
            written += files.write_together(commit.changes)
            names = [os.path.relpath(change.location, root) for change in commit.changes]
            _do(root, "--literal-pathspecs", "add", "--pathspec-from-file=-", "--pathspec-file-nul", given="\0".join(names))
            _do(root, "commit", "--quiet", "--cleanup=whitespace", "--file=-", given=commit.message)
            last = head(root)
        except (files.NotWritten, NotCommitted) as error:
            left = _take_back(root, start, last, written)
            raise NotCommitted(f"commit {number} of {len(commits)}, “{commit.subject}”, was not made: {error}; {left}") from error


def series(root: str, start: str) -> Series:
    """The series that ends where the branch stands, and began in this run behind `start`, or in earlier ones that this one went on from."""
    made = _series(root)
    known = {one.commit for one in made}
    new = made[[one.commit for one in made].index(start) + 1 :] if start in known else made
    return Series(_ask(root, "rev-parse", f"{made[0].commit}^").said if made else start, made, len(new) if head(root) != start else 0)


def _series(root: str) -> list[Made]:
    """The commits of such runs that lie at the end of the history without a gap."""
    form = f"%H%x00%s%x00%(trailers:key={RULES},valueonly,separator=%x20)%x00"
    log = _ask(root, "log", "--first-parent", f"--max-count={_MOST}", f"--format={form}", "HEAD")
    fields = [field.strip("\n") for field in log.out.split("\0")]
    found = []
    for commit, subject, rules in zip(fields[::3], fields[1::3], fields[2::3], strict=False):
        if not rules:
            break
        counts = dict(item.partition("=")[::2] for item in rules.split())
        found.append(Made(commit, subject, {rule: int(count) for rule, count in counts.items() if count.isdigit()}))
    return found[::-1]


def _take_back(root: str, start: str, last: str, written: Sequence[Change]) -> str:
    """Undoes all; what is left to say of it."""
    if head(root) != last:
        return "the branch has moved meanwhile, so what is there was left as it is"
    # The index was as `start` before, and so it is again; the work tree is not touched by this.
    if not _ask(root, "reset", "--quiet", "--mixed", start).ok:
        return f"and git could not go back to {start}"
    first: dict[str, Change] = {}
    for change in written:
        first.setdefault(change.location, change)
    try:
        files.restore(first.values())
    except OSError as error:
        return f"and {error.filename} could not be written back: {(error.strerror or str(error)).lower()}"
    try:
        others = _changed(root)
    except NotCommitted as error:
        return f"the changes were taken back, and what hooks may have left cannot be told: {error}"
    return "nothing is changed" if not others else f"the changes were taken back; a hook has left others in {', '.join(others[:_SHOWN])}"


class _Answer(NamedTuple):
    ok: bool
    out: str
    said: str  # the output without its ends, or the last thing that an error says


def _ask(root: str, *arguments: str, given: str = "") -> _Answer:
    try:
        done = worktree.git(root, *arguments, given=given.encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise NotCommitted(f"git cannot be run: {(error.strerror or str(error)).lower()}") from error
    out = os.fsdecode(done.stdout)
    if done.returncode == 0:
        return _Answer(True, out, out.strip())
    lines = [line.strip() for text in (done.stderr, done.stdout) for line in os.fsdecode(text).splitlines()[::-1] if line.strip()]
    return _Answer(False, out, lines[0] if lines else f"git {arguments[0]} failed")


def _do(root: str, *arguments: str, given: str) -> None:
    answer = _ask(root, *arguments, given=given)
    if not answer.ok:
        who = "a hook or git" if arguments[0] == "commit" and _has_hooks(root) else "git"
        raise NotCommitted(f"{who} said: {answer.said}")


def _has_hooks(root: str) -> bool:
    folder = os.path.join(root, _ask(root, "rev-parse", "--git-path", "hooks").said)
    return any(os.access(os.path.join(folder, name), os.X_OK) for name in _HOOKS)
