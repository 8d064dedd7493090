"""The page: a shell without data, and fragments that do what the API does."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from datetime import date, datetime, time
from pathlib import Path
from typing import Final

import pytest
from freezegun import freeze_time
from httpx2 import Response
from starlette.testclient import TestClient

import engramdown.web
from engramdown import Cortex, Engram, __version__
from engramdown.web.pages import PAGES
from tests.cortex.person import Person

STATIC: Final = Path(engramdown.web.__file__).parent / "static"
# What was vendored, byte for byte; htmx and its extensions 4.0.1 are under 0BSD.
VENDORED: Final = {
    "htmx.min.js": "a0abb04f2f45a1f89d1d4844023245537e5e6014c87b144553e0607b4cc32130",
    "hx-csp.min.js": "a7e1e6711ae6c3e50ad300fba7936cbe8d07599cdae313414a179ddd6b26e143",
    "hx-sse.min.js": "18ef2761356ec1fe0bb6d92612315b37517a7c1e9856b661c5ae81fef239d103",
}
MOST_BYTES: Final = 70_000
HOSTILE: Final = (
    "<img src=x onerror=alert(1)> <hx-partial hx-target='#main'>\u202e<!-- note --> {{ 7*7 }}"
)

Ask = Callable[..., Response]


@pytest.fixture
def ask(person: TestClient) -> Ask:
    """Return what asks for a fragment, as the page does."""

    def get(path: str, body: dict[str, str] | None = None, status: int = 200) -> Response:
        address = f"/page/{path}"
        answer = person.get(address) if body is None else person.post(address, json=body)
        assert answer.status_code == status, answer.text
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        return answer

    return get


def remember(cortex: Cortex, text: str, kind: str = "lesson") -> str:
    """Write a memory, and return its id."""
    return cortex.encode(Engram(text, kind, "project", source="llm"))[0].id  # type: ignore[arg-type]


def wait_for(cortex: Cortex, *texts: str) -> list[str]:
    """Propose memories in copilot, and return the ids of what waits."""
    cortex.mode = "copilot"
    cortex.propose([Engram(each, "lesson", "project", "low") for each in texts])
    return [each.id for each in cortex.pending()]


def etag_in(fragment: Response) -> str:
    """Return the version that a form will name."""
    found = re.search(r'name="etag" value="&#34;(\w+)&#34;"', fragment.text)
    assert found
    return f'"{found[1]}"'


class TestShell:
    """What is served without a key."""

    @pytest.mark.parametrize("path", ["/", *(f"/{name}" for name in PAGES)])
    def test_it_has_no_data(self, cortex: Cortex, nobody: TestClient, path: str) -> None:
        remember(cortex, "The secret of the house")
        shell = nobody.get(path)
        assert shell.status_code == 200
        assert "secret of the house" not in shell.text
        assert nobody.get("/nothing").status_code == 401
        assert nobody.get("/transcripts?session=20260227-101500-4f2a&at=12").text[:9] == "<!doctype"
        assert nobody.get("/health").json() == {"version": __version__}

    def test_its_policy_lets_only_its_own_scripts_run(self, nobody: TestClient) -> None:
        shell = nobody.get("/")
        policy = dict(
            each.strip().split(" ", 1)
            for each in shell.headers["content-security-policy"].split(";")
        )
        nonce = policy["script-src"].removeprefix("'nonce-").removesuffix("'")
        assert policy["default-src"] == policy["form-action"] == policy["base-uri"] == "'none'"
        assert policy["frame-ancestors"] == "'none'"
        assert policy["require-trusted-types-for"] == "'script'"
        scripts = re.findall(r"<script[^>]*>", shell.text)
        assert scripts
        assert all(f'nonce="{nonce}"' in each for each in scripts)
        assert nonce not in nobody.get("/").text
        assert not re.search(r"\s(?:on\w+|style)=", shell.text)

    def test_nothing_is_loaded_from_elsewhere(self, nobody: TestClient) -> None:
        shell = nobody.get("/").text
        assert re.findall(r'(?:src|href)="(?!/|#|data:)[^"]*"', shell) == []
        for file in STATIC.glob("page.*"):
            assert not re.search(r"https?://|@import|url\(", file.read_text("utf-8"))

    @pytest.mark.parametrize("name", [file.name for file in STATIC.glob("*.*s")])
    def test_each_file_is_served_as_it_is(self, nobody: TestClient, name: str) -> None:
        answer = nobody.get(f"/static/{name}")
        kind = "text/css" if name.endswith("css") else "text/javascript"
        assert answer.content == (STATIC / name).read_bytes()
        assert answer.headers["content-type"] == f"{kind}; charset=utf-8"

    def test_vendored_files_are_what_was_published(self) -> None:
        found = {
            file.name: hashlib.sha256(file.read_bytes()).hexdigest()
            for file in STATIC.glob("*.min.js")
        }
        assert found == VENDORED
        assert "Zero-Clause BSD" in (STATIC / "LICENSE.htmx").read_text("utf-8")

    def test_assets_are_small(self) -> None:
        assert sum(file.stat().st_size for file in STATIC.glob("*.*s")) < MOST_BYTES


class TestFragments:
    """What is fetched with a key."""

    @pytest.mark.parametrize("name", PAGES)
    def test_only_a_person_sees_them(
        self, program: TestClient, nobody: TestClient, ask: Ask, name: str
    ) -> None:
        assert f'data-title="{PAGES[name]}"' in ask(name).text
        assert program.get(f"/page/{name}").status_code == 403
        assert nobody.get(f"/page/{name}").status_code == 401

    @pytest.mark.parametrize("name", PAGES)
    def test_each_control_has_the_nonce_of_its_answer(
        self, cortex: Cortex, ask: Ask, name: str
    ) -> None:
        remember(cortex, "CI is slow")
        wait_for(cortex, "Deploy on Tuesdays")
        fragment = ask(name)
        nonce = (
            fragment.headers["content-security-policy"].partition("'nonce-")[2].partition("'")[0]
        )
        controls = re.findall(r"<[^>]*\shx-(?:get|post)=[^>]*>", fragment.text)
        assert all(f'hx-nonce="{nonce}"' in each for each in controls)
        assert not re.search(r"\s(?:on\w+|style)=", fragment.text)

    def test_memory_is_never_html(self, cortex: Cortex, ask: Ask) -> None:
        key = remember(cortex, HOSTILE)
        (proposal,) = wait_for(cortex, f"{HOSTILE} again")
        pages = ("inbox", f"inbox/{proposal}", "memories", f"memories/{key}", "timeline")
        more = (
            f"memories/{key}/edit",
            f"inbox/{proposal}?edit=1",
            "context?message=img",
            "insights",
        )
        for path in (*pages, *more):
            text = ask(path).text
            assert "<img" not in text, path
            assert "<hx-partial hx-target='" not in text, path
            if "edit" not in path:
                assert "\u202e" not in text, path

    def test_a_key_for_reading_finds_nothing_to_change(
        self, cortex: Cortex, clients: Callable[..., TestClient], person_key: str
    ) -> None:
        key = remember(cortex, "CI is slow")
        reader = clients(person_key, is_read_only=True)
        assert "class=read-only" in reader.get("/").text
        assert reader.get("/page/memories").status_code == 200
        assert reader.post(f"/page/memories/{key}/forget", json={}).status_code == 404
        assert [each.id for each in cortex.entries()] == [key]

    def test_what_is_wrong_is_said_in_words(self, ask: Ask) -> None:
        assert 'class="toast bad"' in ask("memories/nothing1/edit", status=404).text


class TestInbox:
    """Deciding on what waits."""

    def test_a_proposal_says_what_it_would_replace(self, cortex: Cortex, ask: Ask) -> None:
        cortex.encode(Engram("The editor is vim", "lesson", "project", "high", source="user"))
        (key,) = wait_for(cortex, "The editor is emacs")
        detail = ask(f"inbox/{key}").text
        assert "The editor is <del>vim</del><ins>emacs</ins>" in detail
        assert "Waits because:" in detail

    def test_it_shows_the_lines_it_came_from(self, cortex: Cortex, ask: Ask) -> None:
        with cortex.session() as session:
            session.begin_turn("Deploy on Tuesdays, please")
            session.end_turn("I will.")
        cortex.mode = "copilot"
        engram = Engram("Deploy on Tuesdays", "lesson", "project", "low", origin=f"{session.id}#1")
        cortex.propose([engram])
        detail = ask(f"inbox/{cortex.pending()[0].id}").text
        assert "Deploy on Tuesdays, please" in detail
        assert f"session={session.id}&amp;at=1#l-1" in detail

    def test_it_says_that_a_turn_runs(self, cortex: Cortex, ask: Ask) -> None:
        wait_for(cortex, "CI is slow")
        with cortex.session() as session:
            session.begin_turn("Why is CI slow?")
            assert (
                f'A turn is running in <a href="/transcripts?session={session.id}'
                in ask("inbox").text
            )
            assert "A turn is running" in ask("inbox/turn").text
            session.end_turn("It is the cache.")
        assert "A turn is running" not in ask("inbox").text + ask("inbox/turn").text

    def test_a_decision_waits_for_the_end_of_a_turn(self, cortex: Cortex, ask: Ask) -> None:
        one, two, three = wait_for(cortex, "One is slow", "Two is red", "Three is late")
        later = {"decision": "accept", "ids": one, "text": "One is quick", "waited": "yes"}
        both = {"decision": "decline", "ids": f"{two} {three}"}
        with cortex.session() as session:
            session.begin_turn("Why is CI slow?")
            first = ask(f"inbox/{one}/accept", {"text": "One is quick"}).text
            assert "<b>Accepted when the turn ends</b>" in first
            assert "One decision waits for the end of the turn in" in first
            waiting = ask("inbox/resolve", both).text
            assert waiting.count("<b>Declined when the turn ends</b>") == 2
            assert "2 decisions wait" in waiting
            again = ask("inbox/resolve", later)
            assert (again.text, again.headers["HX-Reswap"]) == ("", "none")
            assert [each.id for each in cortex.pending()] == [one, two, three]
            session.end_turn("It is the cache.")
        assert "<b>Accepted</b>" in ask("inbox/resolve", later).text
        assert [each.text for each in cortex.entries()] == ["One is quick"]
        # One of these was decided on elsewhere meanwhile.
        cortex.resolve(two, "accept")
        done = ask("inbox/resolve", {**both, "waited": "yes"}).text
        assert (done.count("<b>Declined</b>"), done.count("Decided elsewhere")) == (1, 1)
        # Or all were cancelled.
        assert "Declined" not in ask("inbox/resolve", {**both, "ids": "", "waited": "yes"}).text

    def test_nobody_has_to_wait(self, cortex: Cortex, ask: Ask) -> None:
        (key,) = wait_for(cortex, "CI is slow")
        # In another process, which is gone.
        assert cortex.episodes
        cortex.episodes.log("broken-off", "user", "Why is CI slow?")
        assert "when the turn ends" in ask(f"inbox/{key}/accept", {}).text
        enough = {"decision": "accept", "ids": key, "waited": "enough"}
        assert "<b>Accepted</b>" in ask("inbox/resolve", enough).text

    def test_accepting_can_be_taken_back(self, cortex: Cortex, ask: Ask) -> None:
        one, other = wait_for(cortex, "Deploy on Tuesdays", "CI is slow")
        done = ask(f"inbox/{one}/accept", {})
        assert "<b>Accepted</b>" in done.text
        assert '<b class="badge">1</b>' in done.text
        assert [each.text for each in cortex.entries()] == ["Deploy on Tuesdays"]
        steps = re.search(r"&#34;steps&#34;: &#34;(\w+)&#34;", done.text)
        assert steps
        back = ask("inbox/back", {"steps": steps[1], "ids": one})
        assert f'id="p-{one}"' in back.text
        assert {each.id for each in cortex.pending()} == {one, other}
        assert cortex.entries() == []

    def test_other_words_can_be_accepted(self, cortex: Cortex, ask: Ask) -> None:
        (key,) = wait_for(cortex, "Deploy on Tuesdays")
        ask(f"inbox/{key}/accept", {"text": "Deploy on Mondays"})
        assert [each.text for each in cortex.entries()] == ["Deploy on Mondays"]

    def test_many_are_decided_in_one_step(self, cortex: Cortex, ask: Ask) -> None:
        keys = wait_for(cortex, "One is slow", "Two is red", "Three is late")
        done = ask("inbox/resolve", {"decision": "decline", "ids": " ".join(keys[:2])}).text
        assert [f'hx-target="#p-{key}"' in done for key in keys] == [True, True, False]
        assert "Declined 2" in done
        assert [each.id for each in cortex.pending()] == keys[2:]

    def test_what_was_decided_elsewhere_is_marked(self, cortex: Cortex, ask: Ask) -> None:
        one, other = wait_for(cortex, "One is slow", "Two is red")
        cortex.resolve(one, "decline")
        marked = ask(f"inbox/gone?ids={one}+{other}").text
        assert f'hx-target="#p-{one}"' in marked
        assert f'hx-target="#p-{other}"' not in marked
        assert "id=" not in ask(f"inbox/row/{one}").text

    def test_an_empty_one_shows_what_was_learned_since(
        self, cortex: Cortex, ask: Ask, person: TestClient
    ) -> None:
        remember(cortex, "CI is slow")
        assert "CI is slow" in ask("inbox").text
        later = person.get("/page/inbox", headers={"X-Since": "2999-01-01T00:00:00Z"})
        assert "Nothing new was learned" in later.text


class TestMemories:
    """Memories, and changing them."""

    def test_filters_and_a_search_choose(self, cortex: Cortex, ask: Ask) -> None:
        remember(cortex, "Use uv", "always")
        key = remember(cortex, "CI is slow")
        assert "Use uv" not in ask("memories?kind=lesson").text
        assert "Use uv" in ask("memories?q=uv").text
        assert "1 memory<" in ask(f"memories?id={key}").text
        assert "Nothing fits" in ask("memories?q=zebra").text

    def test_many_come_in_pages(self, cortex: Cortex, ask: Ask) -> None:
        cortex.encode([Engram(f"Number {at} is slow", "lesson", "project") for at in range(55)])
        first = ask("memories").text
        more = re.search(r'hx-get="/page/(memories\?after=[^"]+)"', first)
        assert more
        assert first.count('id="m-') == 50
        assert ask(more[1].replace("&amp;", "&")).text.count('id="m-') == 5

    def test_an_edit_is_saved_where_it_stands(self, cortex: Cortex, ask: Ask) -> None:
        key = remember(cortex, "CI is slow")
        form = {"etag": etag_in(ask(f"memories/{key}/edit")), "base": "CI is slow"}
        kept = {"kind": "lesson", "scope": "project"}
        saved = ask(f"memories/{key}/save", {"text": "CI is fast", **form, **kept}).text
        assert f'id="m-{key}"' in saved
        assert cortex.find(key).text == "CI is fast"

    @pytest.mark.parametrize(
        "keep, texts",
        [
            ("mine", ["CI is fast, I say"]),
            ("both", ["CI is red", "CI is fast, I say"]),
        ],
    )
    def test_a_conflict_loses_nothing(
        self, cortex: Cortex, ask: Ask, editor: Person, keep: str, texts: list[str]
    ) -> None:
        key = remember(cortex, "CI is slow")
        form = {"etag": etag_in(ask(f"memories/{key}/edit")), "base": "CI is slow"}
        form |= {"kind": "lesson", "scope": "project", "text": "CI is fast, I say"}
        editor.changes("lessons.md", "CI is slow", "CI is red")
        conflict = ask(f"memories/{key}/save", form, status=412)
        assert ">CI is slow</dd>" in conflict.text
        assert "CI is <del>slow</del><ins>red</ins>" in conflict.text
        assert "CI is fast, I say</textarea>" in conflict.text
        ask(f"memories/{key}/save", {**form, "etag": etag_in(conflict), "keep": keep})
        assert sorted(each.text for each in cortex.entries()) == sorted(texts)

    def test_what_was_removed_meanwhile_can_be_remembered_again(
        self, cortex: Cortex, ask: Ask
    ) -> None:
        key = remember(cortex, "CI is slow")
        form = {"etag": etag_in(ask(f"memories/{key}/edit")), "base": "CI is slow"}
        form |= {"kind": "lesson", "scope": "project", "text": "CI is fast"}
        cortex.forget(key)
        assert "It is gone" in ask(f"memories/{key}/save", form, status=412).text
        ask(f"memories/{key}/save", {**form, "keep": "both"})
        assert [each.text for each in cortex.entries()] == ["CI is fast"]

    def test_it_is_pinned_verified_forgotten_and_restored(self, cortex: Cortex, ask: Ask) -> None:
        key = remember(cortex, "CI is slow")
        assert ">pinned<" in ask(f"memories/{key}/pin", {"pin": "1"}).text
        assert ">pinned<" not in ask(f"memories/{key}/pin", {"pin": ""}).text
        assert ">verified<" in ask(f"memories/{key}/verify", {}).text
        assert "Forgotten" in ask(f"memories/{key}/forget", {}).text
        assert cortex.entries() == []
        assert "CI is slow" in ask("memories?state=archived").text
        ask(f"memories/{key}/restore", {})
        assert [each.id for each in cortex.entries()] == [key]

    def test_a_row_is_shown_only_if_it_fits(self, cortex: Cortex, ask: Ask) -> None:
        key = remember(cortex, "CI is slow")
        assert f'id="m-{key}"' in ask(f"memories/row/{key}?kind=lesson").text
        assert 'class="row open' in ask(f"memories/row/{key}?open=1").text
        assert ask(f"memories/row/{key}?kind=always").text == ""
        assert ask("memories/row/nothing1").text == ""


class TestTimeline:
    """Every step as a diff."""

    def test_a_step_is_undone(self, cortex: Cortex, ask: Ask) -> None:
        remember(cortex, "CI is slow")
        line = ask("timeline").text
        step = re.search(r'id="s-(\w+)"', line)
        assert step
        assert "<ins>- CI is slow</ins>" in line
        assert "The assistant remembered" in line
        assert "Undone" in ask(f"timeline/{step[1]}/undo", {}).text
        assert cortex.entries() == []

    def test_it_begins_on_a_day(self, cortex: Cortex, ask: Ask) -> None:
        remember(cortex, "CI is slow")
        assert "CI is slow" not in ask("timeline?since=2999-01-01").text

    def test_what_is_no_commit_is_said(self, ask: Ask) -> None:
        assert "toast bad" in ask("timeline?since=HEAD~3", status=404).text


class TestTranscripts:
    """Reading what was said, and taking it back."""

    @pytest.fixture
    def session(self, cortex: Cortex) -> str:
        """Record a session, and return its id."""
        with cortex.session() as session:
            session.begin_turn("I lived in Marzipan Street")
            session.end_turn("Noted.")
        return session.id

    def test_a_line_is_excluded_and_included(self, cortex: Cortex, ask: Ask, session: str) -> None:
        assert cortex.episodes
        path = f"transcripts/{session}/withdraw"
        assert "Excluded" in ask(path, {"action": "exclude", "line": "1"}).text
        assert cortex.episodes.recall("Marzipan") == []
        lines = re.split(r"<li ", ask(f"transcripts?session={session}").text)
        assert [("excluded<" in line, "Include again" in line) for line in lines[1:3]] == [
            (True, True),
            (False, False),
        ]
        assert "Included" in ask(path, {"action": "include", "line": "1"}).text
        assert "excluded<" not in ask(f"transcripts?session={session}").text
        assert cortex.episodes.recall("Marzipan")

    def test_the_card_is_asked_for_by_itself(self, ask: Ask, session: str) -> None:
        path = f"transcripts/{session}/card"
        assert f'hx-get="/page/{path}"' in ask(f"transcripts?session={session}").text
        assert "Marzipan Street" in ask(path).text
        assert "toast bad" in ask("transcripts/none/card", status=404).text

    def test_a_line_is_redacted_only_when_somebody_is_sure(self, ask: Ask, session: str) -> None:
        order = {"action": "redact", "line": "1"}
        assert "Redact for ever" in ask(f"transcripts/{session}/withdraw", order).text
        assert "Marzipan" in ask(f"transcripts?session={session}").text
        assert "Redacted" in ask(f"transcripts/{session}/withdraw", {**order, "sure": "1"}).text
        shown = ask(f"transcripts?session={session}").text
        assert "Marzipan" not in shown
        assert "redacted<" in shown

    def test_a_session_that_is_excluded_says_so(
        self, ask: Ask, session: str, person: TestClient
    ) -> None:
        assert person.post(f"/v1/sessions/{session}/exclude", json={}).is_success
        shown = ask(f"transcripts?session={session}").text
        assert "All of it is excluded" in shown
        assert "Exclude from recall" not in shown


class TestSkills:
    """Skills, and their texts."""

    def test_a_skill_is_opened(self, ask: Ask) -> None:
        path = re.search(r'hx-get="/page/(skills/[^"]+)"', ask("skills").text)
        assert path
        assert "description:" in ask(path[1].replace("&amp;", "&")).text


class TestHealth:
    """Faults, and mending them."""

    def test_what_is_safe_is_shown_and_mended(
        self, cortex: Cortex, ask: Ask, editor: Person
    ) -> None:
        key = remember(cortex, "CI is slow")
        editor.changes("lessons.md", f"id:{key}", f"id:{key} confidence:utter")
        shown = ask("doctor/mend", {}).text
        assert "-- CI is slow" in shown
        assert "Mend this" in shown
        assert "confidence:utter" in editor.reads("lessons.md")
        assert "Mended" in ask("doctor/mend", {"sure": "1"}).text
        assert "confidence:utter" not in editor.reads("lessons.md")
        assert "Nothing can be mended" in ask("doctor/mend", {}).text


class TestJournal:
    """The pages of the journal."""

    def test_older_days_come_when_they_are_looked_for(self, cortex: Cortex, ask: Ask) -> None:
        days = [date(2026, 2, number) for number in range(1, 13)]
        for day in days:
            with freeze_time(datetime.combine(day, time(12))):
                cortex.journal.write(f"Written on {day}", by="person")
        newest = ask("journal").text
        more = re.search(r'hx-get="/page/(journal[^"]+)"', newest)
        assert more
        shown = newest + ask(more[1]).text
        found = [day for day in days if f"Written on {day}" in shown]
        assert (found, str(days[0]) in newest) == (days, False)
