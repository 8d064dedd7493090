"""Memories over HTTP: what is asked, what is answered, and what is refused."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import pytest
from httpx2 import Response
from starlette.testclient import TestClient

from engramdown import Cortex, Engram
from engramdown.storage import Disk
from tests.cortex.person import Person
from tests.web.conftest import Clients, kind_of

LIST: Final = "/v1/memories"


def remember(cortex: Cortex, text: str, kind: Any = "lesson", **more: Any) -> str:  # noqa: ANN401 - as Engram takes them
    """Write a memory, and return its id."""
    return cortex.encode(Engram(text, kind, "project", "medium", source="llm", **more))[0].id


def seen(client: TestClient, key: str) -> dict[str, str]:
    """Look at a memory, and return the headers that name its version."""
    return {"If-Match": client.get(f"{LIST}/{key}").headers["etag"]}


class TestListing:
    """The list of memories."""

    def test_it_has_filters(self, cortex: Cortex, program: TestClient) -> None:
        remember(cortex, "CI is slow", topic="ci")
        remember(cortex, "Use uv", "always")
        remember(cortex, "Use pip", "never")

        def texts(query: str) -> list[str]:
            return [each["text"] for each in program.get(f"{LIST}?{query}").json()]

        assert texts("") == ["Use uv", "Use pip", "CI is slow"]
        assert texts("kind=always,never") == ["Use uv", "Use pip"]
        assert texts("kind=always&kind=lesson") == ["Use uv", "CI is slow"]
        assert texts("topic=CI") == ["CI is slow"]
        assert texts("scope=global") == []
        assert texts("source=llm&confidence=medium&newer=1") == ["Use uv", "Use pip", "CI is slow"]
        assert texts("older=1") == []
        assert texts("q=is+the+CI+slow") == ["CI is slow"]

    def test_it_comes_in_pages(self, cortex: Cortex, program: TestClient) -> None:
        keys = [remember(cortex, f"Number {number}") for number in range(5)]
        page = program.get(f"{LIST}?limit=2&kind=lesson")
        found = [each["id"] for each in page.json()]
        assert page.headers["x-total-count"] == "5"
        # What goes in between hides nothing.
        cortex.forget(keys[0])
        while "next" in page.links:
            page = program.get(LIST + page.links["next"]["url"])
            found += [each["id"] for each in page.json()]
        assert found == keys

    def test_a_page_begins_where_the_last_item_was(
        self, cortex: Cortex, program: TestClient
    ) -> None:
        keys = [remember(cortex, f"Number {number}") for number in range(4)]
        page = program.get(f"{LIST}?limit=2")
        cortex.forget(keys[1])
        following = program.get(LIST + page.links["next"]["url"]).json()
        assert [each["id"] for each in following] == keys[2:]

    def test_what_was_retired_has_a_list_of_its_own(
        self, cortex: Cortex, program: TestClient
    ) -> None:
        for text in ("CI is slow", "Deploy on Fridays"):
            cortex.forget(remember(cortex, text), "wrong")
        found = program.get(f"{LIST}?state=archived").json()
        assert [each["text"] for each in found] == ["CI is slow", "Deploy on Fridays"]
        assert {each["reason"] for each in found} == {"forgotten"}
        (only,) = program.get(f"{LIST}?state=archived&q=deploy").json()
        assert only["text"] == "Deploy on Fridays"

    def test_what_cannot_be_read_hides_nothing_else_and_is_named(
        self, cortex: Cortex, editor: Person, program: TestClient
    ) -> None:
        remember(cortex, "CI is slow")
        (editor.memory / "rules.md").mkdir()
        answer = program.get(LIST)
        assert [each["text"] for each in answer.json()] == ["CI is slow"]
        (left_out,) = json.loads(answer.headers["x-left-out"])
        assert "rules.md" in left_out
        (editor.memory / "rules.md").rmdir()
        assert "x-left-out" not in program.get(LIST).headers

    @pytest.mark.parametrize(
        "query, field",
        [
            ("kind=bad", "kind.0"),
            ("limit=0", "limit"),
            ("limit=501", "limit"),
            ("older=-1", "older"),
            ("after=nonsense", "after"),
            ("after=1.", "after"),
            ("state=lost", "state"),
            ("of=1", "of"),
        ],
    )
    def test_a_wrong_filter_is_named(self, program: TestClient, query: str, field: str) -> None:
        answer = program.get(f"{LIST}?{query}")
        assert (answer.status_code, kind_of(answer)) == (422, "invalid")
        assert answer.json()["field"] == field


class TestShowing:
    """One memory."""

    def test_a_prefix_is_enough(self, cortex: Cortex, program: TestClient, editor: Person) -> None:
        key = remember(cortex, "CI is slow")
        answer = program.get(f"{LIST}/{key[:4]}")
        assert answer.json()["id"] == key
        assert answer.json()["raw"].startswith("- CI is slow <!-- id:")
        assert answer.headers["etag"] == program.get(f"{LIST}/{key}").headers["etag"]
        editor.changes("lessons.md", "slow", "fast")
        assert answer.headers["etag"] != program.get(f"{LIST}/{key}").headers["etag"]

    def test_what_waits_and_what_was_retired_is_found_too(
        self, copilot: Cortex, program: TestClient
    ) -> None:
        waits = copilot.propose(Engram("Use uv", "always", "project"))[0].id
        gone = copilot.forget(remember(copilot, "CI is slow")).id
        assert program.get(f"{LIST}/{waits}").json()["state"] == "pending"
        assert program.get(f"{LIST}/{gone}").json()["state"] == "archived"

    def test_several_are_offered_and_none_is_a_problem(
        self, editor: Person, program: TestClient
    ) -> None:
        for key in ("aaaaaaa1", "aaaaaaa2"):
            editor.adds("lessons.md", f"- Lesson {key} <!-- id:{key} source:llm -->")
        answer = program.get(f"{LIST}/aaaa")
        assert (answer.status_code, kind_of(answer)) == (300, "ambiguous")
        assert answer.json()["matches"] == ["aaaaaaa1", "aaaaaaa2"]
        assert kind_of(program.get(f"{LIST}/zzzz")) == "not-found"
        assert kind_of(program.get(f"{LIST}/zzzz/why")) == "not-found"

    def test_what_may_be_in_a_file_that_cannot_be_read_is_not_called_missing(
        self, editor: Person, program: TestClient
    ) -> None:
        editor.memory.mkdir(parents=True)
        (editor.memory / "rules.md").mkdir()
        for path in (f"{LIST}/zzzz", f"{LIST}/zzzz/why"):
            answer = program.get(path)
            assert (answer.status_code, kind_of(answer)) == (503, "store")
            assert "rules.md" in answer.json()["detail"]

    def test_where_it_comes_from(self, cortex: Cortex, program: TestClient) -> None:
        key = remember(cortex, "CI is slow")
        cortex.update(key, "CI is fast")
        cortex.update(remember(cortex, "Something else"), "Something other")
        assert program.get(f"{LIST}/{key}/why").json()["id"] == key
        steps = program.get(f"{LIST}/{key}/history").json()
        assert [step["op"] for step in steps] == ["encode", "update"]


class TestAdding:
    """A memory goes through the gate."""

    def test_a_person_is_taken_at_their_word(self, person: TestClient) -> None:
        answer = person.post(LIST, json={"text": "Always use uv"})
        assert answer.status_code == 201
        receipt = answer.json()
        assert (receipt["action"], receipt["kind"]) == ("encoded", "always")
        entry = person.get(answer.headers["location"]).json()
        assert (entry["source"], entry["confidence"]) == ("user", "high")
        assert person.post(LIST, json={"text": "Always use uv"}).status_code == 200

    def test_a_program_is_an_assistant(self, copilot: Cortex, program: TestClient) -> None:
        answer = program.post(LIST, json={"text": "Use uv", "kind": "always"})
        assert (answer.status_code, answer.json()["action"]) == (202, "queued")
        waits = program.get(answer.headers["location"]).json()
        assert (waits["state"], waits["source"], waits["confidence"]) == (
            "pending",
            "llm",
            "medium",
        )
        assert copilot.entries() == []

    def test_a_program_cannot_say_that_a_person_said_it(self, program: TestClient) -> None:
        answer = program.post(LIST, json={"text": "Use uv", "source": "user"})
        assert (answer.status_code, answer.json()["field"]) == (422, "source")
        answer = program.post(LIST, json={"text": "CI is slow", "basis": "verified"})
        assert program.get(answer.headers["location"]).json()["basis"] != "verified"

    def test_a_refusal_says_why(self, cortex: Cortex, clients: Clients, person_key: str) -> None:
        # Before a server opens it for its threads.
        cortex.mode = "off"
        answer = clients(person_key).post(LIST, json={"text": "Use uv"})
        assert (answer.status_code, kind_of(answer)) == (409, "refused")
        assert answer.json()["receipt"]["action"] == "discarded"
        assert answer.json()["detail"].startswith("not written: ")

    def test_what_cannot_be_written_is_no_success(self, editor: Person, person: TestClient) -> None:
        editor.memory.mkdir(parents=True)
        (editor.memory / "lessons.md").mkdir()
        answer = person.post(LIST, json={"text": "CI is slow", "kind": "lesson"})
        assert (answer.status_code, kind_of(answer)) == (503, "store")
        assert answer.json()["receipt"]["action"] == "failed"

    def test_the_same_key_adds_once(self, cortex: Cortex, person: TestClient) -> None:
        once = {"Idempotency-Key": "a1"}
        first = person.post(LIST, json={"text": "CI is slow"}, headers=once)
        again = person.post(LIST, json={"text": "CI is slow"}, headers=once)
        assert (first.status_code, again.status_code) == (201, 201)
        assert first.json() == again.json()
        other = person.post(LIST, json={"text": "CI is fast"}, headers=once)
        assert (other.status_code, other.json()["field"]) == (422, "Idempotency-Key")
        assert [entry.text for entry in cortex.entries()] == ["CI is slow"]

    def test_the_same_key_adds_once_also_at_once(self, cortex: Cortex, person: TestClient) -> None:
        def add(_: int) -> Response:
            return person.post(LIST, json={"text": "CI is slow"}, headers={"Idempotency-Key": "a1"})

        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(add, range(4)))
        assert {answer.status_code for answer in answers} == {201}
        assert len({answer.text for answer in answers}) == 1
        assert len(cortex.entries()) == 1

    @pytest.mark.parametrize(
        "body, field",
        [
            ({}, "text"),
            ({"text": " "}, "text"),
            ({"text": "x", "kind": "bad"}, "kind"),
            ({"text": "My name is Ada", "scope": "project"}, "scope"),
            ({"text": "x", "expires": "tomorrow"}, "expires"),
            ({"text": "x", "topic": "../x"}, "topic"),
            ({"text": "x" * 20_001}, "text"),
        ],
    )
    def test_a_wrong_field_is_named(
        self, person: TestClient, body: dict[str, str], field: str
    ) -> None:
        answer = person.post(LIST, json=body)
        assert (answer.status_code, kind_of(answer)) == (422, "invalid")
        assert answer.json()["field"] == field


Change = tuple[str, str, dict[str, Any] | None]
"""A method, what the path ends with, and a body."""

CHANGES: Final = [
    pytest.param(("PATCH", "", {"text": "CI is fast"}), id="change"),
    pytest.param(("DELETE", "", None), id="forget"),
    pytest.param(("POST", "/verify", None), id="verify"),
    pytest.param(("POST", "/pin", {"pinned": True}), id="pin"),
    pytest.param(("POST", "/erase", {"dry_run": False}), id="erase"),
]


class TestChanging:
    """A change names the version that was seen."""

    @pytest.mark.parametrize("change", CHANGES)
    def test_without_one_nothing_is_changed(
        self, cortex: Cortex, person: TestClient, change: Change
    ) -> None:
        method, path, body = change
        key = remember(cortex, "CI is slow")
        answer = person.request(method, f"{LIST}/{key}{path}", json=body)
        assert (answer.status_code, kind_of(answer)) == (428, "unconditional")
        assert answer.headers["etag"] == seen(person, key)["If-Match"]
        assert cortex.find(key).text == "CI is slow"

    @pytest.mark.parametrize("change", CHANGES)
    def test_another_version_stays(
        self, cortex: Cortex, person: TestClient, editor: Person, change: Change
    ) -> None:
        method, path, body = change
        key = remember(cortex, "CI is slow")
        match = seen(person, key)
        editor.changes("lessons.md", "slow", "slow on Mondays")
        answer = person.request(method, f"{LIST}/{key}{path}", json=body, headers=match)
        assert (answer.status_code, kind_of(answer)) == (412, "changed")
        problem = answer.json()
        yours = (body or {}).get("text")
        assert (problem["base"], problem["theirs"], problem["yours"]) == (
            "CI is slow",
            "CI is slow on Mondays",
            yours,
        )
        assert answer.headers["etag"] == seen(person, key)["If-Match"]
        assert cortex.find(key).text == "CI is slow on Mondays"

    @pytest.mark.parametrize("change", CHANGES)
    def test_the_one_that_was_seen_is_changed(
        self, cortex: Cortex, person: TestClient, change: Change
    ) -> None:
        method, path, body = change
        key = remember(cortex, "CI is slow")
        before = seen(person, key)
        assert person.request(method, f"{LIST}/{key}{path}", json=body, headers=before).is_success
        if method != "DELETE" and path != "/erase":
            assert seen(person, key) != before

    def test_of_several_at_once_one_is_first_and_no_other_is_lost(
        self, cortex: Cortex, person: TestClient
    ) -> None:
        key = remember(cortex, "CI is slow")
        match = seen(person, key)

        def change(number: int) -> Response:
            body = {"text": f"CI is slow on day {number}"}
            return person.patch(f"{LIST}/{key}", json=body, headers=match)

        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(change, range(4)))
        assert sorted(answer.status_code for answer in answers) == [200, 412, 412, 412]
        text = cortex.find(key).text
        for number, answer in enumerate(answers):
            if answer.status_code == 200:
                assert answer.json()["text"] == text
            else:
                problem = answer.json()
                assert (problem["base"], problem["theirs"], problem["yours"]) == (
                    "CI is slow",
                    text,
                    f"CI is slow on day {number}",
                )

    def test_any_version_may_be_meant(self, cortex: Cortex, person: TestClient) -> None:
        key = remember(cortex, "CI is slow")
        answer = person.patch(f"{LIST}/{key}", json={"text": "Fast"}, headers={"If-Match": "*"})
        assert answer.json()["changed"]
        tags = f'"other", {answer.headers["etag"]}'
        answer = person.patch(f"{LIST}/{key}", json={"text": "Slow"}, headers={"If-Match": tags})
        assert answer.json()["text"] == "Slow"
        same = person.patch(f"{LIST}/{key}", json={"text": "Slow"}, headers=seen(person, key))
        assert same.json() == {"changed": False, "id": key}

    @pytest.mark.parametrize("tag", ["abc", 'W/"abc"', ","])
    def test_what_is_no_version_is_refused(
        self, cortex: Cortex, person: TestClient, tag: str
    ) -> None:
        key = remember(cortex, "CI is slow")
        answer = person.patch(f"{LIST}/{key}", json={"text": "x"}, headers={"If-Match": tag})
        assert (answer.status_code, answer.json()["field"]) == (422, "If-Match")

    def test_what_is_gone_meanwhile_loses_nothing(self, cortex: Cortex, person: TestClient) -> None:
        key = remember(cortex, "CI is slow")
        match = seen(person, key)
        cortex.forget(key)
        answer = person.patch(f"{LIST}/{key}", json={"text": "CI is fast"}, headers=match)
        assert (answer.status_code, kind_of(answer)) == (412, "changed")
        problem = answer.json()
        assert (problem["base"], problem["theirs"], problem["yours"]) == (
            "CI is slow",
            None,
            "CI is fast",
        )
        other = person.patch(f"{LIST}/zzzz", json={"text": "x"}, headers={"If-Match": '"nothing"'})
        assert (other.status_code, kind_of(other)) == (404, "not-found")

    @pytest.mark.parametrize("match", [{}, {"If-Match": "*"}, {"If-Match": '"other"'}])
    def test_what_is_no_memory_now_says_what_it_is(
        self, copilot: Cortex, person: TestClient, match: dict[str, str]
    ) -> None:
        waits = copilot.propose(Engram("Use uv", "always", "project"))[0].id
        gone = copilot.forget(remember(copilot, "CI is slow")).id
        for key, words in ((waits, "is a proposal"), (gone, "is retired")):
            answer = person.patch(f"{LIST}/{key}", json={"text": "x"}, headers=match)
            assert (answer.status_code, kind_of(answer)) == (409, "refused")
            assert words in answer.json()["detail"]
        missing = person.patch(f"{LIST}/zzzz", json={"text": "x"}, headers=match)
        assert (missing.status_code, kind_of(missing)) == (404, "not-found")

    def test_a_line_of_a_person_is_followed_to_its_new_address(
        self, cortex: Cortex, person: TestClient, editor: Person
    ) -> None:
        remember(cortex, "Deploy by hand")
        editor.adds("lessons.md", "- CI is slow")
        cortex.scopes.notice()
        key = next(each["id"] for each in person.get(LIST).json() if each["text"] == "CI is slow")
        match = seen(person, key)
        editor.changes("lessons.md", "CI is slow", "CI is slow on Mondays")
        cortex.scopes.notice()
        answer = person.patch(f"{LIST}/{key}", json={"text": "CI is fast"}, headers=match)
        problem = answer.json()
        assert (answer.status_code, problem["base"], problem["theirs"]) == (
            412,
            "CI is slow",
            "CI is slow on Mondays",
        )
        # What is there can be changed now.
        again = {"If-Match": answer.headers["etag"]}
        answer = person.patch(f"{LIST}/{problem['id']}", json={"text": "Mine"}, headers=again)
        assert answer.json()["text"] == "Mine"

    def test_a_secret_is_not_kept(self, cortex: Cortex, person: TestClient, editor: Person) -> None:
        key = remember(cortex, "CI is slow")
        token = "ghp_" + "a1B2c3D4e5" * 3 + "F6g7h8"
        answer = person.patch(
            f"{LIST}/{key}", json={"text": f"CI uses {token}"}, headers=seen(person, key)
        )
        assert token not in answer.text
        assert token not in editor.everything()

    def test_what_was_forgotten_comes_back(self, cortex: Cortex, person: TestClient) -> None:
        key = remember(cortex, "CI is slow")
        answer = person.delete(f"{LIST}/{key}?why=no+longer", headers=seen(person, key))
        assert [each["id"] for each in answer.json()["forgotten"]] == [key]
        assert person.get(f"{LIST}/{key}").json()["state"] == "archived"
        assert person.get(f"{LIST}/{key}/history").json()[-1]["why"] == "no longer"
        answer = person.post(f"{LIST}/{key}/restore")
        assert (answer.json()["id"], answer.headers["etag"]) == (
            key,
            seen(person, key)["If-Match"],
        )
        assert kind_of(person.post(f"{LIST}/zzzz/restore")) == "not-found"

    def test_a_pin_can_be_taken_out(self, cortex: Cortex, person: TestClient) -> None:
        key = remember(cortex, "CI is slow")
        for pinned in (True, False):
            body = {"pinned": pinned}
            answer = person.post(f"{LIST}/{key}/pin", json=body, headers=seen(person, key))
            assert answer.json()["pin"] is pinned
        assert person.post(f"{LIST}/{key}/verify", headers=seen(person, key)).json()["basis"] == (
            "verified"
        )

    def test_what_was_edited_while_it_was_looked_for_is_not_erased(
        self,
        cortex: Cortex,
        person: TestClient,
        editor: Person,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        key = remember(cortex, "CI is slow")
        match, check = seen(person, key), Disk.check_writable

        def edit(disk: Disk, path: Path) -> None:
            if cortex.find(key).text == "CI is slow":
                editor.changes("lessons.md", "slow", "slow on Mondays")
            check(disk, path)

        monkeypatch.setattr(Disk, "check_writable", edit)
        answer = person.post(f"{LIST}/{key}/erase", json={}, headers=match)
        assert (answer.status_code, kind_of(answer)) == (412, "changed")
        assert cortex.find(key).text == "CI is slow on Mondays"

    def test_an_erasure_can_be_looked_at_first(
        self, cortex: Cortex, person: TestClient, editor: Person
    ) -> None:
        key = remember(cortex, "My old address is 12 Elm Street")
        path, match = f"{LIST}/{key}/erase", seen(person, key)
        looked = person.post(path, json={"dry_run": True}, headers=match).json()
        assert (looked["dry_run"], looked["erased"]) == (True, False)
        assert "Elm Street" in editor.everything()
        assert person.post(path, json={}, headers=match).json()["erased"]
        assert "Elm Street" not in editor.everything()
