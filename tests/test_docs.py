"""Generated pages say what the catalog says today."""

from __future__ import annotations

import rules_page


def test_the_page_of_the_rules_is_fresh() -> None:
    assert rules_page.PAGE.read_text(encoding="utf-8") == rules_page.page(), "run `python tests/rules_page.py`"
