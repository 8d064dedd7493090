"""`engramdown.integrations.history`: summaries stand where what they cover stood."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engramdown.integrations.history import Entry, Summary, put_in


def entries(*seqs: int) -> list[Entry]:
    return [Entry(seq, seq=seq) for seq in seqs]


def test_a_summary_stands_in_the_place_of_what_it_covers() -> None:
    left = put_in(entries(1, 2, 4, 7, 8, -1), [Summary(2, 4, "a"), Summary(5, 7, "b")], str.upper)
    assert [entry.value for entry in left] == [1, "A", "B", 8, -1]
    assert [entry.json for entry in left if entry.value in ("A", "B")] == ['"A"', '"B"']


@given(st.lists(st.integers(1, 40), unique=True), st.integers(0, 40))
def test_what_none_covers_is_given_as_it_was(seqs: list[int], last: int) -> None:
    kept = entries(*sorted(seqs))
    left = put_in(kept, [Summary(1, last, "…")] if last else [], str)
    assert [entry for entry in left if entry.value != "…"] == [
        entry for entry in kept if entry.seq > last
    ]
    assert put_in(kept, [], str) == kept
