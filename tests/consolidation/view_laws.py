"""The laws of the view of a conversation, each as a function of one example.

Promises: no law draws its own input. The module imports what it judges by its full names, so that
it can be loaded again over a changed module.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from engramdown.consolidation.summaries import (
    LEAST_TARGET,
    Chunk,
    Item,
    condensed_chunks,
    cuts,
    fresh_tail,
    handoff_chunk,
    leaf_chunks,
)
from engramdown.transcripts.summary_log import Fold, Gist, Source, read_gist, write_gist

__all__ = [
    "a_result_stays_with_its_call",
    "an_interrupted_call_ends_with_its_turn",
    "calls",
    "condensed_gists_are_of_one_depth",
    "damage_changes_nothing",
    "fold",
    "gists",
    "handoffs_stand_for_all_that_is_old",
    "leaves_can_be_read",
    "long_messages_are_summarised",
    "made",
    "read_gists",
    "views_cover_all_once",
    "what_is_read_was_written",
    "what_must_be_seen_is_fresh",
]


def read_gists(data: bytes) -> list[Gist]:
    """Return the gists of a log, in order; a last line without its end is none yet."""
    return [gist for line in data.split(b"\n")[:-1] if (gist := read_gist(line)) is not None]


def fold(messages: Iterable[int], gists: Iterable[Gist]) -> Fold:
    """Return the view that gists leave of messages."""
    seen = Fold()
    for seq in messages:
        seen.add(seq)
    for gist in gists:
        seen.apply(gist)
    return seen


def made(name: str, *sources: Source) -> Gist:
    """Return a gist of some sources."""
    return Gist(name, "2026-03-01T10:15:00.000000Z", "leaf", 0, sources, f"said {name}", 3)


def calls(*each: str) -> list[Item]:
    """Return calls, ``"+a"``, and their results, ``"-a"``; anything else is said by such a role."""
    roles = {"+": "tool_call", "-": "tool_result"}
    return [
        Item(at, 9, roles[one[0]], "sh", one[1:]) if one[0] in roles else Item(at, 9, one)
        for at, one in enumerate(each)
    ]


def gists(count: int) -> list[Item]:
    """Return gists of messages."""
    return [Item(f"g{at}", 9, depth=0) for at in range(count)]


# ---- the fold ----


def what_is_read_was_written(gist: Gist) -> None:
    """A line of the log is one line, and gives the gist that it was made from."""
    line = write_gist(gist)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert read_gist(line) == read_gist(line[:-1]) == gist


def damage_changes_nothing(line: bytes) -> None:
    """A line gives a gist that can be written again, or none."""
    gist = read_gist(line)
    assert gist is None or read_gist(write_gist(gist)) == gist


def views_cover_all_once(messages: Sequence[int], gists: Iterable[Gist]) -> None:
    """Whatever gists come: the view holds all messages once and in order, and says how."""
    seen = fold(messages, ())
    for gist in gists:
        before = list(seen)
        fits = gist.id not in {"", *seen.gists} and _is_run(gist.sources, before)
        assert seen.apply(gist) == fits
        if fits:
            at = before.index(gist.sources[0])
            before[at : at + len(gist.sources)] = [gist.id]
        assert list(seen) == before
        # A line of the transcript that stands twice shows nothing twice.
        assert not any(seen.add(seq) for seq in messages)
        view_is_whole(seen, messages)


def view_is_whole(seen: Fold, messages: Sequence[int]) -> None:
    """A view holds the messages once and in order, and knows where each gist went."""
    view = list(seen)
    assert [seq for source in view for seq in seen.messages(source)] == list(messages)
    assert len(seen) == len(view) == len(set(view))
    assert all(source in seen for source in view)
    for name, gist in seen.gists.items():
        assert (name in seen) != (name in seen.derived)
        said = [seq for source in gist.sources for seq in seen.messages(source)]
        assert list(seen.messages(name)) == said == sorted(said)
        assert all(source not in seen for source in gist.sources)


def _is_run(sources: Sequence[Source], view: Sequence[Source]) -> bool:
    starts = [at for at, source in enumerate(view) if source == sources[0]] if sources else []
    return any(list(view[at : at + len(sources)]) == list(sources) for at in starts)


# ---- where it may be cut ----


def a_result_stays_with_its_call(items: Sequence[Item]) -> None:
    """No free place lies between a call and a result of it, and every other place is free."""
    free = cuts(items)
    joined = {place for call, result in _pairs(items) for place in range(call + 1, result + 1)}
    assert free == [place not in joined for place in range(len(items) + 1)]


def an_interrupted_call_ends_with_its_turn(turns: int) -> None:
    """A call that never had a result holds nothing together, however often its tool is used."""
    items = [Item(0, 9, "user"), Item(1, 9, "tool_call", "sh")]
    for _ in range(turns):
        for role, name in (("user", ""), ("tool_call", "sh"), ("tool_result", "sh")):
            items.append(Item(len(items), 9, role, name))
    free = cuts(items)
    assert [at for at in range(len(items) + 1) if not free[at]] == list(range(4, len(items), 3))


def _pairs(items: Sequence[Item]) -> list[tuple[int, int]]:
    """Return each result with its call, looked for one by one."""
    turn = [sum(item.role == "user" for item in items[: at + 1]) for at in range(len(items))]
    found: list[tuple[int, int]] = []
    for at, item in enumerate(items):
        if item.role != "tool_result":
            continue
        alike = [
            other
            for other in range(at)
            if items[other].role == "tool_call"
            and (items[other].call, items[other].name if not item.call else "")
            == (item.call, item.name if not item.call else "")
        ]
        done = [call for call, _ in found if call in alike]
        waiting = [call for call in alike if call not in done]
        newest = max((turn[call] for call in waiting), default=0)
        waiting = [call for call in waiting if turn[call] == newest] or done[-1:]
        found += [(call, at) for call in waiting[:1]]
    return found


def what_must_be_seen_is_fresh(items: Sequence[Item], count: int, most: int) -> None:
    """The tail has its messages, the newest of a user, all after it, and no half of a call."""
    free = cuts(items)
    start = fresh_tail(items, count, most)
    messages = [at for at, item in enumerate(items) if item.is_message]
    users = [at for at in messages if items[at].role == "user"]
    assert 0 <= start <= len(items)
    assert free[start]
    assert sum(at >= start for at in messages) >= min(max(count, 0), len(messages))
    assert not users or start <= users[-1]
    # What it holds beyond that is the beginning of a turn, which it holds if that is not too long.
    first = messages[max(len(messages) - count, 0) :][:1] if count > 0 else []
    due = min([*first, *users[-1:]], default=len(items))
    due = max(at for at in range(due + 1) if free[at])
    assert start <= due
    fresh = sum(at >= start for at in messages)
    needed = sum(at >= due for at in messages)
    assert fresh <= max(most, needed)


# ---- what is chosen ----


def leaves_can_be_read(items: Sequence[Item], end: int, least: int, most: int) -> None:
    """Leaves are of messages before the end, apart, whole, and neither trifles nor too long."""
    chunks = leaf_chunks(items, end, least, most)
    _are_whole(items, end, chunks)
    for chunk in chunks:
        group = items[chunk.start : chunk.end]
        assert all(item.is_message for item in group)
        assert chunk.depth == 0
        assert chunk.target == max(chunk.tokens // 3, LEAST_TARGET)
        assert len(group) >= least or chunk.tokens >= min(most, most // max(least, 1))
        assert chunk.tokens <= most or max(_costs(items, chunk)) > most


def long_messages_are_summarised(tokens: int) -> None:
    """Messages of which few can be read at once become leaves of a few."""
    items = [Item(at, tokens, "user") for at in range(9)]
    assert sum(chunk.end - chunk.start for chunk in leaf_chunks(items, 9)) >= 6


def condensed_gists_are_of_one_depth(items: Sequence[Item], end: int, fan_in: int) -> None:
    """What is condensed are two gists or more, of one depth, and what can be read at once."""
    most = 100
    chunks = condensed_chunks(items, end, fan_in, most)
    _are_whole(items, end, chunks)
    for chunk in chunks:
        group = items[chunk.start : chunk.end]
        assert len(group) >= 2
        assert {item.depth for item in group} == {chunk.depth - 1}
        assert group[0].depth >= 0
        assert chunk.target == max(chunk.tokens // 2, LEAST_TARGET)
        assert chunk.tokens <= most or len(group) == 2
        assert len(group) < 2 * max(fan_in, 2)
    # With room for all of it, every run of so many is condensed whole.
    roomy = {at for each in condensed_chunks(items, end, fan_in) for at in range(*each[:2])}
    run: list[int] = []
    for at in range(end + 1):
        if run and (at == end or items[at].depth != items[run[0]].depth):
            is_due = items[run[0]].depth >= 0 and len(run) >= max(fan_in, 2)
            assert roomy.issuperset(run) if is_due else roomy.isdisjoint(run)
            run = []
        run.append(at)


def handoffs_stand_for_all_that_is_old(items: Sequence[Item], end: int) -> None:
    """A handoff is of all before the end, and deeper than all of it; one handoff needs none."""
    chunk = handoff_chunk(items, end)
    old = items[:end]
    if chunk is None:
        assert [item.role for item in old] in ([], ["handoff"])
        return
    assert (chunk.start, chunk.end) == (0, len(old))
    assert chunk.tokens == sum(item.tokens for item in old)
    assert chunk.depth == max(item.depth for item in old) + 1
    assert chunk.target == min(2000, max(chunk.tokens, LEAST_TARGET))


def _are_whole(items: Sequence[Item], end: int, chunks: Sequence[Chunk]) -> None:
    free = cuts(items)
    assert all(0 <= chunk.start < chunk.end <= end for chunk in chunks)
    assert all(one.end <= other.start for one, other in pairwise(chunks))
    for chunk in chunks:
        assert chunk.tokens == sum(item.tokens for item in items[chunk.start : chunk.end])
        if items[chunk.start].is_message:
            assert free[chunk.start]
            assert free[chunk.end]


def _costs(items: Sequence[Item], chunk: Chunk) -> list[int]:
    """Return what each message or tool call of a chunk costs."""
    free = cuts(items)
    edges = [at for at in range(chunk.start, chunk.end + 1) if free[at]]
    return [sum(item.tokens for item in items[one:other]) for one, other in pairwise(edges)]
