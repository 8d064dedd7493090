"""The numbers that recall is judged by, and the stores that it is judged on."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks.conversations import Question, Said, Store, pooled, read_stores
from benchmarks.retrieval import main, score
from benchmarks.searches import SEARCHES, Recipe, ours, recalled
from engramdown.models.embedders import EmbeddingError
from tests.episodes.endpoint import FakeEmbedder

AT = datetime(2026, 3, 1, tzinfo=UTC)
STORE = Store(
    "two",
    [
        Said("s1", AT, "Ana", "We paddled a red kayak"),
        Said("s1", AT, "Ben", "Which lake?"),
        Said("s2", AT, "Ana", "Tents are heavy"),
    ],
    [Question("What did Ana paddle?", "single", frozenset({0}))],
    ["Ana", "Ben"],
)


def test_an_answer_is_judged_by_its_ranks() -> None:
    judged = score([7, 1, *range(20, 28), 2], frozenset({1, 2}))
    assert (judged.recall5, judged.recall10, judged.recall20, judged.recall50) == (0.5, 0.5, 1, 1)
    assert (judged.hit10, judged.mrr) == (1, 0.5)
    assert judged.ndcg10 == pytest.approx(0.387, abs=0.001)
    assert score([], frozenset({1})) == (0,) * 7
    assert score([1, 2], frozenset({1, 2})) == (1,) * 7


def test_conversations_are_read_as_the_docs_describe(tmp_path: Path) -> None:
    episode = {"id": "D1", "session": 1, "when": "2023-05-01T10:00:00", "speaker": "Ana"}
    raw = {
        "memory": "c1",
        "speakers": ["Ana", "user"],
        "episodes": [{**episode, "text": "Look!", "caption": "a photo of a kayak"}],
        "questions": [
            {"text": "Whose?", "category": "c", "evidence": "['D1', 'gone']"},
            {"text": "None?", "category": "c", "evidence": ["gone"]},
        ],
    }
    path = tmp_path / "data.jsonl"
    path.write_text(json.dumps(raw) + "\n", encoding="utf-8")
    (store,) = read_stores(path)
    at = datetime(2023, 5, 1, 10, tzinfo=UTC)
    assert store.said == [Said("1", at, "Ana", "Look! [a photo of a kayak]")]
    assert store.questions == [Question("Whose?", "c", frozenset({0}))]
    assert store.people == ["Ana"]


def test_a_pooled_store_keeps_what_answers_and_is_always_the_same() -> None:
    pool = pooled([STORE, STORE], 50)
    assert len(pool.said) == 50
    for asked in pool.questions:
        assert {pool.said[place].text for place in asked.answers} == {STORE.said[0].text}
    assert pool == pooled([STORE, STORE], 50)


@pytest.mark.parametrize("name", ["any word, substring", "FTS5 porter", "engramdown"])
def test_a_search_finds_the_answer(name: str) -> None:
    assert SEARCHES[name](STORE)("What did Ana paddle? A kayak?")[-1 if "any" in name else 0] == 0


def test_recall_is_measured_with_an_embedder() -> None:
    assert recalled(STORE, FakeEmbedder())("What did Ana paddle?")[0] == 0
    broken = FakeEmbedder()
    broken.error = OSError("gone")
    with pytest.raises(EmbeddingError, match="off for this recall: OSError: gone"):
        recalled(STORE, broken)("What did Ana paddle?")


def test_a_whole_question_is_hardly_ever_a_substring() -> None:
    search = SEARCHES["whole question, substring"](STORE)
    assert search("a RED kayak?") == [0]
    assert search("What did Ana paddle?") == []


@pytest.mark.parametrize(
    "recipe",
    [
        pytest.param(Recipe(), id="all"),
        pytest.param(Recipe(irregular=False, light=False, named=False), id="plain-terms"),
        pytest.param(Recipe(beside=0, there=False, again=0), id="plain-candidates"),
    ],
)
def test_ours_works_without_an_ingredient(recipe: Recipe) -> None:
    assert ours(STORE, recipe)("What did Ana paddle?")[0] == 0


def test_without_stems_other_forms_are_not_found() -> None:
    assert ours(STORE, Recipe(stemmed=False, irregular=False))("paddles") == []


def test_without_data_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["retrieval", "--data", str(tmp_path)])
    with pytest.raises(SystemExit, match=r"no locomo_tuning_half.jsonl and no .* docs/recall.md"):
        main()
