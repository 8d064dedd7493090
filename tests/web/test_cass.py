"""The four routes of Cass: their shapes, their limits, and what they refuse."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from starlette.testclient import TestClient

from engramdown import Cortex, Engram
from engramdown.web import Keys
from engramdown.web.cass import BESIDE, Beside
from engramdown.web.problems import ProblemError
from tests.conftest import PATIENCE, soon
from tests.cortex.conversation.talks import Summariser, broken, talk
from tests.cortex.desk import episodes
from tests.tables import every
from tests.web.conftest import Clients, described, kind_of

UUID: Final = "0b0e6f60-9a2e-4c66-9c40-2b8f0c8b1b1f"
LONG: Final = "long"
_METADATA: Final = {"conversation_id", "user_id", "timestamp", "type", "role"}


@pytest.fixture
def told(cortex: Cortex) -> Cortex:
    """Talk in two conversations, remember something, and write a page."""
    episodes(cortex).start_session("short", conversation=UUID)
    for role, text in (
        ("user", "When do we deploy?"),
        ("assistant", "On Mondays."),
        ("user", "And who?"),
        ("assistant", "Ben does."),
    ):
        episodes(cortex).log("short", role, text)
    talk(cortex, 12, LONG).compact(without_model=True)
    cortex.encode(Engram("Name: Ada", "profile", "global", source="user"))
    cortex.encode(Engram("Deploys happen on Mondays", "lesson", "project", source="user"))
    cortex.journal.write("Nobody deploys on Sundays.")
    return cortex


def settled(client: TestClient, conversation: str) -> Any:  # noqa: ANN401 - JSON
    """Return the answer for a summary once nothing is being summarised."""

    def answered() -> Any:  # noqa: ANN401 - JSON
        answer = client.get(f"/memory/summary/{conversation}")
        is_done = answer.status_code == 200 or "being summarised" not in answer.json()["detail"]
        return answer if is_done else None

    return soon(answered)


def chunks(answer: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - a response
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["chunks"]
    for each in found:
        assert set(each) == {"id", "content", "metadata"}
        assert set(each["metadata"]) == _METADATA
    return found


# ---- the summary ----


def test_a_summary_says_what_it_stands_for(told: Cortex, program: TestClient) -> None:
    [gist] = told.conversations.get(LONG).gists
    answer = program.get(f"/memory/summary/{LONG}")
    assert answer.status_code == 200
    assert answer.json() == {
        "id": gist.id,
        "conversation_id": LONG,
        "content": gist.text,
        "created_at": gist.ts,
        "message_count": gist.messages,
        "token_count": gist.tokens,
    }


def test_a_summary_is_asked_for_and_comes(told: Cortex, program: TestClient) -> None:
    before = program.get(f"/memory/summary/{UUID}")
    assert (before.status_code, kind_of(before)) == (404, "not-found")
    assert "POST /memory/summarize" in before.json()["detail"]
    began = program.post("/memory/summarize", json={"conversation_id": UUID})
    assert (began.status_code, began.json()) == (
        202,
        {"conversation_id": UUID, "status": "started"},
    )
    found = settled(program, UUID).json()
    assert found["conversation_id"] == UUID
    assert found["message_count"] == 2
    assert "When do we deploy?" in found["content"]
    # The last turn stays as it was said.
    assert [each.content for each in told.conversation_context(UUID).recent] == [
        "Ben does.",
        "And who?",
    ]


def test_a_conversation_is_summarised_once_at_a_time(
    told: Cortex, clients: Clients, keys: Keys
) -> None:
    gate = threading.Event()

    def wait(*_: object) -> str:
        assert gate.wait(PATIENCE)
        return "They spoke of deploys."

    told.scopes.model = Summariser(wait)
    program = clients(keys.token)
    said = {"conversation_id": "short"}
    try:
        assert program.post("/memory/summarize", json=said).status_code == 202
        again = program.post("/memory/summarize", json={"conversation_id": UUID})
        assert (again.status_code, kind_of(again)) == (409, "refused")
        running = program.get("/memory/summary/short")
        assert running.status_code == 404
        assert "is being summarised" in running.json()["detail"]
    finally:
        gate.set()
    assert settled(program, "short").json()["content"] == "They spoke of deploys."
    assert program.post("/memory/summarize", json=said).status_code == 202
    settled(program, "short")


def test_why_there_is_no_summary_is_told(told: Cortex, clients: Clients, keys: Keys) -> None:
    told.scopes.model = Summariser(broken)
    program = clients(keys.token)
    assert program.post("/memory/summarize", json={"conversation_id": UUID}).status_code == 202
    answer = settled(program, UUID)
    assert answer.status_code == 404
    assert "no connection" in answer.json()["detail"]


def test_only_some_work_goes_on_at_once() -> None:
    beside, gate = Beside(), threading.Event()
    try:
        assert all(beside.begin(number, gate.wait) for number in range(4))
        assert not beside.begin(0, gate.wait)
        with pytest.raises(ProblemError, match="4 are running already") as refused:
            beside.begin(4, gate.wait)
        assert (refused.value.status, refused.value.headers["Retry-After"]) == (503, "5")
    finally:
        gate.set()
    assert all(beside.is_done(number, PATIENCE) for number in range(4))
    assert beside.begin(4, bool)


def test_what_they_answer_is_described(told: Cortex, program: TestClient) -> None:
    del told
    asked = {"conversation_id": UUID}
    described("summarize_memory", program.post("/memory/summarize", json=asked))
    described("memory_summary", settled(program, UUID))
    described("memory_chunks", program.get("/memory/chunks"))
    described("search_memory", program.get("/memory/search?query=deploys"))


# ---- chunks ----


def test_chunks_have_the_shape_of_cass(told: Cortex, program: TestClient) -> None:
    found = chunks(program.get("/memory/chunks?limit=500"))
    by_type: dict[str, list[dict[str, Any]]] = {}
    for each in found:
        by_type.setdefault(each["metadata"]["type"], []).append(each)
    assert set(by_type) == {"message", "summary", "journal"}
    said = next(each for each in found if each["content"] == "On Mondays.")
    [line] = [each for each in told.collections.chunks(500).chunks if each.content == "On Mondays."]
    assert said == {
        "id": "short#2",
        "content": "On Mondays.",
        "metadata": {
            "conversation_id": UUID,
            "user_id": "Ada",
            "timestamp": line.timestamp,
            "type": "message",
            "role": "assistant",
        },
    }
    [page] = by_type["journal"]
    assert page["metadata"]["conversation_id"] is None
    assert {each["metadata"]["role"] for each in by_type["message"]} == {
        "user",
        "assistant",
        "memory",
    }


def test_chunks_come_in_pages(told: Cortex, program: TestClient) -> None:
    whole = chunks(program.get("/memory/chunks", params={"limit": 500}))
    found: list[dict[str, Any]] = []
    after: str | None = ""
    while after is not None:
        answer = program.get("/memory/chunks", params={"limit": 7, "after": after})
        found += chunks(answer)
        after = answer.json()["next"]
        assert ("next" in answer.links) == (after is not None)
        if after:
            linked = program.get(f"/memory/chunks{answer.links['next']['url']}")
            same = program.get("/memory/chunks", params={"limit": 7, "after": after})
            assert linked.json() == same.json()
    assert found == whole
    assert len(chunks(program.get("/memory/chunks"))) == min(len(whole), 50)
    # Before and behind all time.
    for after, count in (("-999999999999999999.0.1.a", 0), ("999999999999999999.3.1.a", 7)):
        answer = program.get("/memory/chunks", params={"limit": 7, "after": after})
        assert len(chunks(answer)) == count
    del told


def test_chunks_have_filters(told: Cortex, program: TestClient) -> None:
    for kind in ("message", "summary", "journal"):
        found = chunks(program.get(f"/memory/chunks?type={kind}"))
        assert {each["metadata"]["type"] for each in found} == {kind}
    found = chunks(program.get(f"/memory/chunks?conversation_id={UUID.upper()}"))
    assert {each["metadata"]["conversation_id"] for each in found} == {UUID}
    del told


# ---- the search ----


def test_a_search_says_how_it_found(told: Cortex, program: TestClient) -> None:
    answer = program.get("/memory/search", params={"query": "deploys on Mondays"})
    found = chunks(answer)
    assert found[0]["content"] == "Deploys happen on Mondays"
    assert found[0]["metadata"]["timestamp"].endswith("T00:00:00.000000Z")
    assert (answer.json()["by"], answer.json()["notes"]) == ("words", [])
    same = told.collections.search("deploys on Mondays").chunks
    assert [each["id"] for each in found] == [each.id for each in same]


def test_the_floor_comes_before_recency(told: Cortex, program: TestClient) -> None:
    from datetime import UTC, datetime

    log = episodes(told).log
    log("past", "user", "A purple boat sank", at=datetime(2020, 1, 1, tzinfo=UTC))
    log("past", "user", "A boat", at=datetime(2026, 11, 27, tzinfo=UTC))

    def ids(**more: float | str) -> list[str]:
        params: dict[str, float | str] = {"query": "purple boat", **more}
        return [each["id"] for each in chunks(program.get("/memory/search", params=params))]

    assert ids() == ["past#1", "past#2"]
    assert ids(recency=1) == ["past#2", "past#1"]
    assert ids(recency=1, min_similarity=0.9) == ["past#1"]
    assert ids(limit=1) == ["past#1"]
    assert ids(type="journal") == []
    assert ids(conversation_id="short") == []


def test_what_was_taken_back_is_not_there(told: Cortex, program: TestClient) -> None:
    episodes(told).forgetting().redact("short", [2])
    told.forget(told.recall("Mondays")[0].id)
    found = chunks(program.get("/memory/chunks?limit=500"))
    assert all("Mondays" not in each["content"] for each in found)


# ---- what is refused ----


@every(
    "path, field",
    [
        ("/memory/search", "query"),
        ("/memory/search?query=", "query"),
        ("/memory/search?query=a&limit=0", "limit"),
        ("/memory/search?query=a&limit=51", "limit"),
        ("/memory/search?query=a&limit=many", "limit"),
        ("/memory/search?query=a&type=note", "type"),
        ("/memory/search?query=a&min_similarity=1.5", "min_similarity"),
        ("/memory/search?query=a&min_similarity=nan", "min_similarity"),
        ("/memory/search?query=a&recency=-1", "recency"),
        ("/memory/search?query=a&user=b", "user"),
        ("/memory/chunks?limit=501", "limit"),
        ("/memory/chunks?limit=0", "limit"),
        ("/memory/chunks?type=note", "type"),
        ("/memory/chunks?query=a", "query"),
        ("/memory/chunks?after=nonsense", "after"),
    ],
)
def test_what_is_out_of_its_range_is_a_422(program: TestClient, path: str, field: str) -> None:
    answer = program.get(path)
    assert (answer.status_code, kind_of(answer), answer.json()["field"]) == (422, "invalid", field)


@every("body", [{}, {"conversation_id": ""}, {"conversation_id": 3}, {"conversation": "a"}])
def test_a_body_that_names_no_conversation_is_a_422(
    program: TestClient, body: dict[str, Any]
) -> None:
    assert program.post("/memory/summarize", json=body).status_code == 422


@every("name", ["nobody", "..", "a%23b", "%2e%2e%2fetc", "0b0e6f60-0000-0000-0000-000000000000"])
def test_an_unknown_conversation_is_a_404(told: Cortex, program: TestClient, name: str) -> None:
    assert program.get(f"/memory/summary/{name}").status_code in {404, 405}
    for path in (
        f"/memory/chunks?conversation_id={name}",
        f"/memory/search?query=a&conversation_id={name}",
    ):
        answer = program.get(path)
        assert (answer.status_code, kind_of(answer)) == (404, "not-found")
    asked = program.post("/memory/summarize", json={"conversation_id": name})
    assert asked.status_code == 404
    del told


def test_read_only_makes_no_summary(told: Cortex, clients: Clients, keys: Keys) -> None:
    client = clients(keys.token, is_read_only=True)
    assert client.get(f"/memory/summary/{LONG}").status_code == 200
    asked = client.post("/memory/summarize", json={"conversation_id": LONG})
    assert asked.status_code in {404, 405}
    del told


# ---- while the index is made ----


@pytest.fixture
def slow_index(told: Cortex, monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Take away the index, and make the next one only when the event is set."""
    from engramdown.web import cass

    folder: Path = episodes(told).folder
    episodes(told).close()
    for each in (folder.parent / "cache").glob("index.*"):
        each.unlink()
    gate = threading.Event()
    keep_up = type(episodes(told)).keep_up

    def slowly(self: Any) -> None:  # noqa: ANN401 - the transcripts
        assert gate.wait(PATIENCE)
        keep_up(self)

    monkeypatch.setattr(type(episodes(told)), "keep_up", slowly)
    monkeypatch.setattr(cass, "_PATIENCE", 0.05)
    yield gate
    gate.set()
    assert BESIDE.is_done(("index", str(folder)), PATIENCE)


def test_while_the_index_is_made_a_search_is_a_503(
    slow_index: threading.Event, program: TestClient
) -> None:
    for path in ("/memory/search?query=deploys", "/memory/chunks"):
        answer = program.get(path)
        assert (answer.status_code, kind_of(answer)) == (503, "busy")
        assert answer.headers["retry-after"] == "2"
    # A summary needs no index.
    assert program.get(f"/memory/summary/{LONG}").status_code == 200
    slow_index.set()
    path = "/memory/search?query=deploys"
    assert chunks(soon(lambda: (it := program.get(path)).status_code == 200 and it))
