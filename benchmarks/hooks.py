"""What each hook costs its agent: a cold process, from nothing to its last byte.

One yardstick is a Python that imports what any command of ours cannot do without:
``python -c "import click, sqlite3"``. The other is what a person waits for at each prompt of a
shell that shows the state of git: an interactive bash starts and runs ``git status``. How long
that takes depends on what stands in ``~/.bashrc``; the pairs say what it was here.

The memory holds 300 rules and lessons, and the transcripts 2,000 lines. The agent's own transcript
has 400 lines, and two more before each end of a turn. The table says also what a hook adds to the
prompt, in tokens.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from benchmarks.measure import finish, ms, paired, table
from engramdown import Engram, EpisodicMemory, Hippocampus
from engramdown.tokens import estimate_tokens

__all__ = ["main"]

RUNS: Final = 15
ROOT: Final = Path(__file__).resolve().parent.parent
COMMAND: Final = "import sys; from engramdown.cli.entry import main; sys.exit(main())"
YARDSTICK: Final = (sys.executable, "-c", "import click, sqlite3")
PROMPT: Final = ("bash", "-ic", "git status --short --branch")
MEMORIES: Final = 300
LINES: Final = 2_000
OWN_LINES: Final = 400
_NO_BYTECODE: Final = "PYTHONDONTWRITEBYTECODE"
_COUNT: Final = itertools.count()

FAILED: Final = {
    "tool_name": "Bash",
    "tool_use_id": "t1",
    "tool_input": {"command": "make deploy"},
}
SUBJECTS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "session start": ("SessionStart", {"source": "startup"}),
    "session start, taken up again": ("SessionStart", {"source": "resume"}),
    "prompt, nothing to add": ("UserPromptSubmit", {"prompt": "thanks, go on"}),
    "prompt, three memories to add": (
        "UserPromptSubmit",
        {"prompt": "what about crane 17, crane 18 and crane 19 of the harbour?"},
    ),
    "tool call": ("PostToolUse", {**FAILED, "tool_response": {"stdout": "deployed\n" * 20}}),
    "tool call that failed": ("PostToolUseFailure", {**FAILED, "error": "Error: no such target"}),
    "end of a turn": ("Stop", {"stop_hook_active": False}),
    "session end": ("SessionEnd", {"reason": "other"}),
}


def main() -> None:
    """Time every hook against both yardsticks and print the table."""
    rows: list[tuple[str, ...]] = [
        ("a hook, cold", "ms", "python ms", "ratio", "shell ms", "ratio", "tokens")
    ]
    with tempfile.TemporaryDirectory() as folder:
        project = _make_project(Path(folder))
        rows += [_row(name, project) for name in SUBJECTS]
    note = (
        f'Medians of {RUNS} pairs each; python is `python -c "import click, sqlite3"`, shell is '
        f"`{PROMPT[0]} {PROMPT[1]} '{PROMPT[2]}'`. {MEMORIES} memories, {LINES:,} lines of "
        f"transcripts, {OWN_LINES} in the agent's own."
    )
    finish("hooks", f"{table(rows)}\n\n{note}")


def _row(name: str, project: Path) -> tuple[str, ...]:
    event, fields = SUBJECTS[name]
    hook = _hook(event, fields, project)
    said = hook()
    base, own, ratio = paired(_process(YARDSTICK, project), hook, RUNS)
    shell, _, share = paired(_process(PROMPT, project), hook, RUNS)
    tokens = str(estimate_tokens(said.decode()))
    return name, ms(own), ms(base), f"{ratio:.2f}", ms(shell), f"{share:.2f}", tokens


def _make_project(folder: Path) -> Path:
    project = folder / "project"
    store = Hippocampus(project / ".engramdown")
    store.encode(
        Engram(f"Crane {at} of the harbour lifts {at * 7} tons", "lesson", "project")
        for at in range(MEMORIES)
    )
    memory = EpisodicMemory(project / ".engramdown")
    for at in range(LINES):
        role = "assistant" if at % 2 else "user"
        memory.log(f"s{at // 50:03d}", role, f"line {at} about the pier number {at % 97}")
    memory.close()
    for at in range(OWN_LINES):
        _say(project, "assistant" if at % 2 else "user", f"line {at}")
    _process(("git", "init", "-q"), project)()
    return project


def _say(project: Path, role: str, text: str) -> None:
    at = next(_COUNT)
    record = {
        "type": role,
        "sessionId": "bench",
        "uuid": f"u{at}",
        "parentUuid": None,
        "timestamp": f"2026-03-01T{at // 3600:02}:{at // 60 % 60:02}:{at % 60:02}.000Z",
        "message": {"role": role, "content": text},
    }
    with (project.parent / "bench.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def _hook(event: str, fields: dict[str, Any], project: Path) -> Callable[[], bytes]:
    """Return a function that lets a hook run, and returns what it prints."""
    told = {
        "hook_event_name": event,
        "session_id": "bench",
        "transcript_path": str(project.parent / "bench.jsonl"),
        "cwd": str(project),
        **fields,
    }
    data = json.dumps(told).encode()
    run = _process((sys.executable, "-c", COMMAND, "hook"), project, data)

    def hook() -> bytes:
        if event in ("Stop", "SessionEnd"):
            _say(project, "user", "go on")
            _say(project, "assistant", "done")
        if "add" in fields.get("prompt", "") or event == "UserPromptSubmit":
            given = project / ".engramdown" / "cache" / "hooks" / "bench" / "given.json"
            given.unlink(missing_ok=True)
        return run()

    return hook


def _process(command: tuple[str, ...], project: Path, data: bytes = b"") -> Callable[[], bytes]:
    """Return a function that runs a program in ``project`` and fails with it."""
    home = str(project.parent / "home")
    kept = {name: value for name, value in os.environ.items() if name != _NO_BYTECODE}
    bytecode = str(project.parent / "bytecode")
    ours = {"ENGRAMDOWN_HOME": home, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": bytecode}
    env = kept | ours

    def run() -> bytes:
        done = subprocess.run(
            command, check=True, cwd=project, env=env, input=data, capture_output=True
        )
        return done.stdout

    return run


if __name__ == "__main__":
    main()
