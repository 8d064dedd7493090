"""The cache of views: it is never missed, and never believed."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engramdown import Cortex
from engramdown.consolidation.summaries import Item
from tests.conftest import Opening
from tests.cortex.conversation.talks import SESSION, Summariser, everything, talk, turn


def cache_of(cortex: Cortex) -> Path:
    return cortex.scopes.stores[-1].root / "cache" / "views" / f"{SESSION}.json"


def fresh(opened: Opening) -> tuple[list[Item], list[str]]:
    """Return what a process sees that has just begun: what costs what, and the texts."""
    conversation = opened().conversations.get(SESSION)
    items = conversation.view()
    track = conversation.track
    texts = [
        track.gist(item.source).text
        if isinstance(item.source, str)
        else track.message(item.source).text
        for item in items
    ]
    return items, texts


def is_used(opened: Opening) -> bool:
    conversation = opened().conversations.get(SESSION)
    conversation.view()
    return conversation.track._is_partial


def test_a_process_that_has_just_begun_reads_only_what_is_in_view(opened: Opening) -> None:
    cortex = opened(Summariser())
    talk(cortex, 30).compact()
    for number in range(31, 34):
        turn(cortex, number)
    assert is_used(opened)
    seen = fresh(opened)
    shutil.rmtree(cache_of(cortex).parent)
    assert not is_used(opened)
    assert fresh(opened) == seen


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_with_and_without_the_cache_all_histories_look_the_same(opened: Opening, seed: int) -> None:
    dice = random.Random(seed)
    cortex = opened(Summariser())
    assert cortex.episodes is not None
    said = used = 0
    for _ in range(60):
        for _ in range(dice.randrange(1, 6)):
            said += 1
            turn(cortex, said)
        conversation = cortex.conversations.get(SESSION)
        move = dice.random()
        if move < 0.6:
            conversation.compact(dice.choice(("incremental", "full", "handoff")))
        elif move < 0.65:
            how = dice.choice(("exclude", "include", "redact"))
            seq = dice.randrange(1, 4 * said)
            getattr(cortex.episodes.forgetting(), how)(SESSION, [seq])
        used += is_used(opened)
        seen = fresh(opened)
        kept = cache_of(cortex)
        if kept.exists():
            kept.rename(kept.with_suffix(".away"))
        assert fresh(opened) == seen
        if kept.with_suffix(".away").exists():
            kept.with_suffix(".away").rename(kept)
    assert used


def test_what_was_resumed_goes_on_as_what_was_read_whole(opened: Opening) -> None:
    cortex = opened(Summariser())
    talk(cortex, 30).compact()
    there = opened(Summariser())
    conversation = there.conversations.get(SESSION)
    conversation.view()
    assert conversation.track._is_partial
    for number in range(31, 60):
        turn(there, number)
        conversation.compact()
    assert cortex.conversations.get(SESSION).view() == conversation.view()
    assert everything(conversation) == list(range(1, 237))
    assert not conversation.track._is_partial


def forged(
    change: Callable[[dict[str, Any]], object], *, is_sealed: bool = True
) -> Callable[[Path], object]:
    """Return what changes the cache of a view."""

    def write(path: Path) -> None:
        line, _, seal = path.read_bytes().partition(b"\n")
        told = json.loads(line)
        change(told)
        data = json.dumps(told).encode()
        if is_sealed:
            seal = hashlib.sha256(data).hexdigest().encode() + b"\n"
        path.write_bytes(data + b"\n" + seal)

    return write


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda path: path.write_bytes(b""), id="empty"),
        pytest.param(lambda path: path.write_bytes(path.read_bytes()[:40]), id="cut"),
        pytest.param(lambda path: path.write_bytes(b"[" * 100_000), id="deep"),
        pytest.param(lambda path: path.write_bytes(b"null"), id="null"),
        pytest.param(forged(lambda told: told.update(v=2)), id="newer"),
        pytest.param(forged(lambda told: told["view"].pop(), is_sealed=False), id="one-less"),
        pytest.param(forged(lambda told: told["view"][1].__setitem__(2, 0)), id="place"),
        pytest.param(forged(lambda told: told["view"][1].__setitem__(2, 10**18)), id="far"),
        pytest.param(forged(lambda told: told["view"][1].__setitem__(1, "x")), id="other-id"),
        pytest.param(forged(lambda told: told["view"][0].__setitem__(0, "gx")), id="other-gist"),
        pytest.param(forged(lambda told: told["view"][0].__setitem__(2, -1)), id="negative"),
        pytest.param(forged(lambda told: told["view"].append(["a", "b"])), id="short"),
        pytest.param(forged(lambda told: told.pop("log")), id="no-log"),
        pytest.param(forged(lambda told: told["transcript"].__setitem__(0, 1)), id="inode"),
        pytest.param(forged(lambda told: told["transcript"].__setitem__(1, 10**9)), id="longer"),
        pytest.param(lambda path: (path.unlink(), path.mkdir()), id="folder"),
    ],
)
def test_a_cache_that_is_spoilt_changes_nothing(
    opened: Opening, spoil: Callable[[Path], object]
) -> None:
    cortex = opened(Summariser())
    talk(cortex, 30).compact()
    seen = fresh(opened)
    spoil(cache_of(cortex))
    assert fresh(opened) == seen
    turn(cortex, 31)
    assert everything(opened().conversations.get(SESSION)) == list(range(1, 125))


def test_to_look_writes_no_cache_and_a_purge_takes_it_away(opened: Opening) -> None:
    cortex = opened(Summariser())
    conversation = talk(cortex, 30)
    conversation.view()
    assert not cache_of(cortex).exists()
    conversation.compact()
    assert cache_of(cortex).exists()
    assert b"Question" not in cache_of(cortex).read_bytes()
    assert cortex.episodes is not None
    cortex.episodes.forgetting().purge(SESSION)
    assert not cache_of(cortex).exists()


def test_a_line_that_stands_there_twice_counts_once(opened: Opening) -> None:
    cortex = opened(Summariser())
    talk(cortex, 30)
    assert cortex.episodes is not None
    path = cortex.episodes.folder / f"{SESSION}.jsonl"
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([*lines[:-1], lines[-3], b""]))
    assert opened(Summariser()).conversations.get(SESSION).compact().gists
    assert is_used(opened)
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
    assert [item.source for item in fresh(opened)[0]] == list(range(1, 46))


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
