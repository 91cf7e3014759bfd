"""Tells what pip-audit has found, from its report, its exit status and what it said: `audited.py REPORT STATUS SAID`."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

_UNREACHABLE = re.compile(r"connection|max retries|timed? ?out|resolve|name or service|proxy|unreachable|unavailable", re.IGNORECASE)


def told(report: Path, status: int, said: str) -> tuple[int, list[str]]:
    """The exit status of the audit, and its lines: one where all is well, or where nobody could be asked."""
    if not report.is_file():
        # It writes none where it could not work at all.
        last = next((line.strip() for line in reversed(said.splitlines()) if line.strip()), "it said nothing")
        if status and _UNREACHABLE.search(said):
            return 0, [f"audit: skipped, no advisories are to be had here: {last[:200]}"]
        return 1, [f"audit: pip-audit has failed: {last[:200]}"]
    found = json.loads(report.read_text(encoding="utf-8"))["dependencies"]
    lines = [
        f"audit: {one['name']} {one['version']}: {flaw['id']}, mended in {', '.join(flaw['fix_versions']) or 'no release yet'}"
        for one in found
        for flaw in one.get("vulns", ())
    ]
    left_out = [one["name"] for one in found if "skip_reason" in one]
    if lines:
        return 1, lines
    if not found or len(left_out) == len(found):
        return 0, ["audit: skipped, no advisories are to be had here for any of the packages"]
    more = f"; not known there: {', '.join(left_out)}" if left_out else ""
    return 0, [f"audit: no known vulnerability in {len(found) - len(left_out)} packages{more}"]


if __name__ == "__main__":
    status, lines = told(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
    print("\n".join(lines))
    sys.exit(status)
