"""Sessions, their lines, cards and notes, export, and the journal over HTTP."""

from __future__ import annotations

from typing import Final

import pytest
from starlette.testclient import TestClient

from engramdown import Cortex, Engram
from tests.web.conftest import kind_of

LIST: Final = "/v1/sessions"
LONG: Final = "x" * 300_000


@pytest.fixture
def talked(cortex: Cortex) -> list[str]:
    """Record two sessions, the first of which has ended, and return their ids."""
    episodes = cortex.episodes
    assert episodes is not None
    for session in ("20260227-100000-one", "20260227-110000-two"):
        episodes.start_session(session, title=f"About {session[-3:]}")
        episodes.log(session, "user", "Why is CI slow?", name="Ada")
        episodes.log(session, "tool_call", {"path": "a.py"}, name="read", call="c1")
        episodes.log(session, "tool_result", LONG, name="read", call="c1", ms=12.0)
        episodes.log(session, "assistant", "It waits for a lock.")
    episodes.end("20260227-100000-one")
    return ["20260227-100000-one", "20260227-110000-two"]


def test_sessions_come_in_pages(talked: list[str], program: TestClient) -> None:
    listed = program.get(LIST).json()
    assert [each["id"] for each in listed] == talked[::-1]
    page = program.get(f"{LIST}?limit=1")
    assert (page.headers["x-total-count"], page.json()) == ("2", listed[:1])
    assert program.get(LIST + page.links["next"]["url"]).json() == listed[1:]


def test_what_is_said_meanwhile_is_counted(
    cortex: Cortex, talked: list[str], program: TestClient
) -> None:
    before = program.get(f"{LIST}/{talked[1]}").json()
    assert cortex.episodes is not None
    cortex.episodes.log(talked[1], "user", "And now?")
    after = program.get(f"{LIST}/{talked[1]}").json()
    assert (after["turns"], after["episodes"]) == (before["turns"] + 1, before["episodes"] + 1)


def test_its_lines_come_in_parts(talked: list[str], program: TestClient) -> None:
    path = f"{LIST}/{talked[0]}/episodes"
    whole = program.get(path).json()
    page = program.get(f"{path}?limit=2&scope=project")
    found = page.json()
    while "next" in page.links:
        page = program.get(path + page.links["next"]["url"])
        found += page.json()
    assert found == whole
    assert program.get(f"{path}?from={whole[2]['seq']}&limit=1").json() == whole[2:3]
    assert program.get(f"{path}?from=999").json() == []


def test_a_line_that_was_cut_can_be_had_whole(talked: list[str], program: TestClient) -> None:
    path = f"{LIST}/{talked[0]}/episodes"
    cut = next(each for each in program.get(path).json() if each["role"] == "tool_result")
    assert len(cut["text"]) < len(LONG)
    assert program.get(f"{path}/{cut['seq']}?whole=1").json()["text"] == LONG


def test_what_is_not_kept_is_not_shown_as_whole(
    cortex: Cortex, talked: list[str], program: TestClient
) -> None:
    assert cortex.episodes is not None
    for path in cortex.episodes.folder.glob("payloads/*/*"):
        path.unlink()
    lines = f"{LIST}/{talked[0]}/episodes"
    cut = next(each for each in program.get(lines).json() if each["role"] == "tool_result")
    answer = program.get(f"{lines}/{cut['seq']}?whole=1")
    assert (answer.status_code, kind_of(answer)) == (404, "not-found")


def test_a_prefix_names_one_session_or_several(talked: list[str], program: TestClient) -> None:
    assert program.get(f"{LIST}/{talked[0][:11]}").json()["id"] == talked[0]
    answer = program.get(f"{LIST}/2026")
    assert (answer.status_code, answer.json()["matches"]) == (300, talked)


@pytest.mark.parametrize(
    "path",
    [
        "none",
        "none/episodes",
        "none/card",
        "none/notes",
        "..%2f..%2fetc",
        "20260227-10/episodes/99",
        "20260227-10/episodes/x",
        "20260227-10/episodes/9999999999999999",
        "20260227-10/notes",
    ],
)
def test_what_there_is_not_is_a_problem(talked: list[str], program: TestClient, path: str) -> None:
    assert talked
    answer = program.get(f"{LIST}/{path}")
    assert (answer.status_code, kind_of(answer)) == (404, "not-found")


def test_an_export_has_everything_or_is_a_page_to_read(
    talked: list[str], person: TestClient
) -> None:
    assert LONG in person.get(f"/v1/export?session={talked[0]}&format=json").text
    page = person.get(f"/v1/export?session={talked[0]}&format=md")
    assert page.headers["content-type"] == "text/markdown; charset=utf-8"
    assert "Why is CI slow?" in page.text


def test_a_day_without_a_page_and_no_day_are_told_apart(program: TestClient) -> None:
    missing = program.get("/v1/journal/2001-01-01")
    assert (missing.status_code, kind_of(missing)) == (404, "not-found")
    wrong = program.get("/v1/journal/someday")
    assert (wrong.status_code, wrong.json()["field"]) == (422, "day")


def test_each_scope_has_its_own(cortex: Cortex, talked: list[str], program: TestClient) -> None:
    assert talked
    assert program.get(f"{LIST}?scope=global").json() == []
    assert program.get(f"{LIST}?scope=project").json() == program.get(LIST).json()
    cortex.context.notebooks.journal_in("global").write("For all projects", by="person")
    assert program.get("/v1/journal").json() == []
    (day,) = program.get("/v1/journal?scope=global").json()
    assert day["preview"] == "For all projects"


class TestTakingBack:
    """A person takes back what was recorded."""

    def test_what_is_excluded_can_be_included_again(
        self, talked: list[str], person: TestClient
    ) -> None:
        one = talked[0]
        assert person.post(f"{LIST}/{one}/exclude", json={"lines": [1]}).is_success
        assert person.get(f"{LIST}/{one}").json()["excluded"]["lines"] == [1]
        assert person.get(f"/v1/sessions/{one}/episodes?from=1&limit=1").json()[0]["text"]
        answer = person.post(f"{LIST}/{one}/include", json={}).json()
        assert answer["sessions"][0]["changed"]

    def test_a_redacted_line_is_empty_and_its_traces_are_named(
        self, cortex: Cortex, talked: list[str], person: TestClient
    ) -> None:
        path, lines = f"{LIST}/{talked[0]}/redact", {"lines": [1]}
        origin = f"{talked[0]}#1"
        learned = cortex.encode(Engram("CI is slow", "lesson", "project", origin=origin))[0].id
        looked = person.post(path, json={**lines, "dry_run": True}).json()
        assert [each["id"] for each in looked["sessions"][0]["memories"]] == [learned]
        first = f"{LIST}/{talked[0]}/episodes/1"
        assert "Why is CI slow?" in person.get(first).text
        done = person.post(path, json=lines).json()
        assert (done["dry_run"], done["sessions"][0]["seqs"]) == (False, [1])
        assert "Why is CI slow?" not in person.get(first).text

    def test_a_whole_session_is_purged(self, talked: list[str], person: TestClient) -> None:
        path = f"{LIST}/{talked[0]}/purge"
        assert person.post(path, json={"dry_run": True}).json()["sessions"][0]["changed"]
        assert person.get(f"{LIST}/{talked[0]}").status_code == 200
        assert person.post(path).status_code == 200
        assert person.get(f"{LIST}/{talked[0]}").status_code == 404

    @pytest.mark.parametrize(
        "action, body, status",
        [
            ("redact", {}, 422),
            ("redact", {"lines": ["x"]}, 422),
            ("redact", {"lines": [99]}, 404),
            ("exclude", {"lines": [99]}, 404),
        ],
    )
    def test_what_is_not_there_is_refused(
        self, talked: list[str], person: TestClient, action: str, body: object, status: int
    ) -> None:
        answer = person.post(f"{LIST}/{talked[0]}/{action}", json=body)
        assert answer.status_code == status, answer.text
