"""Text in memory reaches no terminal as it is: no escape, no C1, no bidi, nothing invisible."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
import pytest

from engramdown import Cortex, EpisodicMemory
from engramdown.transcripts.summary_log import Gist, write_gist
from tests.cli.conftest import Done, Runner
from tests.cortex.person import Person

# A window title, a link, a cleared screen, C1's own introducer, a reversed line, hidden letters,
# a carriage return over what stands there, a bell and a backspace.
HOSTILE: Final = (
    "heron \x1b]0;owned\x07 \x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\ \x1b[2J \x9b31m "
    "\u202egnp.exe\u202c \u2066x\u2069 z\u200be\u2060r\ufeffo \U000e0069\U000e0067 \x7f\x08 end"
)
RAW: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2028\u2029\u2060-\u2069"
    "\ufeff\U000e0000-\U000e007f]"
)
OUR_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*m")

# Each with the arguments that let it show as much as it can. ID is an entry, WAITS a proposal,
# SESSION a transcript.
SHOWN: Final[dict[str, list[list[str]]]] = {
    "calls": [[]],
    "chat": [
        *(["--model", HOSTILE], ["--model", "x", "--base-url", HOSTILE], [HOSTILE]),
        ["--model", "ollama/x", "--session", HOSTILE],
    ],
    "compact": [["--dry-run"], ["--dry-run", "--json"]],
    "context": [
        *([], ["heron"], ["--json"], ["--explain"]),
        *(["--write", "AGENTS.md", *more] for more in (["--dry-run"], ["--json"], ["--check"])),
    ],
    "diff": [[], ["--json"]],
    "doctor": [[], ["--json"]],
    "edit": [["ID", "new words heron", "--dry-run"], ["ID", HOSTILE, "--dry-run", "--json"]],
    "export": [["SESSION", "-o", "page.md"], ["SESSION", "--json"]],
    "forget": [["ID", "--dry-run"], ["ID", "--dry-run", "--json"], [HOSTILE]],
    "history": [[], ["--json"], ["ID"]],
    "hook": [
        ["session-start"],
        ["prompt-submit", "--text", "heron"],
        ["stop", "--session", HOSTILE],
    ],
    "import": [["claude-code", HOSTILE]],
    "init": [[], ["--claude", "--dry-run"], ["--claude", "--dry-run", "--json"]],
    "journal": [
        *([], ["list"], ["list", "--json"], ["show"], ["show", "--json"], ["show", HOSTILE]),
        *(["search", "heron"], ["search", "heron", "--json"], ["search", HOSTILE]),
        *(["write", HOSTILE, "--dry-run"], ["write", HOSTILE, "--dry-run", "--json"]),
        ["write", "x", "--theme", HOSTILE, "--dry-run"],
    ],
    "list": [[], ["--json"], [HOSTILE], ["--topic", "ci"]],
    "log": [
        *(["list"], ["list", "--json"], ["show", "SESSION"], ["show", "SESSION", "--json"]),
        *(["show", "SESSION", "--whole"], ["show", HOSTILE], ["card", "SESSION"], ["tools"]),
        *(["user", HOSTILE], ["user", HOSTILE, "--session", HOSTILE]),
        *(["notes", "SESSION"], ["notes", "SESSION", "--json"], ["notes", HOSTILE]),
        *(["notes", "SESSION", "--history"], ["notes", "SESSION", "--history", "--json"]),
        *(["notes", "SESSION", f"--{deed}", HOSTILE, "--dry-run"] for deed in ("write", "append")),
        ["notes", "SESSION", "--restore", "1", "--dry-run", "--json"],
        *(["gists", "SESSION"], ["gists", "SESSION", "--json"], ["gists", HOSTILE]),
        *(["describe", "gist"], ["describe", "gist", "--json"], ["describe", HOSTILE]),
        *(["describe", "gist", "--session", HOSTILE], ["expand", "gist", "--cursor", HOSTILE]),
        *(["expand", "gist"], ["expand", "gist", "--json"], ["expand", HOSTILE]),
        *(["expand", HOSTILE, "--session", "SESSION"], ["expand", "gist", "--tokens", "9"]),
        *(["grep", "heron", "SESSION"], ["grep", "heron", "SESSION", "--json"]),
        *(["grep", HOSTILE, "SESSION"], ["grep", "heron", HOSTILE]),
        *(["compact", "SESSION", "--dry-run"], ["compact", "SESSION", "--dry-run", "--json"]),
        *(["compact", HOSTILE], ["compact", "SESSION", "--without-model"]),
    ],
    "migrate": [["--dry-run"], ["--dry-run", "--json"]],
    "recall": [["heron"], ["heron", "--json"], [HOSTILE], ["heron", "--topic", HOSTILE]],
    "remember": [[HOSTILE, "--dry-run"], [f"Always {HOSTILE}", "--dry-run", "--json"]],
    "restore": [["OLD", "--dry-run"], ["OLD", "--dry-run", "--json"]],
    "review": [[], ["--json"], ["WAITS", "--accept", "--dry-run"]],
    "skills": [
        *([], ["list"], ["list", "--json"], ["show", "birds"], ["show", "birds", "--json"]),
        *(["show", HOSTILE], ["validate"], ["validate", "--json"], ["validate", HOSTILE]),
        ["edit", "birds", "--description", HOSTILE, "--dry-run"],
        ["new", HOSTILE, "--description", HOSTILE, "--dry-run"],
        ["new", "more", "--description", HOSTILE, "--dry-run", "--json"],
        *(["import"], ["import", HOSTILE], ["import", ".engramdown/skills", "--dry-run"]),
        ["import", ".engramdown/skills", "--only", HOSTILE, "--dry-run", "--json"],
    ],
    "mcp": [["--print-config", "json"], ["--tools", HOSTILE], ["--http", "--host", HOSTILE]],
    "serve": [["--code"], ["--code", "--json"], ["--revoke", "--json"], ["--port", HOSTILE]],
    "show": [["ID"], ["ID", "--json"], [HOSTILE], ["soul"], ["profile", "--json"]],
    "sleep": [["--dry-run"], ["--dry-run", "--json"]],
    "stats": [[], ["--json"]],
    "undo": [["--dry-run"], ["--dry-run", "--json"], [HOSTILE]],
    "worker": [["--dry-run"], ["--dry-run", "--json"], ["--once"], ["--once", "--json"]],
    "why": [["ID"], ["ID", "--json"], [HOSTILE]],
}
# Run for long, ask a terminal, or show nothing of a store.
ASIDE: Final = {"tour", "watch", "merge-driver", "completion"}


def hostile_store(project: Path) -> dict[str, str]:
    """Fill a project with hostile text in every place; return the names of what is in it."""
    cortex = Cortex.open(project=project, mode="autopilot")
    entry = cortex.scopes.project_hc.encode_rule(HOSTILE, kind="always")
    gone = cortex.scopes.project_hc.encode_rule(f"gone {HOSTILE}", kind="never")
    cortex.scopes.project_hc.forget(gone.id)
    cortex.scopes.project_hc.encode_lesson(f"lesson {HOSTILE}", "ci")
    there = Person(project / ".engramdown")
    there.adds("lessons.md", f"- by hand {HOSTILE} <!-- from:x#1 expires:2020-01-01 -->")
    there.saves(
        "pending.md", f"# Pending\n\n- [ ] wait {HOSTILE} <!-- id:wwwwwwww kind:always -->\n"
    )
    there.saves("soul.md", f"# {HOSTILE}\n\n{HOSTILE}\n")
    skill = project / ".engramdown/skills/birds/SKILL.md"
    skill.parent.mkdir(parents=True)
    page = f"---\nname: birds\ndescription: {HOSTILE}\n{HOSTILE}: x\n---\n{HOSTILE}\n"
    skill.write_text(page, encoding="utf-8", newline="")
    memory = EpisodicMemory(project / ".engramdown")
    session = memory.start_session(title=HOSTILE)
    memory.log(session, "user", HOSTILE)
    memory.log(session, "tool_call", HOSTILE, name=HOSTILE, call="1")
    memory.log(session, "tool_result", HOSTILE * 40, name=HOSTILE, call="1", error=HOSTILE)
    memory.end(session)
    memory.close()
    hostile_summaries(project / ".engramdown", session)
    cortex.conversations.notes(session).write(f"heron {HOSTILE}")
    cortex.conversations.notes(session).write(HOSTILE)
    cortex.journal.write(HOSTILE, by="agent", session=session)
    today = cortex.journal.path(cortex.journal.today())
    with today.open("a", encoding="utf-8", newline="") as file:
        file.write(f"\n## {HOSTILE}\n\n{HOSTILE}\n")
    archived = there.reads("archive.md")
    found = re.search(r" id:(\w+)", archived)
    assert found
    return {"ID": entry.id, "OLD": found[1], "SESSION": session, "WAITS": "wwwwwwww"}


def hostile_summaries(root: Path, session: str) -> None:
    """Let somebody forge summaries: one of the lines of a session, and one of that."""
    ids = [each.id for each in EpisodicMemory(root).session(session).episodes]
    leaf = Gist("gist", HOSTILE, "leaf", 0, (1, 2, 3), HOSTILE, 9, model=HOSTILE)
    leaf = leaf._replace(first=ids[1], last=ids[3], earliest=HOSTILE, latest=HOSTILE)
    above = leaf._replace(id=HOSTILE, form="condensed", depth=1, sources=("gist",), first="")
    log = root / "gists" / f"{session}.jsonl"
    log.parent.mkdir()
    log.write_bytes(write_gist(leaf) + write_gist(above._replace(last="")))


def commands() -> Iterator[str]:
    """Yield the name of every command."""
    module = importlib.import_module("engramdown.cli.main")
    (group,) = {item for item in vars(module).values() if isinstance(item, click.Group)}
    yield from group.list_commands(click.Context(group))


def check(done: Done, what: str, *, colour: bool) -> None:
    for stream in (done.out, done.err):
        text = OUR_COLOURS.sub("", stream) if colour else stream
        found = RAW.search(text)
        assert found is None, (
            f"{what}: {found[0]!r} in {text[max(0, found.start() - 60) :][:120]!r}"
        )
        assert "Traceback" not in text


def test_every_command_is_tried() -> None:
    assert set(commands()) - ASIDE <= set(SHOWN)


@pytest.mark.slow
@pytest.mark.parametrize("colour", [False, True], ids=["plain", "colour"])
def test_no_command_shows_what_is_hostile_as_it_is(
    home: Person, project: Path, run: Runner, monkeypatch: pytest.MonkeyPatch, *, colour: bool
) -> None:
    assert home.memory.is_dir()
    monkeypatch.setenv("FORCE_COLOR" if colour else "NO_COLOR", "1")
    names = hostile_store(project)
    there = set(commands())
    for command, uses in SHOWN.items():
        for arguments in uses if command in there else ():
            words = [names.get(word, word) for word in arguments]
            done = run(command, *words)
            check(done, f"{command} {arguments}", colour=colour)
            if "--json" in words and done.out:
                json.loads(done.out)
