"""A proposed skill is read as it was written, and as a person changed it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.errors import InvalidSkillError
from engramdown.gate.pending_file import SkillDraft, draft_text, read_draft

WORDS = st.text(min_size=1).map(lambda text: " ".join(text.split())).filter(
    lambda text: 0 < len(text) <= 1024 and text.isprintable()
)  # fmt: skip


@given(st.from_regex(r"[a-z]{3,9}(-[a-z]{3,9})?", fullmatch=True), WORDS, st.text())
def test_a_draft_is_read_as_it_was_written(label: str, does: str, body: str) -> None:
    if any(char != "\n" and not char.isprintable() for char in body):
        body = ""
    body = "\n".join(line.rstrip() for line in body.strip().split("\n"))
    draft = SkillDraft(label, does, f"{body}\n" if body else "")
    assert read_draft(draft_text(draft)) == draft


def test_a_person_may_change_every_word() -> None:
    text = "Skill `ship-it` :  Ship\n  the app\n \n1. Ship.\n\n   ```sh\n   ship\n   ```\n"
    assert read_draft(text) == SkillDraft(
        "ship-it", "Ship the app", "1. Ship.\n\n   ```sh\n   ship\n   ```\n"
    )


@pytest.mark.parametrize(
    "text, said",
    [
        ("Ship it", "is no skill; write `Skill `"),
        ("Skill ship-it: Ship", "is no skill"),
        ("Skill `Ship It`: Ship", "'Ship It' is not a label; use small letters"),
        ("Skill `../x`: Ship", "is not a label; use small letters"),
        ("Skill `ship`:\n\n1. Ship", "description: has 0 characters"),
        (f"Skill `ship`: {'x' * 1025}", "has 1025 characters"),
    ],
)
def test_what_is_no_skill_says_why(text: str, said: str) -> None:
    with pytest.raises(InvalidSkillError, match=said):
        read_draft(text)
