"""What is taken for a duplicate, on the pairs that were labelled by hand."""

from __future__ import annotations

from typing import Final

import pytest

from engramdown.consolidation.information_loss import is_duplicate, is_near_exact, likeness_key
from tests.corpora.duplicates import CORPORA, Pair, corpus


@pytest.mark.parametrize("name", CORPORA)
def test_no_conflict_and_nothing_unrelated_becomes_one_memory(name: str) -> None:
    apart = [pair for pair in corpus(name) if pair.label != "same"]
    assert [pair for pair in apart if is_duplicate(pair.a, pair.b)] == []
    assert [pair for pair in apart if is_near_exact(pair.a, pair.b)] == []


# By an author who did not know the code, or mostly passives and synonyms, or free paraphrases.
HARDER: Final = {
    "tuning_second": (0.85, 0.5),
    "tuning_fourth": (0.9, 0.45),
    "latest": (0.9, 0.45),
    "free": (0.6, 0.25),
}


@pytest.mark.parametrize("name", [name for name in CORPORA if name != "hard"])
def test_nine_of_ten_duplicates_are_found_and_half_go_by_themselves(name: str) -> None:
    at_least, alone = HARDER.get(name, (0.9, 0.5))
    same = [pair for pair in corpus(name) if pair.label == "same"]
    found = [pair for pair in same if is_duplicate(pair.a, pair.b)]
    assert len(found) / len(same) >= at_least
    assert sum(is_near_exact(pair.a, pair.b) for pair in same) / len(same) >= alone


@pytest.mark.slow
def test_the_same_pairs_are_found_in_whatever_order_and_by_their_keys() -> None:
    for pair in (pair for name in CORPORA for pair in corpus(name)):
        same = is_duplicate(pair.a, pair.b)
        assert same == is_duplicate(pair.b, pair.a)
        assert not is_near_exact(pair.a, pair.b) or same, pair
        assert not same or likeness_key(pair.a) == likeness_key(pair.b), pair


def test_the_corpus_is_as_large_as_it_is_said_to_be() -> None:
    half: list[Pair] = [*corpus("tuning"), *corpus("held_out")]
    assert len(half) == 376
    assert {label: sum(pair.label == label for pair in half) for label in ("conflict", "same")} == {
        "conflict": 135,
        "same": 139,
    }
    assert len(corpus("last")) >= 60
