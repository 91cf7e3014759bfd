"""A file that accepts today's findings, keyed by content so that it survives edits elsewhere in a file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import NamedTuple

from .rule import Finding
from .source import Source

VERSION = 1


class Key(NamedTuple):
    """What makes a finding the same one tomorrow; `occurrence` counts equal lines of a file from 0."""

    path: str
    rule: str
    digest: str
    occurrence: int

    @property
    def fingerprint(self) -> str:
        """The key as one word, for reports."""
        return sha256("\0".join(map(str, self)).encode("utf-8", "surrogatepass")).hexdigest()[:32]


class BaselineError(Exception):
    """A baseline that cannot be used; the text says why."""


def keys_of(findings: Iterable[Finding], sources: Mapping[str, Source]) -> list[Key]:
    """The key of each finding, in order. A file that could not be decoded has no lines: there the message is hashed."""
    seen: Counter[tuple[str, str, str]] = Counter()
    digests: dict[str, str] = {}  # of texts that are hashed once, though a long line may have thousands of findings
    keys = []
    for finding in findings:
        source = sources.get(finding.path)
        text = finding.message if source is None else source.line(source.position(finding.span.start).line).strip()
        if text not in digests:
            digests[text] = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        same = (finding.path, finding.rule, digests[text])
        keys.append(Key(*same, seen[same]))
        seen[same] += 1
    return keys


def covered(keys: Iterable[Key], accepted: Iterable[Key]) -> frozenset[Key]:
    """The keys that a baseline accepts. Equal lines cannot be told apart, so one takes the place of another that is gone."""
    keys, accepted = frozenset(keys), frozenset(accepted)
    gone = Counter(key[:3] for key in accepted - keys)
    more = set()
    for key in sorted(keys - accepted):
        if gone[key[:3]]:
            gone[key[:3]] -= 1
            more.add(key)
    return (keys & accepted) | more


def dump(keys: Iterable[Key]) -> str:
    """The text of a baseline; sorted, one finding a line, so that a change of it is easy to review."""
    lines = [json.dumps(key._asdict()) for key in sorted(keys)]
    findings = "".join(["\n    ", ",\n    ".join(lines), "\n  "]) if lines else ""
    return f'{{\n  "version": {VERSION},\n  "findings": [{findings}]\n}}\n'


def load(text: str) -> frozenset[Key]:
    """The keys of a baseline's text. Raises BaselineError."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BaselineError(f"not JSON: {error}") from error
    if not isinstance(document, dict) or document.get("version") != VERSION or not isinstance(document.get("findings"), list):
        raise BaselineError(f"not a baseline of version {VERSION}")
    try:
        return frozenset(
            Key(str(item["path"]), str(item["rule"]), str(item["digest"]), int(item["occurrence"])) for item in document["findings"]
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise BaselineError(f"an entry is not whole: {error!r}") from error
