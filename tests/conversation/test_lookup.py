"""From a summary back to the words: everything is found, and every word comes back in order."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engramdown.conversation.conversation import Conversation
from engramdown.conversation.lookup import Expanded
from engramdown.errors import EpisodeNotFoundError, GistNotFoundError, SessionNotFoundError
from tests.conftest import Opening
from tests.cortex.conversation.lineages import EMOJI, covered, deep, say, top
from tests.cortex.conversation.talks import SESSION, Summariser, talk
from tests.tables import every


def pages(conversation: Conversation, gist: str, cap: int, depth: int) -> Iterator[Expanded]:
    """Yield all that a summary stands for, answer by answer."""
    cursor = ""
    while True:
        # Whoever goes on need not say the depth again.
        found = conversation.expand(gist, cap, cursor, 1 if cursor else depth)
        assert found.items
        assert found.tokens <= cap or len(found.items) == 1
        assert found.truncated == bool(found.cursor)
        yield from found.items
        cursor = found.cursor
        if not found.truncated:
            return


@pytest.fixture
def conversation(opened: Opening) -> Conversation:
    """Talk for so long that summaries are three deep and more."""
    return deep(opened(Summariser()))


# ---- down ----


def test_summaries_are_three_deep_and_more(conversation: Conversation) -> None:
    assert max(gist.depth for gist in conversation.gists) >= 3
    assert len({gist.id for gist in conversation.gists}) == len(conversation.gists)


@pytest.mark.slow
@pytest.mark.parametrize("cap", [1, 7, 40, 4_000])
def test_following_cursors_gives_every_message_once_and_in_order(
    conversation: Conversation, cap: int
) -> None:
    gist = top(conversation)
    seqs: list[int] = []
    for item in pages(conversation, gist, cap, 99):
        assert isinstance(item.source, int)
        if seqs[-1:] != [item.source]:
            seqs.append(item.source)
    assert seqs == [*conversation.track.fold.messages(gist)]
    assert len(seqs) >= 8 * 10


def test_going_down_level_by_level_gives_the_same(conversation: Conversation) -> None:
    def below(source: int | str) -> Iterator[int]:
        if isinstance(source, int):
            yield source
            return
        for item in pages(conversation, source, 10, 1):
            yield from below(item.source)

    gist = top(conversation)
    seqs = [*below(gist)]
    assert [*dict.fromkeys(seqs)] == [*conversation.track.fold.messages(gist)]


def test_a_condensed_summary_gives_the_summaries_that_it_was_made_from(
    conversation: Conversation,
) -> None:
    gist = conversation.describe(top(conversation)).gist
    found = conversation.expand(gist.id)
    assert tuple(item.source for item in found.items) == gist.sources
    for item in found.items:
        known = conversation.describe(str(item.source))
        assert known.derived == gist.id
        assert not known.in_view
        assert (item.text, item.role) == (known.gist.text, known.gist.form)
    assert conversation.describe(gist.id).in_view


def test_the_words_are_those_that_were_said(conversation: Conversation) -> None:
    texts = [item.text for item in pages(conversation, top(conversation), 50, 99)]
    assert texts[:4] == ["Question 1", '{"n": 1}', "Result 1", "Answer 1"]
    assert all(item.name == "look" for item in conversation.expand(_leaf(conversation)).items[1:3])


def _leaf(conversation: Conversation) -> str:
    return next(gist.id for gist in conversation.gists if gist.form == "leaf")


def test_a_huge_message_is_cut_and_goes_on(opened: Opening) -> None:
    huge = " ".join(f"word{number}" for number in range(5_000))
    conversation = covered(opened(Summariser()), "first", huge, "last")
    (gist,) = conversation.gists
    found = conversation.expand(gist.id)
    assert [item.text for item in found.items] == ["first"]
    assert found.truncated
    items = [*pages(conversation, gist.id, 4_000, 1)]
    parts = [item for item in items if item.source == 2]
    assert "".join(part.text for part in parts) == huge
    assert len(parts) == -(-len(huge) // 16_000)
    assert all(part.cut and part.tokens <= 4_000 for part in parts)
    assert not any(item.cut for item in items if item.source != 2)
    assert [item.source for item in items if item.source != 2] == [1, *range(3, 20)]


@pytest.mark.parametrize("cap", [1, 3, 9])
def test_a_part_ends_where_a_person_sees_a_character_end(opened: Opening, cap: int) -> None:
    conversation = covered(opened(Summariser()), EMOJI * 40 + "e\u0301" * 40)
    (gist,) = conversation.gists
    parts = [item.text for item in pages(conversation, gist.id, 200, 1) if item.source == 1]
    assert "".join(parts) == EMOJI * 40 + "e\u0301" * 40
    assert all(part.startswith((EMOJI, "e\u0301")) for part in parts)
    # What is one character and costs more than there is room for still comes, bit by bit.
    small = [item.text for item in pages(conversation, gist.id, cap, 1) if item.source == 1]
    assert "".join(small) == EMOJI * 40 + "e\u0301" * 40


@pytest.mark.slow
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cap=st.integers(1, 60), depth=st.integers(1, 6))
def test_whatever_room_there_is_nothing_is_left_out(
    conversation: Conversation, cap: int, depth: int
) -> None:
    gist = top(conversation)
    whole = conversation.expand(gist, 1_000_000, depth=depth)
    assert not whole.truncated
    texts: dict[object, str] = {}
    for item in pages(conversation, gist, cap, depth):
        texts[item.source] = texts.get(item.source, "") + item.text
    assert texts == {item.source: item.text for item in whole.items}
    assert [*texts] == [item.source for item in whole.items]


@pytest.mark.slow
@every("cap", [0, -1, -4_000])
def test_no_room_is_the_default_room(conversation: Conversation, cap: int) -> None:
    gist = top(conversation)
    assert conversation.expand(gist, cap, depth=99) == conversation.expand(gist, depth=99)


@pytest.mark.slow
@pytest.mark.parametrize(
    "cursor", ["x", "3", "1/", "1/999999", "1/-1", "/1", "1/1:", "1/1:x", "1/٣", " 1/0", "0/0"]
)
def test_a_cursor_that_is_none_is_refused(conversation: Conversation, cursor: str) -> None:
    with pytest.raises(ValueError, match=r"is not a cursor|depth is 0"):
        conversation.expand(top(conversation), cursor=cursor)


def test_no_level_at_all_is_refused(conversation: Conversation) -> None:
    with pytest.raises(ValueError, match="depth is 0; give 1 or more"):
        conversation.expand(top(conversation), depth=0)


# ---- ids ----


def test_the_beginning_of_an_id_is_enough_if_only_one_begins_so(conversation: Conversation) -> None:
    gist = top(conversation)
    assert conversation.describe(gist[:9]).gist.id == gist
    assert conversation.expand(gist[:9]).gist == gist


@pytest.mark.slow
@every("wanted", ["", "g", "gab", "zzzz", "g" * 17, "%", "*", "../x"])
def test_an_unknown_id_is_told(conversation: Conversation, wanted: str) -> None:
    with pytest.raises(GistNotFoundError, match="no summary") as caught:
        conversation.describe(wanted)
    assert (caught.value.session, caught.value.id) == (SESSION, wanted)
    with pytest.raises(GistNotFoundError):
        conversation.expand(wanted)


def test_the_id_of_another_session_is_unknown(opened: Opening) -> None:
    cortex = opened(Summariser())
    other = deep(cortex, 2, "other")
    mine = deep(cortex, 2)
    with pytest.raises(GistNotFoundError):
        mine.describe(top(other))
    assert mine.grep("Question 1")
    assert {hit.source for hit in mine.grep("Summary", "summaries")} <= {
        gist.id for gist in mine.gists
    }


@pytest.mark.parametrize("session", ["none", "never"])
def test_a_session_that_is_not_there_is_told(opened: Opening, session: str) -> None:
    conversation = opened().conversations.get(session)
    for look in (
        lambda: conversation.grep("x"),
        lambda: conversation.describe("gabcd"),
        lambda: conversation.expand("gabcd"),
    ):
        with pytest.raises(SessionNotFoundError):
            look()


# ---- what was taken back ----


@pytest.mark.slow
@pytest.mark.parametrize("how", ["exclude", "redact"])
def test_what_was_taken_back_is_not_found_nor_summaries_of_it(opened: Opening, how: str) -> None:
    cortex = opened(Summariser(lambda number, _: f"Summary {number} of the secret"))
    conversation = deep(cortex)
    say(cortex, "The secret is 4711")
    gone = next(hit for hit in conversation.grep("Question 2", limit=99) if hit.source == 5)
    above = {gone.gist}
    while conversation.describe(max(above)).derived:
        above = {conversation.describe(max(above)).derived}
    before = {gist.id for gist in conversation.gists}
    assert cortex.episodes is not None
    getattr(cortex.episodes.forgetting(), how)(SESSION, [5])
    for each in (conversation, opened().conversations.get(SESSION)):
        assert all(hit.source != 5 for hit in each.grep("Question 2", limit=99))
        left = {gist.id for gist in each.gists}
        assert gone.gist not in left
        assert above & left == set()
        assert left < before
        with pytest.raises(GistNotFoundError):
            each.expand(gone.gist)
        for name in left:
            assert all(item.source != 5 for item in each.expand(name, 10**6, depth=99).items)


def test_an_exclusion_that_is_taken_back_brings_it_all_back(opened: Opening) -> None:
    cortex = opened(Summariser())
    conversation = deep(cortex, 4)
    before = [gist.id for gist in conversation.gists]
    assert cortex.episodes is not None
    cortex.episodes.forgetting().exclude(SESSION)
    assert conversation.grep("Question") == []
    assert not conversation.gists
    cortex.episodes.forgetting().include(SESSION)
    assert [gist.id for gist in conversation.gists] == before
    assert conversation.grep("Question")


def test_looking_writes_nothing(conversation: Conversation, opened: Opening) -> None:
    root = opened().scopes.stores[-1].root
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    conversation.grep("Question")
    conversation.describe(top(conversation))
    conversation.expand(top(conversation), depth=9)
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def test_what_is_more_than_one_look_brings_comes_in_order(opened: Opening) -> None:
    conversation = talk(opened(Summariser()), 300)
    (gist,) = conversation.compact(tail=0).gists
    found = conversation.expand(gist.id, 10**6)
    assert [item.source for item in found.items] == [*range(1, 1197)]
    assert [item.source for item in conversation.expand(gist.id, cursor="1/255").items][:3] == [
        *(256, 257, 258)
    ]


# ---- one message ----


def test_a_long_result_is_read_whole_by_its_pointer(opened: Opening) -> None:
    cortex = opened()
    assert cortex.episodes is not None
    whole = "".join(f"line {number}\n" for number in range(9_000))
    cortex.episodes.log(SESSION, "user", "List it")
    cortex.episodes.log(SESSION, "tool_call", "{}", name="list", call="c")
    cortex.episodes.log(SESSION, "tool_result", whole, name="list", call="c")
    conversation = cortex.conversations.get(SESSION)
    read, cursor, pages = "", "", 0
    while pages == 0 or cursor:
        page = conversation.expand(f"{SESSION}#3", cursor=cursor)
        assert page.tokens <= 4_000
        (item,) = page.items
        read, cursor, pages = read + item.text, page.cursor, pages + 1
    assert read == whole
    assert pages > 3


@pytest.mark.parametrize("seq", [0, 9])
def test_a_pointer_to_no_message_is_refused(opened: Opening, seq: int) -> None:
    conversation = talk(opened(), 1)
    with pytest.raises(EpisodeNotFoundError, match=f"#{seq}"):
        conversation.expand(f"{SESSION}#{seq}")


def test_a_pointer_to_what_was_excluded_is_refused(opened: Opening) -> None:
    cortex = opened()
    conversation = talk(cortex, 1)
    assert cortex.episodes is not None
    cortex.episodes.forgetting().exclude(SESSION, [2])
    with pytest.raises(EpisodeNotFoundError, match="#2"):
        conversation.expand(f"{SESSION}#2")
