"""The conversations that the summary without a model is measured by."""

from __future__ import annotations

import pytest

from engramdown.consolidation.extractive import SUMMARY, Part, extract
from engramdown.tokens import estimate_tokens
from tests.corpora.extracts import Talk, held_by, talks

TALKS = [*talks(), *talks("tuning")]


def test_each_set_has_twelve_of_them_with_five_facts_each() -> None:
    assert len(TALKS) == 2 * 12
    assert all(len(talk.facts) == 5 for talk in TALKS)


@pytest.mark.parametrize("talk", TALKS, ids=lambda talk: talk.about.replace(" ", "-"))
def test_a_summary_says_something_within_its_room(talk: Talk) -> None:
    assert held_by("\n".join(part.text for part in talk.parts), talk) == 5
    cost = sum(estimate_tokens(part.text) for part in talk.parts)
    first = extract(talk.parts, cost // 3)
    second = extract([Part(SUMMARY, first)], cost // 6)
    assert 0 < estimate_tokens(first) <= cost // 3
    assert 0 < estimate_tokens(second) <= cost // 6
