"""`engramdown.consolidation.synonyms`: other words for the same."""

from __future__ import annotations

from hypothesis import given

from engramdown.consolidation.synonyms import plain
from tests.cortex.entries import any_text
from tests.language import table
from tests.tables import every


@every("text, said", table("plainer.tsv"))
def test_what_is_the_same_in_other_words_is_read_alike(text: str, said: str) -> None:
    assert plain(text) == said


def test_what_is_only_likely_can_be_left_alone() -> None:
    assert plain("Execute it in the dev env", likely=False) == "Execute it in the dev environment"


@given(any_text)
def test_every_string_can_be_read_and_nothing_becomes_nothing(text: str) -> None:
    assert bool(plain(text).strip()) == bool(text.replace("*", "").strip())
