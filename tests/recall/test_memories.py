"""`engramdown.recall.memories`: any query, one order."""

from __future__ import annotations

import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given

from engramdown.episodes.memory import EpisodicMemory
from engramdown.errors import StoreError
from engramdown.hippocampus.entry import Entry
from engramdown.language import kindred
from engramdown.language.words import STOP_WORDS
from engramdown.recall import index, memories
from engramdown.recall.memories import HALF_LIFE, MemoryIndex
from tests.cortex.entries import any_entries, any_text, entry
from tests.episodes.transcripts import write
from tests.tables import every

TODAY = date(2026, 3, 1)


def texts(index: MemoryIndex, query: str) -> list[str]:
    return [hit.entry.text for hit in index.search(query, TODAY)]


def test_the_one_that_answers_is_found_by_other_forms_of_the_words() -> None:
    index = MemoryIndex([entry("Use tabs"), entry("Deploys are on Mondays"), entry("Ask first")])
    assert texts(index, "when are we deploying?") == ["Deploys are on Mondays"]


def test_a_word_that_only_begins_alike_is_not_found() -> None:
    assert texts(MemoryIndex([entry("strict"), entry("b"), entry("c")]), "string") == []


def test_more_and_rarer_words_come_first() -> None:
    many = [entry(f"The linter likes rule {number}") for number in range(9)]
    index = MemoryIndex([*many, entry("The linter fails on Windows")])
    assert texts(index, "linter on windows")[0] == "The linter fails on Windows"
    assert len(texts(index, "linter on windows")) == 10


def test_topics_and_headings_count() -> None:
    index = MemoryIndex(
        [entry("a", topic="api-coingecko"), entry("b", heading="Style"), entry("c")]
    )
    assert texts(index, "coingecko") == ["a"]
    assert texts(index, "style") == ["b"]


def test_cjk_matches_by_character_and_accents_do_not_matter() -> None:
    index = MemoryIndex([entry("提交前先运行测试"), entry("Straße nach Köln"), entry("café")])
    assert texts(index, "测试") == ["提交前先运行测试"]
    assert texts(index, "koln") == ["Straße nach Köln"]
    assert texts(index, "CAFE\u0301") == ["café"]


def test_stop_words_are_looked_for_only_when_there_is_nothing_else() -> None:
    index = MemoryIndex([entry("What is it that you do"), entry("The linter")])
    assert texts(index, "what is it that the linter does") == ["The linter"]
    assert texts(index, "what is it") == ["What is it that you do"]


def test_equal_scores_keep_the_order_of_the_entries() -> None:
    index = MemoryIndex([entry("Use uv", id=f"{number}") for number in range(20)])
    assert [hit.position for hit in index.search("uv", TODAY)] == list(range(20))


@every("query", ["", " ", "?", '"', "*", "\x00", "\ud800", "😀"])
def test_a_query_without_words_finds_nothing(query: str) -> None:
    assert MemoryIndex([entry("anything"), entry("😀 at all")]).search(query, TODAY) == []


@every("query", ["linter AND", "NEAR(linter", "said:linter", "linter*", "-linter"])
def test_operators_are_words(query: str) -> None:
    assert texts(MemoryIndex([entry("the linter"), entry("b"), entry("c")]), query) == [
        "the linter"
    ]


def test_no_entries_find_nothing() -> None:
    assert MemoryIndex([]).scores("linter") == {}


def test_what_is_newer_comes_first_among_equals() -> None:
    index = MemoryIndex([entry("uv", ts="2020-01-01"), entry("uv"), entry("uv", ts="2026-02-27")])
    assert [hit.position for hit in index.search("uv", TODAY)] == [2, 0, 1]


def test_half_of_what_new_is_worth_is_gone_after_the_half_life() -> None:
    index = MemoryIndex([entry("uv", ts="2026-03-01"), entry("uv", ts="2025-09-02"), entry("uv")])
    new, older, undated = (index.weighed("uv", TODAY)[position] for position in range(3))
    assert (date(2026, 3, 1) - date(2025, 9, 2)).days == HALF_LIFE
    assert older - undated == pytest.approx((new - undated) / 2)


def test_a_date_in_the_future_is_as_new_as_today_and_a_wrong_one_is_none() -> None:
    index = MemoryIndex([entry("uv", ts="2099-01-01"), entry("uv", ts="2026-02-30"), entry("uv")])
    future, wrong, undated = (index.weighed("uv", TODAY)[position] for position in range(3))
    assert future / undated == pytest.approx(1.2)
    assert wrong == undated


def test_what_is_surer_comes_first_among_equals() -> None:
    index = MemoryIndex([entry("uv", confidence=sure) for sure in ("low", "high", "medium")])
    assert [hit.entry.confidence for hit in index.search("uv", TODAY)] == ["high", "medium", "low"]


def test_neither_age_nor_doubt_beats_a_clearly_better_match() -> None:
    filler = [entry(f"other {number}") for number in range(20)]
    best = entry("uv cache folder in CI", ts="2001-01-01", confidence="low")
    index = MemoryIndex([*filler, entry("uv", ts="2026-03-01"), best])
    assert texts(index, "uv cache folder")[0] == best.text


def test_a_long_query_is_looked_for_from_both_ends() -> None:
    index = MemoryIndex([entry("alpha"), entry("omega"), entry("middle"), entry("x"), entry("y")])
    log = " ".join(f"w{number}" for number in range(200))
    assert texts(index, f"alpha {log} middle {log.replace('w', 'v')} omega") == ["alpha", "omega"]


def test_threads_may_share_an_index() -> None:
    index = MemoryIndex([entry(f"linter {number}") for number in range(50)])
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: texts(index, "linter"), range(40)))
    assert all(each == found[0] for each in found)


@given(any_entries, any_text)
def test_every_string_is_a_query_and_always_gives_the_same_order(
    entries: list[Entry], query: str
) -> None:
    index = MemoryIndex(entries)
    hits = index.search(query, TODAY)
    assert hits == MemoryIndex(entries).search(query, TODAY)
    assert [hit.entry for hit in hits] == [entries[hit.position] for hit in hits]
    assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.position))
    assert all(hit.score > 0 for hit in hits)


@pytest.mark.parametrize("lacking", ["SQLite", "FTS5"])
def test_a_python_without_what_is_needed_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lacking: str
) -> None:
    if lacking == "SQLite":
        monkeypatch.setitem(sys.modules, "sqlite3", None)  # what makes an import fail
        monkeypatch.delitem(sys.modules, "engramdown.recall.index", raising=False)
    else:
        monkeypatch.setattr(memories, "_TABLE", "CREATE VIRTUAL TABLE memory USING fts4711(said)")
        tables = tmp_path / "index.sql"
        tables.write_text("CREATE VIRTUAL TABLE words USING fts4711(text);", encoding="utf-8")
        monkeypatch.setattr(index, "_TABLES", tables)
    with pytest.raises(StoreError, match="no SQLite with FTS5"):
        MemoryIndex([entry("a")])
    write(tmp_path, "s", ["the boat"])
    for root in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(StoreError, match="no SQLite with FTS5"):
            EpisodicMemory(root).recall("boat")
    assert not (tmp_path / "cache" / "index.sqlite").exists()


def test_the_table_is_closed_with_its_index(monkeypatch: pytest.MonkeyPatch) -> None:
    table = sqlite3.connect(":memory:", isolation_level=None)
    monkeypatch.setattr(sqlite3, "connect", lambda *_, **__: table)
    index = MemoryIndex([entry("a")])
    assert index.scores("a")
    del index
    with pytest.raises(sqlite3.ProgrammingError):
        table.execute("SELECT 1")


def test_an_index_that_a_child_process_inherits_leaves_the_connection_to_its_parent() -> None:
    index = MemoryIndex([entry("Use uv")])
    before = index.search("uv", date(2026, 3, 1))
    index._leave_to_parent()
    index._leave_to_parent()
    assert index.search("uv", date(2026, 3, 1)) == before != []


def test_a_word_finds_longer_ones_only_where_nothing_else_is_found() -> None:
    told = [entry("Run the grumbler before pushing"), entry("Grumblers and snufflers run in CI")]
    hits = texts(MemoryIndex([*told, entry("Use uv")]), "grum snuff")
    assert hits == [told[1].text, told[0].text]
    assert texts(MemoryIndex(told), "gr") == []
    assert texts(MemoryIndex([*told, entry("Grum it")]), "grum") == ["Grum it"]


@pytest.mark.parametrize(
    "question, answer",
    [
        ("how do I install packages?", "Use uv, never pip"),
        ("who repairs our automobile?", "The car goes to Roy"),
        ("which database do we use?", "Postgres 16 runs on pg-1"),
        ("what is Postgres?", "The main database is slow"),
    ],
)
def test_a_question_is_answered_without_a_word_of_it(question: str, answer: str) -> None:
    others = [entry("Ask first"), entry("Deploys are on Mondays"), entry("The cellar is cold")]
    assert texts(MemoryIndex([*others, entry(answer)]), question)[0] == answer


def test_the_word_itself_comes_before_one_of_its_kin() -> None:
    told = [entry("Use uv"), entry("The package is signed")]
    assert texts(MemoryIndex(told), "package") == ["The package is signed", "Use uv"]


def test_what_is_only_kindred_to_a_part_of_what_was_found_is_left_out() -> None:
    rare = "The package zyx of quux and the plugh"
    many = [entry(f"We use uv for {at}") for at in range(9)]
    assert texts(MemoryIndex([*many, entry(rare)]), "zyx quux plugh package") == [rare]


def test_the_table_of_kin_has_no_word_that_is_never_looked_for() -> None:
    table = Path(kindred.__file__).with_name("kindred.txt").read_text(encoding="utf-8")
    lines = [line for line in table.splitlines() if not line.startswith("#") and line]
    assert len(lines) == len(set(lines))
    for line in lines:
        assert STOP_WORDS.isdisjoint(line.replace(":", " ").split()), line
        assert line.count(":") <= 1
        assert len(line.split()) > 1


def test_the_newer_of_two_values_comes_first_and_the_older_one_is_marked() -> None:
    told = [
        entry("Standup is at 9:30", ts="2026-02-01", id="old"),
        entry("Since the move, standup is at 10:15 in the hall", ts="2026-02-20", id="new"),
        entry("Standup notes go to the wiki", ts="2026-02-27", id="else"),
    ]
    hits = MemoryIndex(told).search("when is standup?", TODAY)
    marks = {hit.entry.id: hit.newer for hit in hits}
    assert [*marks].index("new") == [*marks].index("old") - 1
    assert marks == {"new": "", "old": "new", "else": ""}
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
