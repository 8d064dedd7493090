"""The view of a conversation is the same in a process that follows it and in one that begins."""

from __future__ import annotations

import random

import pytest

from engramdown import Cortex
from engramdown.consolidation.summaries import Item
from tests.conftest import Opening
from tests.cortex.conversation.talks import SESSION, Summariser, everything, talk, turn


def seen_in(cortex: Cortex) -> tuple[list[Item], list[str]]:
    """Return what a process sees: what costs what, and the texts."""
    conversation = cortex.conversations.get(SESSION)
    items = conversation.view()
    track = conversation.track
    texts = [
        track.fold.gists[item.source].text
        if isinstance(item.source, str)
        else track.message(item.source).text
        for item in items
    ]
    return items, texts


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_who_follows_a_conversation_sees_what_a_process_sees_that_has_just_begun(
    opened: Opening, seed: int
) -> None:
    dice = random.Random(seed)
    cortex = opened(Summariser())
    assert cortex.episodes is not None
    said = 0
    for _ in range(60):
        for _ in range(dice.randrange(1, 6)):
            said += 1
            turn(cortex, said)
        move = dice.random()
        if move < 0.6:
            conversation = cortex.conversations.get(SESSION)
            conversation.compact(dice.choice(("incremental", "full", "handoff")))
        elif move < 0.65:
            how = dice.choice(("exclude", "include", "redact"))
            seq = dice.randrange(1, 4 * said)
            getattr(cortex.episodes.forgetting(), how)(SESSION, [seq])
        assert seen_in(opened()) == seen_in(cortex)


def test_a_line_that_stands_there_twice_counts_once(opened: Opening) -> None:
    cortex = opened(Summariser())
    talk(cortex, 30)
    assert cortex.episodes is not None
    path = cortex.episodes.folder / f"{SESSION}.jsonl"
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([*lines[:-1], lines[-3], b""]))
    assert opened(Summariser()).conversations.get(SESSION).compact().gists
    assert everything(opened().conversations.get(SESSION)) == list(range(1, 121))


def test_a_session_of_the_same_name_is_not_taken_for_the_one_that_was_summarised(
    opened: Opening,
) -> None:
    cortex = opened(Summariser())
    assert cortex.episodes is not None
    path = cortex.episodes.folder / f"{SESSION}.jsonl"
    for number in range(20):
        cortex.episodes.log(SESSION, "assistant", f"Said {number}")
    assert cortex.conversations.get(SESSION).compact(tail=0).messages == 20
    said = path.read_bytes()
    for number in range(20, 45):
        cortex.episodes.log(SESSION, "assistant", f"Said {number}")
    assert cortex.conversations.get(SESSION).view()[0].source != 1
    # Written into the same file, as a system does that gives a new one the number of the old one.
    ids = [line.partition(b'"id":"')[2][:16] for line in said.split(b"\n")[:-1]]
    for each in ids:
        path.write_bytes(path.read_bytes().replace(each, each[::-1]))
    assert [item.source for item in seen_in(opened())[0]] == list(range(1, 46))


def test_what_was_purged_is_not_seen_in_a_session_that_began_anew(opened: Opening) -> None:
    cortex = opened()
    assert cortex.episodes is not None
    cortex.episodes.log(SESSION, "user", "Said before")
    conversation = cortex.conversations.get(SESSION)
    assert len(conversation.view()) == 1
    path = cortex.episodes.folder / f"{SESSION}.jsonl"
    anew = path.with_name("20260301-101500-anew.jsonl")
    for number in range(3):
        cortex.episodes.log(anew.stem, "user", f"Said anew {number}")
    # In place, as a new file often gets the inode of the one that was removed.
    path.write_bytes(anew.read_bytes())
    seen = [conversation.track.message(seq).text for seq in (1, 2, 3) if conversation.view()]
    assert seen == ["Said anew 0", "Said anew 1", "Said anew 2"]
