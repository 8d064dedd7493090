"""Meaning is found beside words; when it cannot be asked, the words alone answer and say so."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from engramdown.engram import Engram
from engramdown.episodes.memory import EpisodicMemory
from engramdown.gate.erase import erase
from engramdown.gate.scopes import Scopes
from engramdown.hippocampus import Hippocampus
from engramdown.recall import vectors as lane
from engramdown.recall.query import Hits
from engramdown.recall.vectors import FILE, Vectors, digest_of, packed
from engramdown.settings import EpisodeSettings, Settings
from engramdown.storage.disk import Disk
from tests.episodes.endpoint import Endpoint, FakeEmbedder, serving, vector_of
from tests.episodes.transcripts import append, line, write

OFF = "embeddings are off for this recall: "


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Say things that mean the same in other words."""
    write(tmp_path, "lake", ["The vessel was azure", "A hound barked", "We ate"])
    write(tmp_path, "road", ["My automobile broke", "The boat is red"], 600)
    return tmp_path


@pytest.fixture
def embedder() -> FakeEmbedder:
    return FakeEmbedder()


@contextmanager
def reading(
    root: Path, embedder: FakeEmbedder | str, seconds: float = 10
) -> Iterator[EpisodicMemory]:
    named = embedder if isinstance(embedder, str) else ""
    given = None if isinstance(embedder, str) else embedder
    settings = EpisodeSettings(embedder=named, embedder_timeout=seconds)
    with closing(EpisodicMemory(root, settings, embedder=given)) as memory:
        yield memory


def ask(root: Path, embedder: FakeEmbedder | str, query: str, **more: Any) -> Hits:  # noqa: ANN401 - JSON
    seconds = more.pop("seconds", 10)
    with reading(root, embedder, seconds) as memory:
        return memory.recall(query, **more)


def pointers(hits: Hits) -> list[str]:
    return [str(hit.pointer) for hit in hits]


def plain(root: Path, query: str, **more: Any) -> Hits:  # noqa: ANN401 - JSON
    return ask(root, "", query, **more)


def test_what_means_the_same_is_found(root: Path, embedder: FakeEmbedder) -> None:
    assert pointers(plain(root, "blue")) == []
    assert pointers(ask(root, embedder, "blue"))[0] == "lake#1"
    hits = ask(root, embedder, "blue ship")
    assert hits.notes == ()
    assert pointers(hits)[:2] == ["lake#1", "road#2"]
    first = hits[0]
    assert (first.text, first.role, first.name) == ("The vessel was azure", "user", "")
    assert first.snippet == first.text
    assert first.score > hits[1].score > 0


def test_a_model_is_not_asked_for_the_name_of_a_speaker(
    tmp_path: Path, embedder: FakeEmbedder
) -> None:
    path = write(tmp_path, "lake", ["A red ship"])
    append(path, line(2, "The vessel was azure, a ship", name="Ada"))
    append(path, line(3, "", role="tool_result", name="which"))
    ask(tmp_path, embedder, "Which ship was Ada's?")
    assert embedder.texts[0] == "Which ship was ?"


def test_what_words_and_meaning_find_comes_first(root: Path, embedder: FakeEmbedder) -> None:
    assert pointers(ask(root, embedder, "red boat"))[0] == "road#2"


def test_the_same_question_has_the_same_answer_and_nothing_is_paid_twice(
    root: Path, embedder: FakeEmbedder
) -> None:
    first = ask(root, embedder, "blue ship")
    assert sorted(embedder.texts) == sorted(
        [
            *("blue ship", "The vessel was azure", "A hound barked", "We ate"),
            *("My automobile broke", "The boat is red"),
        ]
    )
    for _ in range(2):
        assert ask(root, embedder, "blue ship") == first
    assert len(embedder.texts) == 6


def test_only_what_is_new_is_embedded(root: Path, embedder: FakeEmbedder) -> None:
    with reading(root, embedder) as memory:
        memory.recall("dog")
        embedder.texts.clear()
        append(root / "episodes" / "lake.jsonl", line(9, "A dog slept") + line(10, "We ate"))
        assert pointers(memory.recall("dog"))[0] == "lake#9"
    assert embedder.texts == ["A dog slept"]


def test_filters_hold_for_meaning_too(root: Path, embedder: FakeEmbedder) -> None:
    append(root / "episodes" / "lake.jsonl", line(9, "ship", role="tool_result"))
    assert pointers(ask(root, embedder, "ship", session="road")) == ["road#2", "road#1"]
    assert "lake#2" in pointers(ask(root, embedder, "ship", role="assistant"))
    assert "lake#1" not in pointers(ask(root, embedder, "ship", role="assistant"))
    assert pointers(ask(root, embedder, "ship", role="tool_result")) == ["lake#9"]
    assert len(ask(root, embedder, "ship", limit=2)) == 2
    assert ask(root, embedder, "ship", limit=0) == []
    assert ask(root, embedder, " ") == []


def test_exact_is_for_words_alone(root: Path, embedder: FakeEmbedder) -> None:
    assert pointers(ask(root, embedder, "vessel", mode="exact")) == ["lake#1"]
    assert embedder.texts == []


def test_what_was_excluded_is_neither_sent_nor_found(root: Path, embedder: FakeEmbedder) -> None:
    append(root / "episodes" / "lake.jsonl", line(9, "", role="event", event="exclude", of=[1]))
    assert "lake#1" not in pointers(ask(root, embedder, "blue ship"))
    assert "The vessel was azure" not in embedder.texts


def test_a_secret_is_not_sent(root: Path, embedder: FakeEmbedder) -> None:
    secret = "sk-proj-" + "a1B2" * 10
    append(root / "episodes" / "lake.jsonl", line(9, f"my key is {secret}"))
    hits = ask(root, embedder, f"whose key is {secret}")
    assert pointers(hits)[0] == "lake#9"
    assert not any(secret in text for text in embedder.texts)


def test_the_vector_of_what_nobody_said_goes(root: Path, embedder: FakeEmbedder) -> None:
    ask(root, embedder, "ship")
    (root / "episodes" / "road.jsonl").unlink()
    other = FakeEmbedder("other")
    ask(root, other, "ship")
    embedder.texts.clear()
    write(root, "road", ["My automobile broke"], 600)
    ask(root, embedder, "ship")
    assert embedder.texts == ["My automobile broke"]


@pytest.mark.parametrize("damaged", [False, True])
def test_what_is_redacted_or_purged_leaves_the_vectors_at_once(
    root: Path, embedder: FakeEmbedder, *, damaged: bool
) -> None:
    ask(root, embedder, "ship")
    file = root / "cache" / FILE
    before = {digest for _, digest, _ in vectors(root)}
    assert digest_of("The vessel was azure") in before
    if damaged:
        file.unlink()
        with closing(sqlite3.connect(file)) as other, other:
            other.execute("CREATE TABLE vectors(number)")
    forgetting = EpisodicMemory(root).forgetting()
    forgetting.redact("lake", [1])
    forgetting.purge("road")
    if damaged:
        assert not file.exists()
        return
    assert {digest for _, digest, _ in vectors(root)} == {
        digest_of("A hound barked"),
        digest_of("We ate"),
    }
    assert Vectors(root / "cache", Disk()).question("fake", digest_of("ship")) is None
    assert packed(vector_of("The vessel was azure")) not in file.read_bytes()
    assert packed(vector_of("A hound barked")) in file.read_bytes()


def test_without_vectors_forgetting_makes_none(root: Path) -> None:
    EpisodicMemory(root).forgetting().redact("lake", [1])
    assert not (root / "cache" / FILE).exists()


def vectors(root: Path) -> list[tuple[str, bytes, bytes]]:
    return Vectors(root / "cache", Disk()).each(list)


def test_around_works_as_without(root: Path, embedder: FakeEmbedder) -> None:
    with reading(root, embedder) as memory:
        hits = memory.recall("azure")
        assert [each.text for each in memory.around(hits[:1])[0].after] == [
            "A hound barked",
            "We ate",
        ]


@pytest.mark.parametrize(
    "answer, said",
    [
        ([[1.0]], "the embedder gave 1 vectors for 64 texts"),
        ([[]] * 64, "ValueError: an embedding is empty"),
        ([[float("nan")]] * 64, "ValueError: an embedding is empty"),
        ([["x"]] * 64, "ValueError: could not convert"),
        ([[1.0], *[[1.0, 2.0]] * 63], "vectors of different lengths"),
    ],
)
def test_an_embedder_that_answers_nonsense_switches_the_lane_off(
    tmp_path: Path,
    embedder: FakeEmbedder,
    answer: Any,  # noqa: ANN401 - JSON
    said: str,
) -> None:
    write(tmp_path, "lake", [f"boat {number}" for number in range(64)])
    ask(tmp_path, embedder, "boat", session="nowhere")
    embedder.answer = answer
    hits = ask(tmp_path, embedder, "boat")
    assert hits == plain(tmp_path, "boat")
    assert hits.notes[0].startswith(OFF)
    assert said in hits.notes[0]


def test_whatever_an_embedder_raises_is_told_in_a_line(root: Path, embedder: FakeEmbedder) -> None:
    embedder.error = ZeroDivisionError("a\nb " + "c" * 900)
    hits = ask(root, embedder, "red boat")
    assert hits == plain(root, "red boat")
    assert hits.notes[0].startswith(f"{OFF}ZeroDivisionError: a b ccc")
    assert len(hits.notes[0]) < 300
    embedder.error = None
    assert ask(root, embedder, "red boat").notes == ()


def test_an_embedder_that_is_slow_is_not_waited_for(root: Path, embedder: FakeEmbedder) -> None:
    embedder.gate = threading.Event()
    words = plain(root, "red boat")
    with reading(root, embedder, 0.2) as memory:
        hits = memory.recall("red boat")
        assert hits == words
        assert hits.notes == (f"{OFF}they take longer than 0.2 seconds",)
        busy = memory.recall("red boat")
        assert busy == words
        assert busy.notes == (f"{OFF}they are still busy with the previous question",)
        embedder.gate.set()
        leave_behind()
    # What came late was kept.
    ask(root, embedder, "red boat")
    assert embedder.texts.count("red boat") == 1


def leave_behind() -> None:
    """Wait for what was left behind."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and thread.daemon:
            thread.join(10)


@pytest.mark.slow
def test_a_long_past_is_embedded_recall_by_recall(
    tmp_path: Path, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lane, "_BATCH", 2)
    write(tmp_path, "lake", [f"ship {number}" for number in range(7)])
    ask(tmp_path, embedder, "boat", session="nowhere")
    embedder.gate, embedder.open_for = threading.Event(), 1
    hits = ask(tmp_path, embedder, "boat", seconds=2)
    embedder.gate.set()
    leave_behind()
    assert hits.notes == (f"{OFF}they take longer than 2 seconds; 5 texts have no vector yet",)
    # The newest first, and each once.
    assert embedder.texts[1:3] == ["ship 6", "ship 5"]
    assert len(ask(tmp_path, embedder, "boat")) == 7
    assert len(embedder.texts) == len(set(embedder.texts)) == 8


def test_vectors_are_compared_in_blocks(
    root: Path, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = ask(root, embedder, "blue ship")
    monkeypatch.setattr(lane, "_BLOCK", 2)
    assert ask(root, embedder, "blue ship") == first


def test_a_model_whose_vectors_change_is_told_and_then_asked_anew(
    root: Path, embedder: FakeEmbedder
) -> None:
    first = ask(root, embedder, "blue ship")
    longer = FakeEmbedder()
    longer.embed = lambda texts: [[*row, 0.0] for row in embedder.embed(texts)]  # type: ignore[method-assign] # another model
    append(root / "episodes" / "lake.jsonl", line(9, "We slept"))
    assert "another length than before" in ask(root, longer, "blue ship").notes[0]
    assert pointers(ask(root, longer, "blue ship"))[:2] == pointers(first)[:2]
    assert ask(root, longer, "blue ship").notes == ()


def test_vectors_that_cannot_be_kept_are_not_paid_for(root: Path, embedder: FakeEmbedder) -> None:
    (root / "cache" / FILE).mkdir(parents=True)
    hits = ask(root, embedder, "red boat")
    assert hits.notes[0].startswith(OFF)
    assert FILE in hits.notes[0]
    assert embedder.texts == []


def test_a_deleted_cache_changes_no_answer(root: Path, embedder: FakeEmbedder) -> None:
    first = ask(root, embedder, "blue ship")
    for path in (root / "cache").iterdir():
        path.unlink()
    assert ask(root, embedder, "blue ship") == first


def test_without_transcripts_there_is_nothing(tmp_path: Path, embedder: FakeEmbedder) -> None:
    assert ask(tmp_path, embedder, "boat") == []


# ---- a real endpoint ----


def test_an_endpoint_is_asked_once(root: Path) -> None:
    with serving() as url:
        for _ in range(2):
            hits = ask(root, f"openai:small@{url}", "blue ship")
            assert hits.notes == ()
            assert pointers(hits)[:2] == ["lake#1", "road#2"]
        assert [len(body["input"]) for _, _, body in Endpoint.seen] == [1, 5]


@pytest.mark.parametrize(
    "mode, said",
    [
        ("401", "answered 401"),
        ("429", "answered 429"),
        ("500", "answered 500"),
        ("malformed", "answered without embeddings"),
        ("few", "answered 0 embeddings for 1 texts"),
        ("nan", "ValueError: an embedding is empty, or has a value that is not a finite number"),
        ("text", "ValueError: could not convert"),
        ("slow", "they take longer than 0.5 seconds"),
        ("drip", "they take longer than 0.5 seconds"),
    ],
)
def test_an_endpoint_in_trouble_switches_the_lane_off(root: Path, mode: str, said: str) -> None:
    with serving(mode) as url:
        seconds = 0.5 if mode in ("slow", "drip") else 10
        hits = ask(root, f"openai:small@{url}", "red boat", seconds=seconds)
        leave_behind()
    assert hits == plain(root, "red boat")
    assert said in hits.notes[0] or (mode == "drip" and "too long" in hits.notes[0])


def test_an_endpoint_that_is_gone_switches_the_lane_off(root: Path) -> None:
    with serving() as url:
        pass
    hits = ask(root, f"openai:small@{url}", "red boat")
    assert hits == plain(root, "red boat")
    assert "refused" in hits.notes[0]


def test_a_missing_library_switches_the_lane_off(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    hits = ask(root, "fastembed:x", "red boat")
    assert hits == plain(root, "red boat")
    assert hits.notes == (
        f"{OFF}fastembed is not installed; run pip install 'engramdown[embeddings]'",
    )


def test_without_an_embedder_nothing_of_it_is_imported(
    root: Path, child_env: dict[str, str]
) -> None:
    code = (
        "import sys\n"
        "from engramdown.episodes.memory import EpisodicMemory\n"
        f"assert EpisodicMemory({str(root)!r}).recall('boat')\n"
        "print(*sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        encoding="utf-8",
        env=child_env,
    )
    names = {"lane", "embedding", "embedders", "nearness", "spoken", "vectors"}
    loaded = set(done.stdout.split())
    assert "engramdown.recall.episodes" in loaded
    assert loaded.isdisjoint(f"engramdown.episodes.{name}" for name in names)
    assert loaded.isdisjoint({"urllib.request", "numpy", "fastembed"})


def test_off_is_the_default() -> None:
    assert EpisodeSettings().embedder == ""
    assert {"embedder", "embedder_timeout"} <= set(EpisodeSettings._fields)


# ---- memories ----


@pytest.fixture
def remembering(tmp_path: Path) -> Iterator[tuple[Scopes, FakeEmbedder]]:
    embedder = FakeEmbedder()
    scopes = scopes_in(tmp_path, "fake")
    for text in ("The vessel was azure", "A hound barked"):
        scopes.encode(Engram(text, "lesson", "project"))
    scopes.encode(Engram("My automobile broke", "lesson", "global"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lane, "open_embedder", lambda *_: embedder)
        yield scopes, embedder


def scopes_in(root: Path, embedder: str) -> Scopes:
    settings = Settings(episodes=EpisodeSettings(embedder=embedder))
    stores = Hippocampus(root / "home", "global"), Hippocampus(root / "project")
    return Scopes(*stores, settings=settings)


def test_memories_are_found_by_meaning_too(
    remembering: tuple[Scopes, FakeEmbedder], tmp_path: Path
) -> None:
    scopes, embedder = remembering
    assert scopes_in(tmp_path, "").recall("What is blue?") == []
    assert scopes.recall("What is blue?")[0].text == "The vessel was azure"
    assert embedder.texts.count("A hound barked") == 1
    scopes.forget(scopes.recall("dog")[0].id)
    assert "A hound barked" not in [each.text for each in scopes.recall("dog")]
    assert vectors_of(tmp_path / "project") == {digest_of("The vessel was azure")}
    assert vectors_of(tmp_path / "home") == {digest_of("My automobile broke")}


def test_what_is_newer_comes_first_among_what_meaning_finds(
    remembering: tuple[Scopes, FakeEmbedder],
) -> None:
    scopes, _ = remembering
    older = Engram("Our azure vessel costs 5", "lesson", "project", ts="2026-01-01")
    newer = Engram("Our azure vessel costs 7 by now", "lesson", "project", ts="2026-02-01")
    scopes.encode([older, newer])
    hits = scopes.recall_hits("What is blue?")
    texts = [hit.entry.text for hit in hits]
    assert texts.index(newer.text) < texts.index(older.text)
    assert hits[texts.index(older.text)].newer == hits[texts.index(newer.text)].entry.id


def test_an_embedder_that_fails_leaves_memories_to_words(
    remembering: tuple[Scopes, FakeEmbedder],
) -> None:
    scopes, embedder = remembering
    embedder.error = RuntimeError("no power")
    assert [each.text for each in scopes.recall("hound")] == ["A hound barked"]
    assert scopes.notices() == [f"{OFF}RuntimeError: no power"]


def test_erasing_removes_the_vectors_of_memories(
    remembering: tuple[Scopes, FakeEmbedder], tmp_path: Path
) -> None:
    scopes, _ = remembering
    (gone,) = scopes.recall("hound", limit=1)
    erase(scopes.stores, Settings(), [gone.id])
    assert not (tmp_path / "project" / "cache" / lane.OF_MEMORIES).exists()


def vectors_of(root: Path) -> set[bytes]:
    with closing(sqlite3.connect(root / "cache" / lane.OF_MEMORIES)) as file:
        return {digest for (digest,) in file.execute("SELECT digest FROM vectors")}
