"""Three collections hold what was said, summed up and noted, and nothing that was taken back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown import Cortex, Engram
from engramdown.conversation.chunks import COLLECTIONS, Chunk, Collections, pieces
from engramdown.errors import SessionNotFoundError
from tests.conftest import Opening
from tests.cortex.conversation.talks import Summariser, talk
from tests.cortex.desk import episodes
from tests.episodes.endpoint import Endpoint, serving
from tests.tables import every

MEMORY, SUMMARIES, JOURNALS = COLLECTIONS
UUID: Final = "0b0e6f60-9a2e-4c66-9c40-2b8f0c8b1b1f"
LONG: Final = "long"


def ids(chunks: tuple[Chunk, ...]) -> list[str]:
    return [each.id for each in chunks]


def texts(chunks: tuple[Chunk, ...]) -> set[str]:
    return {each.content for each in chunks}


def remember(cortex: Cortex, text: str, kind: str = "lesson") -> str:
    scope = "global" if kind == "profile" else "project"
    engram = Engram(text, kind, scope, confidence="high", source="user")  # type: ignore[arg-type]
    [receipt] = cortex.propose(engram, by_person=True)
    return receipt.id


def say(cortex: Cortex, session: str, *said: str, name: str = "") -> None:
    """Record what the user and the assistant say in turn."""
    for number, text in enumerate(said):
        role = "assistant" if number % 2 else "user"
        episodes(cortex).log(session, role, text, name="" if number % 2 else name)


@pytest.fixture
def cortex(opened: Opening) -> Cortex:
    """Remember, talk, sum up and write a page, of deploys and of lunch."""
    made = opened(Summariser(lambda number, _: f"Summary {number} of the deploys."))
    remember(made, "Name: Ada", "profile")
    remember(made, "Deploys happen on Mondays")
    remember(made, "Lunch is at noon")
    episodes(made).start_session("short", conversation=UUID)
    say(made, "short", "When do we deploy?", "On Mondays.", "And lunch?", "At noon.")
    talk(made, 12, LONG).compact()
    made.journal.write("The deploys moved to Tuesday.", themes=["deploys"], session="short")
    return made


@pytest.fixture
def collections(cortex: Cortex) -> Collections:
    return cortex.collections


# ---- what they hold ----


def test_each_collection_holds_what_it_is_made_from(collections: Collections) -> None:
    held = {each: collections.chunks(200, collection=each).chunks for each in COLLECTIONS}
    assert texts(held[SUMMARIES]) == {"Summary 1 of the deploys."}
    assert {"When do we deploy?", "Deploys happen on Mondays", "Answer 12"} <= texts(held[MEMORY])
    assert {each.role for each in held[MEMORY]} == {"user", "assistant", "memory"}
    [page] = held[JOURNALS]
    assert "The deploys moved to Tuesday." in page.content
    assert (page.type, page.words, page.themes) == ("journal", 5, ("deploys",))
    assert page.id == page.day == page.timestamp[:10]
    whole = collections.chunks(200).chunks
    assert len(whole) == sum(map(len, held.values()))
    assert {each.type for each in whole} == {"message", "summary", "journal"}


def test_a_conversation_is_called_by_the_uuid_that_it_began_with(collections: Collections) -> None:
    for name in (UUID, UUID.upper(), "short"):
        found = collections.chunks(conversation=name).chunks
        assert {each.conversation for each in found} == {UUID}
        assert [each.content for each in found if each.role == "assistant"] == [
            "At noon.",
            "On Mondays.",
        ]
        assert found[-1].type == "journal" or found[0].type == "journal"
    assert {each.conversation for each in collections.chunks(conversation=LONG).chunks} == {LONG}


def test_the_user_is_who_speaks_as_the_user(cortex: Cortex) -> None:
    say(cortex, "group", "I am here", "Hello.", name="Ben")
    found = cortex.collections.chunks(conversation="group").chunks
    assert [(each.role, each.user) for each in found] == [("assistant", "Ada"), ("user", "Ben")]


def test_a_session_with_the_same_uuid_goes_on(cortex: Cortex) -> None:
    with cortex.session(conversation=UUID.upper()) as session:
        assert session.id == "short"
    with cortex.session("other", conversation=UUID) as session:
        session.begin_turn("Hello")
        assert session.id == "other"
    assert cortex.collections.chunks(1, conversation=UUID).chunks[0].id == "other#1"
    with pytest.raises(ValueError, match="conversation is 'me'; give a UUID"):
        cortex.session(conversation="me")


@every("name", ["nobody", "../x", "", "0b0e6f60-0000-0000-0000-000000000000"])
def test_an_unknown_conversation_is_an_error(collections: Collections, name: str) -> None:
    for ask in (collections.chunks, collections.summary, collections.context):
        with pytest.raises(SessionNotFoundError):
            ask(conversation=name)
    with pytest.raises(SessionNotFoundError):
        collections.search("deploys", conversation=name)


def test_without_a_store_of_files_there_is_nothing(tmp_path: Path) -> None:
    empty = Cortex.open(project=tmp_path, home=tmp_path / "home").collections
    assert empty.chunks() == ((), "")
    assert empty.search("anything").chunks == ()
    assert empty.is_ready()


# ---- a list, page by page ----


def test_pages_give_every_chunk_once_and_the_newest_first(collections: Collections) -> None:
    whole = collections.chunks(200).chunks
    times = [each.timestamp for each in whole]
    assert times == sorted(times, reverse=True)
    for size in (1, 3, 50):
        found: list[Chunk] = []
        after = ""
        while True:
            page = collections.chunks(size, after=after)
            assert len(page.chunks) == size or not page.after
            found += page.chunks
            after = page.after
            if not after:
                break
        assert tuple(found) == whole


def test_what_comes_meanwhile_moves_nothing(cortex: Cortex) -> None:
    whole = cortex.collections.chunks(200).chunks
    first = cortex.collections.chunks(3)
    say(cortex, "short", "One more thing", "Yes?")
    remember(cortex, "The build is slow")
    rest = cortex.collections.chunks(200, after=first.after).chunks
    assert (*first.chunks, *(each for each in rest if each.role != "memory")) == tuple(
        each for each in whole if each.role != "memory"
    )


def test_a_list_goes_on_behind_what_was_redacted(cortex: Cortex) -> None:
    say(cortex, "gone", *(f"Line {number}" for number in range(12)))
    say(cortex, "kept", "Here", "I am.")
    episodes(cortex).forgetting().redact("gone", range(1, 13))
    first = cortex.collections.chunks(3, collection=MEMORY)
    assert ids(first.chunks)[:2] == ["kept#2", "kept#1"]
    assert len(first.chunks) == 3
    assert first.after


@every("after", ["x", "1", "1.2", "1.9.0.a", "1.0.0.", "1.0.x.a", "9" * 30])
def test_a_cursor_of_somebody_else_is_refused(collections: Collections, after: str) -> None:
    with pytest.raises(ValueError, match="give that of the last answer"):
        collections.chunks(after=after)


# ---- by words ----


def test_without_an_embedder_words_answer(collections: Collections) -> None:
    found = collections.search("deploys on Monday")
    assert (found.by, found.notes) == ("words", ())
    assert found.chunks[0].content == "Deploys happen on Mondays"
    assert {each.collection for each in found.chunks} == set(COLLECTIONS)
    near = [each.similarity for each in found.chunks]
    assert near == sorted(near, reverse=True)
    assert max(near) == 1.0


def test_filters_hold(collections: Collections) -> None:
    for each in COLLECTIONS:
        found = collections.search("deploys", collection=each).chunks
        assert {chunk.collection for chunk in found} == {each}
    found = collections.search("deploys Mondays", conversation=UUID).chunks
    assert {each.conversation for each in found} == {UUID}
    assert len(collections.search("deploys", 2).chunks) == 2
    assert collections.search(" ").chunks == ()


def test_the_floor_comes_before_recency(cortex: Cortex) -> None:
    from datetime import UTC, datetime

    log = episodes(cortex).log
    log("past", "user", "A purple boat sank", at=datetime(2020, 1, 1, tzinfo=UTC))
    log("past", "user", "A boat", at=datetime(2026, 11, 27, tzinfo=UTC))
    search = cortex.collections.search
    assert ids(search("purple boat").chunks) == ["past#1", "past#2"]
    assert ids(search("purple boat", recency=1).chunks) == ["past#2", "past#1"]
    # However new, what is below the floor does not come; however old, what is above it does.
    assert ids(search("purple boat", min_similarity=0.9, recency=1).chunks) == ["past#1"]


@every(
    "more",
    [
        {"min_similarity": -0.1},
        {"min_similarity": 1.1},
        {"recency": float("nan")},
        {"limit": 0},
        {"collection": "cass"},
    ],
)
def test_arguments_out_of_range_are_refused(collections: Collections, more: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=next(iter(more)) if "collection" not in more else "cass"):
        collections.search("deploys", **more)  # type: ignore[arg-type]


def test_what_was_found_and_shown_is_counted(cortex: Cortex) -> None:
    name = next(entry.id for entry in cortex.entries() if entry.text == "Lunch is at noon")

    def used() -> tuple[int, int]:
        known = cortex.why(name)
        return known.recalled.times, known.shown.times

    assert used() == (0, 0)
    cortex.collections.search("lunch")
    cortex.collections.search("lunch", is_counted=False)
    assert used() == (1, 0)
    cortex.conversation_context("short", query="lunch")
    assert used() == (1, 1)


# ---- by meaning ----


@contextmanager
def embedding(opened: Opening, mode: str = "good") -> Iterator[Cortex]:
    """Yield a cortex whose embedder knows what a ship is."""
    with serving(mode) as url:
        home = f'[episodes]\nembedder = "openai:fake@{url}"\n'
        yield opened(Summariser(lambda *_: "They spoke of a vessel"), at_home=home)


def tell(cortex: Cortex) -> None:
    remember(cortex, "My ship is in the harbour")
    talk(cortex, 12, LONG).compact()
    say(cortex, "short", "The vessel left", "It was a car.")
    cortex.journal.write("A ship came in. " + "Nothing more. " * 200)


def test_with_an_embedder_vectors_answer(opened: Opening) -> None:
    with embedding(opened) as cortex:
        tell(cortex)
        found = cortex.collections.search("boat", min_similarity=0.5)
        assert (found.by, found.notes) == ("vectors", ())
        assert {each.collection for each in found.chunks} == set(COLLECTIONS)
        assert {each.role for each in found.chunks} == {"memory", "user", "summary"} | {"user"}
        assert all("car" not in each.content for each in found.chunks)
        near = [each.similarity for each in found.chunks]
        assert near == sorted(near, reverse=True)
        assert min(near) >= 0.5
        # One collection, and nothing is embedded twice.
        asked = len(Endpoint.seen)
        only = cortex.collections.search("boat", collection=JOURNALS, min_similarity=0.5)
        assert {each.collection for each in only.chunks} == {JOURNALS}
        assert len(Endpoint.seen) == asked


def test_without_an_answer_of_the_embedder_words_answer_and_say_why(opened: Opening) -> None:
    with embedding(opened, "503") as cortex:
        tell(cortex)
        found = cortex.collections.search("vessel")
        assert found.by == "words"
        assert found.notes[0].startswith("embeddings are off for this recall: ")
        assert {each.collection for each in found.chunks} == {MEMORY, SUMMARIES}


# ---- what was taken back ----


def everything(cortex: Cortex) -> str:
    return "\n".join(each.content for each in cortex.collections.chunks(500).chunks)


def test_what_was_redacted_leaves_all_collections(cortex: Cortex) -> None:
    assert "Question 1\n" in everything(cortex)
    assert "Summary 1" in everything(cortex)
    episodes(cortex).forgetting().redact(LONG, [1])
    assert "Question 1\n" not in everything(cortex)
    assert "Summary 1" not in everything(cortex)
    assert cortex.collections.search("summary", collection=SUMMARIES).chunks == ()
    assert cortex.collections.summary(LONG) is None


def test_what_was_excluded_leaves_them_and_comes_back(cortex: Cortex) -> None:
    before = everything(cortex)
    episodes(cortex).mark(LONG, "exclude")
    assert "Question 1" not in everything(cortex)
    assert "Summary 1" not in everything(cortex)
    episodes(cortex).mark(LONG, "include")
    assert everything(cortex) == before


def test_a_purged_session_leaves_them(cortex: Cortex) -> None:
    episodes(cortex).forgetting().purge(LONG)
    assert "Question 1" not in everything(cortex)
    assert "Summary 1" not in everything(cortex)


def test_what_was_erased_leaves_all_collections_and_their_vectors(opened: Opening) -> None:
    words = "The purple ship sails at midnight"
    with embedding(opened) as cortex:
        name = remember(cortex, words)
        say(cortex, "short", words, "Noted.")
        cortex.journal.write(words)
        assert cortex.collections.search("boat").by == "vectors"
        assert everything(cortex).count(words) == 3
        cache = episodes(cortex).folder.parent / "cache"
        assert (cache / "pages.sqlite").exists()
        cortex.review.erase(name)
        assert not (cache / "pages.sqlite").exists()
        assert "purple" not in everything(cortex)
        assert cortex.collections.search("purple").by == "vectors"
        assert all(
            "purple" not in each.content for each in cortex.collections.search("boat").chunks
        )


def test_a_redaction_drops_the_vectors_of_summaries(opened: Opening) -> None:
    with embedding(opened) as cortex:
        tell(cortex)
        cortex.collections.search("boat")
        cache = episodes(cortex).folder.parent / "cache"
        assert (cache / "pages.sqlite").exists()
        episodes(cortex).forgetting().redact(LONG, [1])
        assert not (cache / "pages.sqlite").exists()


# ---- a conversation, in five parts ----


def test_a_context_has_five_parts(cortex: Cortex) -> None:
    soul = cortex.scopes.project_hc.root / "memory" / "soul.md"  # type: ignore[attr-defined]
    soul.write_text("Be brief.\n", encoding="utf-8")
    found = cortex.conversation_context(LONG, "Ada", query="when are deploys?")
    assert found.working_summary is not None
    assert found.working_summary.content == "Summary 1 of the deploys."
    assert found.working_summary == cortex.collections.summary(LONG)
    assert found.user_context == "- Name: Ada"
    assert found.self_context == "Be brief."
    said = [each.content for each in found.recent]
    assert said[:3] == ["Answer 12", "Question 12", "Answer 11"]
    assert found.memories[0].content == "Deploys happen on Mondays"
    assert (found.by, found.notes) == ("words", ())
    assert [each.content for each in cortex.conversation_context(LONG, recent=1).recent] == said[:1]
    assert cortex.conversation_context(LONG, recent=0).recent == ()
    with pytest.raises(ValueError, match="recent is -1"):
        cortex.conversation_context(LONG, recent=-1)


def test_nothing_is_told_twice(cortex: Cortex) -> None:
    for asked in ("Question 1 Answer 12", "Name of Ada", "Summary of the deploys"):
        found = cortex.conversation_context(LONG, "Ada", asked)
        recent = {each.id for each in found.recent}
        assert not recent.intersection(ids(found.memories))
        assert "Name: Ada" not in texts(found.memories)
        # A summarised message is in the working summary alone.
        assert all(each.conversation != LONG for each in found.memories)
        track = cortex.conversations.get(LONG).track
        uncovered = {f"{LONG}#{item.source}" for item in track.items() if item.is_message}
        assert recent <= uncovered


def test_another_summary_hides_no_message_of_this_conversation(cortex: Cortex) -> None:
    say(cortex, "short", "The vault opens at six", "Noted.", *["Go on", "Yes."] * 12)
    talk(cortex, 12, "newer").compact()
    found = cortex.conversation_context(UUID, "Ada", "when does the vault open?")
    assert found.working_summary is None
    assert found.conversation == UUID
    # It is not among the last 20, is older than that summary, and is found.
    assert "The vault opens at six" in texts(found.memories)


def test_elsewhere_a_summary_that_is_shown_stands_for_its_messages(cortex: Cortex) -> None:
    say(cortex, "vault", "The vault opens at six", "Noted.")
    talk(cortex, 12, "vault").compact()
    both = texts(cortex.conversation_context("short", "Ada", "vault summary 2").memories)
    assert "Summary 2 of the deploys." in both
    assert "The vault opens at six" not in both
    # A question that finds no summary finds the words.
    words = texts(cortex.conversation_context("short", "Ada", "vault").memories)
    assert "The vault opens at six" in words


def test_of_a_summary_and_those_that_it_was_made_from_one_is_enough(cortex: Cortex) -> None:
    for _ in range(4):
        talk(cortex, 12, "vault").compact("full", budget=10)
    gists = cortex.conversations.get("vault").gists
    assert {gist.depth for gist in gists} >= {0, 1}
    assert len(cortex.collections.chunks(50, collection=SUMMARIES).chunks) == len(gists) + 1
    found = cortex.conversation_context("short", query="summary of the deploys").memories
    shown = [each.id for each in found if each.conversation == "vault" and each.type == "summary"]
    told = [{*cortex.conversations.get("vault").track.fold.messages(each)} for each in shown]
    assert told
    assert sum(map(len, told)) == len(set().union(*told))


def test_the_memories_are_about_the_last_message_unless_asked(cortex: Cortex) -> None:
    say(cortex, "fresh", "When is lunch?")
    assert "Lunch is at noon" in texts(cortex.conversation_context("fresh").memories)
    say(cortex, "fresh", "Thanks, go on")
    assert cortex.conversation_context("fresh").memories == ()


def test_of_somebody_else_it_knows_what_names_them(cortex: Cortex) -> None:
    remember(cortex, "Ben likes tea")
    remember(cortex, "Benches are red")
    assert cortex.conversation_context(LONG, "Ben").user_context == "- Ben likes tea"
    assert cortex.conversation_context(LONG, "Zoe").user_context == ""
    assert cortex.conversation_context(LONG).user_context == "- Name: Ada"


# ---- pieces of a long text ----


@given(st.text("ab. \n", max_size=4_000))
def test_pieces_hold_everything_and_are_short(text: str) -> None:
    found = pieces(text)
    assert all(len(each) <= 1_000 for each in found)
    assert len(found) <= max(len(text) // 500, 1) + 1
    rest = text
    for each in found:
        at = text.find(each)
        assert at >= 0
        rest = rest.replace(each, "", 1) if each in rest else rest
    assert found[0] == text[: len(found[0])]
    assert text.endswith(found[-1])


def test_a_piece_ends_with_a_sentence() -> None:
    first, second = pieces("word " * 180 + "end. " + "more " * 60)
    assert first.endswith("end. ")
    assert second.startswith(first[-200:])
