"""What the start of a process may load: a list of modules, not a time.

A hook calls the command line on every prompt; benchmarks/startup.py says what that costs.
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from engramdown import EpisodicMemory

HEAVY: Final = frozenset(
    {"asyncio", "http", "instructor", "jinja2", "openai", "pydantic", "rich", "watchdog"}
)

WRITING: Final = frozenset(
    {
        "engramdown.secrets.redaction",
        "portalocker",
        *("engramdown.markdown.merge", "engramdown.language.meaning"),
        *(f"engramdown.hippocampus.{name}" for name in ("hand_edits", "transaction")),
    }
)

# What no recall needs that finds nothing new; dataclasses loads inspect, secrets all the digests.
UNASKED: Final = frozenset(
    {
        *("dataclasses", "hashlib", "inspect", "portalocker", "random", "secrets", "tomllib"),
        "engramdown.transcripts.sessions",
        *(f"engramdown.episodes.{name}" for name in ("forget",)),
    }
)

# Written at exit, because a command ends with SystemExit.
REPORT: Final = """
import atexit, sys
atexit.register(lambda: open({path!r}, "w", encoding="utf-8").write(" ".join(sys.modules)))
"""
COMMAND: Final = """
import sys
sys.argv = ["engramdown", *{arguments!r}]
from engramdown.cli.entry import main
sys.exit(main())
"""
RECALL: Final = COMMAND.format(arguments=["recall", "linter"])
INIT: Final = COMMAND.format(arguments=["init"])
FIRST: Final = """
from engramdown import EpisodicMemory
memory = EpisodicMemory(".engramdown")
assert memory.recall("linter")
memory.close()
"""
# As if there were more sessions than are looked at for every question.
LOOK: Final = """
from engramdown.transcripts import changes
changes.MANY = 0
changes.is_due = lambda looked, cost: True
"""
MODEL: Final = """
from engramdown.models.provider import InstructorModel
assert InstructorModel("openai/small").name
"""
WATCHING: Final = """
from engramdown import Cortex
Cortex.open().worker.watch(print)
"""
STATS: Final = COMMAND.format(arguments=["stats"])
LOG: Final = COMMAND.format(arguments=["log", "user", "Why is CI red?"])
HOOK: Final = {
    name: COMMAND.format(arguments=["hook", name, "--session", "s1", *more])
    for name, more in {
        "session-start": [],
        "prompt-submit": ["--text", "thanks, go on"],
        "post-tool": ["--tool", "bash", "--input", "ls", "--output", "a"],
        "stop": ["--text", "done"],
    }.items()
}
# The same as an agent says them.
TOLD: Final[dict[str, dict[str, object]]] = {
    "session-start": {"hook_event_name": "SessionStart", "source": "startup"},
    "prompt-submit": {"hook_event_name": "UserPromptSubmit", "prompt": "thanks, go on"},
    "post-tool": {
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "tool_response": {"stdout": "a"},
    },
    "stop": {"hook_event_name": "Stop", "stop_hook_active": False},
    "session-end": {"hook_event_name": "SessionEnd", "reason": "other"},
}
# What decides on new memory, ranks it, or reads archives and options: no hook without its reason.
NEVER_IN_HOOK: Final = (
    *("click", "difflib", "zipfile", "engramdown.cli.main"),
    *("engramdown.gate.gate", "engramdown.recall.memories", "engramdown.language.similarity"),
)
# What only some hooks need: memory itself, what renders it, what decides on new memory.
NOT_IN_HOOK: Final = {
    "session-start": ("engramdown.gate.intake", "engramdown.recall.episodes", "sqlite3"),
    "prompt-submit": ("engramdown.cortex", "engramdown.hippocampus", "sqlite3", "jinja2"),
    "post-tool": ("engramdown.cortex", "engramdown.hippocampus", "sqlite3", "jinja2", "tempfile"),
    "stop": ("engramdown.hippocampus", "engramdown.importers", "sqlite3", "jinja2"),
}


def packages_loaded_by(code: str, env: dict[str, str], folder: Path) -> set[str]:
    """Return the top-level packages that ``code`` loads and an empty program does not."""
    loaded = _loaded(code, env, folder) - _loaded("", env, folder)
    return {name.partition(".")[0] for name in loaded}


def _loaded(code: str, env: dict[str, str], folder: Path, given: bytes = b"") -> set[str]:
    report = folder / "modules.txt"
    subprocess.run(
        [sys.executable, "-c", REPORT.format(path=str(report)) + code],
        check=True,
        cwd=folder,
        env=env,
        input=given,
        stdout=subprocess.DEVNULL,
    )
    return set(report.read_text(encoding="utf-8").split())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Make a project with one rule in it."""
    memory = tmp_path / ".engramdown" / "memory"
    memory.mkdir(parents=True)
    rule = "## Always\n\n- Run the linter before pushing\n"
    (memory / "rules.md").write_text(rule, encoding="utf-8")
    return tmp_path


def test_importing_the_package_loads_nothing_heavy(
    child_env: dict[str, str], tmp_path: Path
) -> None:
    loaded = packages_loaded_by("import engramdown", child_env, tmp_path)
    assert "engramdown" in loaded
    assert loaded & (HEAVY | {"click", "sqlite3"}) == set()


def test_what_could_be_watched_loads_nothing_of_what_watches(
    child_env: dict[str, str], project: Path
) -> None:
    loaded = packages_loaded_by(WATCHING, child_env, project)
    assert "engramdown" in loaded
    assert loaded & HEAVY == set()


def test_recall_loads_nothing_heavy(child_env: dict[str, str], project: Path) -> None:
    loaded = packages_loaded_by(RECALL, child_env, project)
    assert "click" in loaded
    assert loaded & HEAVY == set()


def test_recall_loads_nothing_that_only_writing_needs(
    child_env: dict[str, str], project: Path
) -> None:
    loaded = _loaded(RECALL, child_env, project)
    assert "engramdown.hippocampus.snapshot" in loaded
    # What is listed says what it cites to nobody.
    assert loaded & (WRITING | {"engramdown.hippocampus.citations"}) == set()


@pytest.mark.parametrize("command", ["list", "review"])
def test_what_lists_memory_does_not_load_what_compares_it(
    child_env: dict[str, str], project: Path, command: str
) -> None:
    loaded = _loaded(COMMAND.format(arguments=[command]), child_env, project)
    assert "engramdown.gate.scopes" in loaded
    assert "engramdown.language.meaning" not in loaded


def test_making_a_scope_looks_for_no_secrets(child_env: dict[str, str], tmp_path: Path) -> None:
    loaded = _loaded(INIT, child_env, tmp_path)
    assert "engramdown.hippocampus.transaction" in loaded
    assert "engramdown.secrets.redaction" not in loaded


@pytest.mark.parametrize("before", ["", LOOK], ids=["some", "a look at all"])
def test_a_first_recall_loads_nothing_that_it_does_not_ask(
    child_env: dict[str, str], project: Path, before: str
) -> None:
    with closing(EpisodicMemory(project / ".engramdown")) as memory:
        memory.log("monday", "user", "Which linter do we use?")
        assert memory.recall("linter")
    loaded = _loaded(before + FIRST, child_env, project)
    assert "engramdown.recall.episodes" in loaded
    assert loaded & (HEAVY | UNASKED) == set()


def test_comparing_memories_reads_no_forms_of_words(
    child_env: dict[str, str], project: Path
) -> None:
    code = "import engramdown.consolidation.plan_rules"
    loaded = _loaded(code, child_env, project)
    assert "engramdown.consolidation.information_loss" in loaded
    assert "engramdown.consolidation.sentences" not in loaded


def test_recording_a_line_loads_nothing_of_memory(child_env: dict[str, str], project: Path) -> None:
    loaded = _loaded(LOG, child_env, project)
    assert "engramdown.transcripts.session_log" in loaded
    packages = {name.partition(".")[0] for name in loaded}
    assert packages & (HEAVY | {"portalocker", "secrets", "sqlite3", "tomllib"}) == set()
    memory = ("engramdown.cortex", "engramdown.hippocampus", "tempfile")
    assert [name for name in loaded if name.startswith(memory)] == []


@pytest.mark.parametrize("name", HOOK)
def test_a_hook_loads_nothing_that_it_does_not_need(
    child_env: dict[str, str], project: Path, name: str
) -> None:
    loaded = _loaded(HOOK[name], child_env, project)
    assert "engramdown.integrations.claude_code.events" in loaded
    packages = {each.partition(".")[0] for each in loaded}
    assert packages & (HEAVY - {"jinja2"}) == set()
    assert [each for each in loaded if each.startswith(NOT_IN_HOOK[name])] == []


@pytest.mark.parametrize("name", TOLD)
def test_a_hook_that_an_agent_calls_loads_no_command_line(
    child_env: dict[str, str], project: Path, name: str
) -> None:
    told = {"session_id": "s1", "cwd": str(project), **TOLD[name]}
    loaded = _loaded(
        COMMAND.format(arguments=["hook"]), child_env, project, json.dumps(told).encode()
    )
    assert "engramdown.integrations.claude_code.events" in loaded
    assert [each for each in loaded if each.startswith(NEVER_IN_HOOK)] == []
    assert [each for each in loaded if each.startswith(NOT_IN_HOOK.get(name, ()))] == []


def test_a_server_loads_no_room_before_a_page_needs_it(
    child_env: dict[str, str], project: Path
) -> None:
    rooms = ("consolidation", "context", "conversation", "git", "models", "recall.query", "sleep")
    loaded = _loaded("import engramdown.web.app", child_env, project)
    assert "uvicorn" in loaded
    assert loaded & {f"engramdown.{room}" for room in [*rooms, "gate.gate"]} == set()


def test_naming_a_model_loads_nothing_of_a_provider(
    child_env: dict[str, str], tmp_path: Path
) -> None:
    loaded = packages_loaded_by(MODEL, child_env, tmp_path)
    assert loaded & (HEAVY | {"anthropic"}) == set()


def test_counting_what_models_were_asked_loads_nothing_of_a_provider(
    child_env: dict[str, str], project: Path
) -> None:
    loaded = packages_loaded_by(STATS, child_env, project)
    assert "jinja2" in loaded
    assert loaded & {"anthropic", "asyncio", "instructor", "openai", "pydantic"} == set()


def test_a_heavy_import_is_seen(child_env: dict[str, str], tmp_path: Path) -> None:
    assert packages_loaded_by("import asyncio", child_env, tmp_path) & HEAVY == {"asyncio"}
