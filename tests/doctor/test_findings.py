"""The words of doctor."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from engramdown.doctor.findings import Finding, codes, find
from tests.tables import every

ROOT: Final = Path(__file__).resolve().parent.parent.parent


def test_a_finding_knows_its_level_and_what_to_do() -> None:
    finding = find(("rules.md", 3), "conflict", extent="down to line 7")
    assert finding == Finding(
        "rules.md", 3, "conflict", "an unresolved merge conflict, down to line 7"
    )
    assert finding.level == "error"
    assert finding.advice.startswith("keep the lines you want")
    assert not finding.fixable


def test_a_secret_in_what_is_quoted_is_hidden() -> None:
    token = "ghp_0aB1cD2eF3gH4iJ5kL6mN7oP8" + "qR9sT0uV1wX"
    message = find(("a.md", 1), "near-heading", title=token, kind="Never").message
    assert token not in message
    assert "[redacted: " in message


@every("code", codes())
def test_a_sentence_is_no_sentence_with_a_full_stop(code: str) -> None:
    for words in (codes()[code].message, codes()[code].advice):
        assert words == words.strip()
        assert not words.endswith(".")


@every("code", codes())
def test_every_code_has_its_row_in_the_docs(code: str) -> None:
    page = (ROOT / "docs" / "doctor.md").read_text(encoding="utf-8")
    assert re.search(rf"^\| `{code}` \| {codes()[code].level} \|", page, re.MULTILINE)
