"""The API answers with what the command prints: the same thing, the same JSON."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from starlette.testclient import TestClient

from engramdown import Cortex, Engram
from engramdown.web.app import ROUTES
from tests.cli.conftest import Runner
from tests.cortex.person import Person
from tests.web.conftest import described

SESSION: Final = "20260227-100000-one"
OTHER: Final = "20260227-110000-two"

# What a test knows by a short name, such as the id of a memory.
Names = Mapping[str, str]


class Pair(NamedTuple):
    """A request, and the command that prints the same.

    Attributes:
        path: The path of a GET, or another method before it.
        words: The command, without ``--json``.
        part: Takes the part of what is printed that is the same.
        body: What is sent.
    """

    path: str
    words: str
    part: Callable[[Any], Any] = lambda printed: printed
    body: Mapping[str, Any] | None = None

    @property
    def method(self) -> str:
        """The method of the request."""
        return self.path.split()[0] if " " in self.path else "GET"

    def url(self, names: Names) -> str:
        """Return where the request goes."""
        return self.path.split()[-1].format_map(names)


# By the name of a route, requests that change nothing.
SHOWN: Final[dict[str, list[Pair]]] = {
    "list_memories": [
        Pair("/v1/memories", "list"),
        Pair("/v1/memories?kind=lesson&scope=project", "list --kind lesson --scope project"),
        Pair("/v1/memories?state=archived", "list --archived"),
    ],
    "show_memory": [
        Pair(f"/v1/memories/{{{name}}}", f"show {{{name}}}")
        for name in ("memory", "by_hand", "first", "retired")
    ],
    "explain_memory": [
        Pair(f"/v1/memories/{{{name}}}/why", f"why {{{name}}}")
        for name in ("memory", "by_hand", "first", "retired")
    ],
    "list_memory_steps": [
        Pair("/v1/memories/{memory}/history", "why {memory}", lambda why: why["steps"])
    ],
    "list_proposals": [Pair("/v1/proposals", "review", lambda review: review["pending"])],
    "list_steps": [
        Pair("/v1/steps", "history"),
        Pair("/v1/steps?file=lessons.md&limit=1", "history --file lessons.md -n 1"),
        Pair("/v1/steps?scope=global", "history --global"),
    ],
    "show_step": [Pair("/v1/steps/{step}", "history", lambda steps: steps[-1])],
    "show_differences": [Pair("/v1/diff", "diff"), Pair("/v1/diff?rev=HEAD", "diff HEAD")],
    "recall": [
        Pair("/v1/recall?q=CI", "recall CI"),
        Pair("/v1/recall?q=slow&mode=exact&limit=1", "recall --exact -n 1 slow"),
        Pair("/v1/recall?days_back=1", "recall --days 1"),
        Pair(
            f"/v1/recall?q=slow&session={SESSION}&role=user",
            f"recall slow --session {SESSION} --role user",
        ),
    ],
    "context": [
        Pair("/v1/context", "context"),
        Pair("/v1/context?message=CI", "context CI"),
    ],
    "list_sessions": [Pair("/v1/sessions", "log list")],
    "show_session": [
        Pair(f"/v1/sessions/{SESSION}", "log list", lambda sessions: sessions[-1]),
    ],
    "list_lines": [
        Pair(f"/v1/sessions/{SESSION}/episodes", f"log show {SESSION}", lambda it: it["lines"])
    ],
    "show_line": [
        Pair(f"/v1/sessions/{SESSION}/episodes/2", f"log show {SESSION}#2"),
        Pair(f"/v1/sessions/{SESSION}/episodes/3?whole=true", f"log show --whole {SESSION}#3"),
    ],
    "show_card": [Pair(f"/v1/sessions/{SESSION}/card", f"log card {SESSION}")],
    "show_notes": [Pair(f"/v1/sessions/{SESSION}/notes", f"log notes {SESSION}")],
    "export_session": [Pair(f"/v1/export?format=json&session={SESSION}", f"export {SESSION}")],
    "list_days": [Pair("/v1/journal", "journal list")],
    "show_day": [Pair("/v1/journal/today", "journal show today")],
    "stats": [Pair("/v1/stats", "stats")],
    "doctor": [Pair("/v1/doctor", "doctor")],
    "list_skills": [
        Pair("/v1/skills", "skills list"),
        Pair("/v1/skills?scope=project", "skills list --project"),
    ],
    "show_skill": [
        Pair("/v1/skills/draw-charts", "skills show draw-charts"),
        Pair("/v1/skills/find-out-why", "skills show find-out-why"),
    ],
}

# By the name of a route, requests that change something, in this order.
CHANGED: Final[dict[str, Pair]] = {
    "add_memory": Pair(
        "POST /v1/memories",
        "remember --lesson Docs are slow",
        body={"text": "Docs are slow", "kind": "lesson"},
    ),
    "change_memory": Pair(
        "PATCH /v1/memories/{memory}", "edit {memory} CI is fast", body={"text": "CI is fast"}
    ),
    "forget_memory": Pair("DELETE /v1/memories/{memory}", "forget {memory}"),
    "restore_memory": Pair("POST /v1/memories/{memory}/restore", "restore {memory}"),
    "undo_step": Pair("POST /v1/steps/{undone}/undo", "undo {undone}"),
    "accept_proposal": Pair(
        "POST /v1/proposals/{first}/accept",
        "review --accept {first}",
        lambda review: review["receipts"][0],
    ),
    "decline_proposal": Pair(
        "POST /v1/proposals/{second}/decline",
        "review --decline {second}",
        lambda review: review["receipts"][0],
    ),
    "resolve_proposals": Pair(
        "POST /v1/proposals/resolve",
        "review --decline {third} --accept {fourth}",
        body={"answers": [{"id": "{third}", "decision": "decline"}, {"id": "{fourth}"}]},
    ),
    "exclude_lines": Pair(
        f"POST /v1/sessions/{SESSION}/exclude", f"log exclude {SESSION}#1", body={"lines": [1]}
    ),
    "include_lines": Pair(
        f"POST /v1/sessions/{SESSION}/include", f"log include {SESSION}", body={"lines": []}
    ),
    "redact_lines": Pair(
        f"POST /v1/sessions/{SESSION}/redact", f"log redact {SESSION}#1", body={"lines": [1]}
    ),
    "purge_session": Pair(f"POST /v1/sessions/{SESSION}/purge", f"log purge {SESSION} --yes"),
    "erase_memory": Pair("POST /v1/memories/{memory}/erase", "forget {memory} --forever --yes"),
    "mend": Pair("POST /v1/doctor/mend", "doctor --fix --yes"),
}

# What no command prints, and why.
ALONE: Final = {
    **dict.fromkeys(
        ("health", "openapi", "new_key", "keys", "revoke_key", "revoke_keys"), "server"
    ),
    "events": "a stream; each change is in it as `watch --json` prints it",
    **dict.fromkeys(("verify_memory", "pin_memory"), "a person writes it into the file"),
    **dict.fromkeys(
        ("memory_summary", "summarize_memory", "memory_chunks", "search_memory"), "Cass says how"
    ),
}


@pytest.fixture
def names(cortex: Cortex, project: Path, editor: Person) -> dict[str, str]:
    """Keep something of each kind, and return the ids by which it is asked for."""

    def git(*words: str) -> None:
        me = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        subprocess.run(["git", "-C", project, *me, *words], check=True, capture_output=True)

    cortex.encode(Engram("Name: Ada", "profile", "global", source="user"))
    memory, retired, undone = (
        cortex.encode(Engram(text, "lesson", "project", "medium", topic="ci", source="llm"))[0].id
        for text in ("CI is slow", "Deploy on Fridays", "Branches are short")
    )
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "Begin")
    cortex.forget(retired, "wrong")
    editor.adds("lessons.md", "- The clock is in Oslo")
    by_hand = next(entry.id for entry in cortex.entries() if "Oslo" in entry.text)
    _talk(cortex)
    cortex.conversations.notes(SESSION).write("CI: look at the lock", by="agent")
    cortex.journal.write("CI was slow today", by="person", themes=["ci"])
    skills = cortex.skills.all
    page = skills.drafted("draw-charts", "Draws charts. Use it for figures.", "Use the script.\n")
    skills.create("project", "draw-charts", page)
    steps = [step for store in cortex.scopes.stores for step in store.history()]
    steps.sort(key=lambda step: step.at)
    cortex.mode = "copilot"
    texts = ("Use uv", "Never push on Fridays", "Docs are good", "Tests come first")
    waiting = cortex.propose([Engram(text, "lesson", "project") for text in texts])
    return {
        **dict(zip(("first", "second", "third", "fourth"), (it.id for it in waiting), strict=True)),
        "memory": memory,
        "retired": retired,
        "by_hand": by_hand,
        "step": steps[0].id,
        "undone": next(each.id for each in steps if undone in {it.id for it in each.changes}),
    }


def _talk(cortex: Cortex) -> None:
    """Record two sessions, the first of which has ended."""
    episodes = cortex.episodes
    assert episodes is not None
    for session in (SESSION, OTHER):
        episodes.start_session(session, title=f"About {session[-3:]}")
        episodes.log(session, "user", "Why is CI slow?", name="Ada")
        episodes.log(session, "tool_call", {"path": "a.py"}, name="read", call="c1")
        episodes.log(session, "tool_result", "x" * 100_000, name="read", call="c1", ms=12.0)
        episodes.log(session, "assistant", "It waits for a lock.")
    episodes.end(SESSION)


def test_every_route_has_its_command_or_a_reason() -> None:
    # The page has routes of its own, which are not for programs.
    listed = [route for route in ROUTES if route.is_listed]
    assert sorted(route.name for route in listed) == sorted([*SHOWN, *CHANGED, *ALONE])
    changing = {route.name for route in listed if route.changes}
    assert changing - {*ALONE} == {*CHANGED}


def test_what_is_shown_is_what_the_command_prints(
    names: dict[str, str], person: TestClient, printed: Callable[..., Any]
) -> None:
    unlike = []
    for name, pair in ((name, pair) for name, pairs in SHOWN.items() for pair in pairs):
        answer = person.get(pair.url(names))
        assert answer.status_code == 200, (pair.path, answer.text)
        described(name, answer)
        if answer.json() != pair.part(printed(*pair.words.format_map(names).split())):
            unlike.append(pair.path)
    assert unlike == []


def test_what_is_changed_is_what_the_command_prints(
    names: dict[str, str], person: TestClient, project: Path, run: Runner, tmp_path: Path
) -> None:
    home, twin = Path.home() / ".engramdown", tmp_path / "twin"
    shutil.copytree(project, twin / "project", symlinks=True)
    shutil.copytree(home, twin / "home", symlinks=True)
    unlike = []
    for name, pair in CHANGED.items():
        body = json.loads(re.sub(r"\{(\w+)\}", lambda it: names[it[1]], json.dumps(pair.body)))
        headers = {"If-Match": "*"} if "/memories/" in pair.path else {}
        answer = person.request(pair.method, pair.url(names), json=body, headers=headers)
        assert answer.is_success, (name, answer.text)
        described(name, answer)
        words = pair.words.format_map(names).split()
        where = ("-C", str(twin / "project"), "--home", str(twin / "home"))
        done = run.ok(*where, *words, "--json")
        one = _without_chance(answer.json(), {project: "P", home: "H"}, names)
        other = {twin / "project": "P", twin / "home": "H"}
        if one != _without_chance(pair.part(done.json), other, names):
            unlike.append(name)
    assert unlike == []


def _without_chance(data: object, folders: Mapping[Path, str], names: Names) -> object:
    """Return data without what differs each time: folders, times, and ids that are new."""
    text = json.dumps(data)
    for folder, short in folders.items():
        text = text.replace(str(folder), short)
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z?", "TIME", text)
    known = {*names.values()}
    return json.loads(
        re.sub(r'"[0-9a-z]{8}"', lambda it: it[0] if it[0][1:-1] in known else '"NEW"', text)
    )
