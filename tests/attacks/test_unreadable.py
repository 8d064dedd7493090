"""One file that cannot be read blanks nothing else: the rest is shown, and it is named."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from engramdown import Cortex, Engram
from engramdown.cortex.tools import use
from engramdown.errors import StoreError
from tests.cli.conftest import Done, Runner
from tests.cortex.person import Person
from tests.git.desk import Desk

RULE: Final = "Run the linter before pushing"
LESSON: Final = "The staging linter is reset at two"
KIND: Final = "Be kind to linters"
SOUL: Final = "Be brief."


def as_folder(path: Path) -> None:
    path.mkdir()


def as_loop(path: Path) -> None:
    path.symlink_to(path.name)


def as_stranger(path: Path) -> None:
    """Put a link there that leaves the scope."""
    path.symlink_to(path.parents[2] / "elsewhere.md")
    (path.parents[2] / "elsewhere.md").write_text("- Elsewhere\n", encoding="utf-8")


def as_pipe(path: Path) -> None:
    os.mkfifo(path)


def as_flood(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(40 * 1024 * 1024)


def as_forbidden(path: Path) -> None:
    path.write_text("- Forbidden\n", encoding="utf-8")
    path.chmod(0)


Spoil = Callable[[Path], None]
# Who is root is forbidden nothing.
SPOILT: Final = [as_folder, as_loop, as_stranger, as_pipe, as_flood] + [as_forbidden] * bool(
    os.geteuid()
)


@pytest.fixture(autouse=True)
def written(home: Person, there: Person) -> None:
    """Let something stand in every file of both scopes."""
    for person, rule in ((home, KIND), (there, RULE)):
        person.saves("rules.md", f"## Always\n\n- {rule}\n")
        person.saves("lessons.md", f"- {LESSON} in {person.memory.parts[-3]}\n")
    home.saves("profile.md", "- Name: Ada Linter\n")
    there.saves("soul.md", f"{SOUL}\n")


def spoilt(file: Path, spoil: Spoil) -> str:
    """Let a file be none that can be read, and return its name."""
    file.unlink(missing_ok=True)
    spoil(file)
    return file.name


@pytest.mark.parametrize("spoil", SPOILT)
@pytest.mark.parametrize("file", ["lessons.md", "rules.md", "soul.md"])
def test_what_can_be_read_is_shown_and_the_rest_is_named(
    there: Person, run: Runner, spoil: Spoil, file: str
) -> None:
    name = spoilt(there.memory / file, spoil)
    for command in ("context", "list", "recall linter", "recall linter --exact"):
        done = run(*command.split(" "))
        assert KIND in done.out, command
        assert (RULE in done.out) == (file != "rules.md"), command
        if command != "context" and file == "soul.md":
            # It is no memory, and not read by these.
            assert done.code == 0
            continue
        assert done.code == 3, done
        assert done.err.count(f"{name}:") == 1
        assert "elsewhere" not in done.out


@pytest.mark.parametrize("file", ["rules.md", "lessons.md", "profile.md"])
@pytest.mark.parametrize("command", ["context", "list", "recall linter", "stats", "list --json"])
def test_what_is_spoilt_at_home_takes_nothing_of_the_project(
    home: Person, run: Runner, file: str, command: str
) -> None:
    spoilt(home.memory / file, as_folder)
    done = run(*command.split(" "))
    assert done.code == 3
    assert file in done.err
    assert command == "stats" or RULE in done.out


def test_a_model_is_told_the_same(there: Person) -> None:
    spoilt(there.memory / "lessons.md", as_folder)
    cortex = Cortex.open()
    with cortex.session() as session:
        told = session.begin_turn("linter")
        assert RULE in told
        assert KIND in told
        assert RULE in use(cortex, "recall", {"query": "linter"}, session).text
    assert [each for each in cortex.scopes.unread() if "lessons.md" in each]
    assert [each for each in cortex.scopes.notices() if "lessons.md" in each]


def test_a_hook_tells_it_after_the_context(there: Person, run: Runner) -> None:
    spoilt(there.memory / "lessons.md", as_loop)
    event = json.dumps({"hook_event_name": "SessionStart", "source": "startup", "session_id": "s"})
    done = run("hook", stdin=event.encode())
    assert done.code == 0
    assert KIND in done.out
    assert RULE in done.out
    assert "lessons.md" in done.out.partition(RULE)[2]


def test_what_is_decided_does_not_take_unread_for_absent(there: Person) -> None:
    """A memory that cannot be read may say the contrary, and a tombstone may forbid it."""
    spoilt(there.memory / "lessons.md", as_folder)
    cortex = Cortex.open()
    receipt = cortex.propose(Engram("Deploy on Mondays", "always", "project", source="llm"))[0]
    assert receipt.action == "failed"
    with pytest.raises(StoreError, match=r"lessons\.md"):
        cortex.scopes.project_hc.entries()


def test_what_waits_for_approval_stays_hidden(
    home: Person, there: Person, run: Runner, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    (home.memory.parent / "config.toml").write_text('pulled = "review"\n', encoding="utf-8")
    desk = Desk(project, author="Mallory")
    desk.commit()
    spoilt(there.memory / "soul.md", as_folder)
    done = run("context")
    assert done.code == 3
    assert KIND in done.out
    assert RULE not in done.out
    spoilt(there.memory / "lessons.md", as_folder)
    done = run("list")
    assert (done.code, KIND in done.out) == (3, True)


def test_review_lists_what_git_brought_beside_a_broken_file(
    home: Person, there: Person, run: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    there.saves("topics/ci.md", "- Cached linters\n")
    Desk(there.memory.parent.parent, author="Mallory").commit()
    for file in ("pending.md", "topics/ci.md"):
        spoilt(there.memory / file, as_folder)
        for setting in ("news", "review"):
            (home.memory.parent / "config.toml").write_text(f'pulled = "{setting}"\n', "utf-8")
            run.ok("log", "user", "Hello")
            done = run("review", "--dry-run")
            assert (done.code, RULE in done.out, file in done.err) == (3, True, True), done
        counted = run("stats", "--json")
        assert (counted.code, counted.json["memories"] > 3) == (3, True), counted


def as_beyond_its_limit(path: Path) -> None:
    """Let the project itself say that so much is not read."""
    path.write_text("{}\n" * 100, encoding="utf-8")
    (path.parent / "config.toml").write_text("max_file_mb = 0.000001\n", encoding="utf-8")


BARE: Final = [as_beyond_its_limit, *(each for each in SPOILT if each is not as_flood)]


@pytest.mark.parametrize("spoil", BARE)
@pytest.mark.parametrize("command", ["context", "list", "recall linter", "hook"])
def test_where_nobody_can_say_what_git_brought_the_other_scope_is_shown(
    there: Person, run: Runner, monkeypatch: pytest.MonkeyPatch, spoil: Spoil, command: str
) -> None:
    """The journal says whose a memory is; a project that comes with none to read hides itself."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    (Path.home() / ".engramdown/config.toml").write_text('pulled = "review"\n', encoding="utf-8")
    scope = there.memory.parent
    Desk(scope.parent, author="Mallory").commit()
    spoilt(scope / "history.jsonl", spoil)
    event = json.dumps({"hook_event_name": "SessionStart", "source": "startup", "session_id": "s"})
    done = run(*command.split(" "), stdin=event.encode())
    assert KIND in done.out
    assert (RULE in done.out) == (command == "list" and spoil is not as_beyond_its_limit)
    assert {"history.jsonl", "rules.md"} & {*re.findall(r"[a-z]+\.\w+", done.out + done.err)}


# ---- the folder of a scope ----

COMMANDS: Final = [
    *("list", "context", "recall linter", "stats", "remember Deploy", "doctor", "init"),
    *("sleep", "sleep --dry-run", "worker --once", "worker --dry-run"),
]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("below", ["", "src"])
@pytest.mark.parametrize("loops", [True, False])
def test_the_folder_of_a_project_that_is_none_is_a_store_that_cannot_be_read(
    project: Path,
    run: Runner,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    below: str,
    *,
    loops: bool,
) -> None:
    moved(project / ".engramdown", loops=loops)
    (project / below).mkdir(exist_ok=True)
    monkeypatch.chdir(project / below)
    if (command, below) == ("init", "src"):
        return  # A project of its own begins there.
    done = run(*command.split(" "))
    assert done.code == 3, done
    assert ".engramdown" in (done.out if command == "doctor" else done.err)
    if command.split(" ", maxsplit=1)[0] in ("list", "context", "recall"):
        assert KIND in done.out


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("loops", [True, False])
def test_so_is_that_of_the_global_scope(
    isolated_home: Path, run: Runner, command: str, *, loops: bool
) -> None:
    moved(isolated_home / ".engramdown", loops=loops)
    done = run(*command.split(" "), *(["--global"] if command in ("init", COMMANDS[4]) else []))
    assert done.code == 3, done
    if command.split(" ", maxsplit=1)[0] in ("list", "context", "recall"):
        assert RULE in done.out


def moved(folder: Path, *, loops: bool) -> None:
    """Let something else stand in the place of a folder."""
    folder.rename(folder.with_name("away"))
    if loops:
        folder.symlink_to(folder.name)
    else:
        folder.write_text("a file\n", encoding="utf-8")


# ---- the settings of a project ----

WRONG: Final[dict[str | bytes, str]] = {
    'mode = "autopilot"\n\nlock_timeout = "soon"\n': "line 3",
    "[episodes]\nenabled = 7\n": "line 2",
    '[worker]\nagents = ["x"]\n': "line 2",
    'mode = "off"\nepisodes = { enabled = 7 }\n': "line 2",
    "# foo\n[foo]\nbar = 1\n": "line 2",
    'pulled = "news\n': "line 1",
    '# fine\nfoo.bar = "x"\n': "line 2",
    b'mode = "off"\n# \xff\n': "line 2",
}
LOOKING: Final = [
    *("list", "context", "context --explain", "recall linter", "recall linter --json", "stats"),
    *("show SESSION", "why SESSION", "history", "review", "review --json", "doctor", "log"),
    *("log list", "log show", "log tools --all", "log notes", "log card"),
    *("log grep linter", "skills", "skills list", "skills validate", "journal list", "list --json"),
    *("journal show", "journal search linter"),
]
CHANGING: Final = [
    *("remember Deploy", "remember Deploy --global", "sleep", "worker --once", "compact"),
    *("forget SESSION", "restore SESSION", "undo", "log user Hello", "journal write Hello"),
    *("review --all", "doctor --fix --yes", "skills delete deploying", "log start"),
    *("context --write AGENTS.md", "chat", "watch"),
]


@pytest.mark.slow
def test_broken_settings_of_a_project_take_no_memory_away(there: Person, run: Runner) -> None:
    """Looking answers with the strictest settings and code 3; nothing is changed."""
    run.ok("log", "user", "About the linter")
    key = run.ok("list", "--json").json[0]["id"]
    config = there.memory.parent / "config.toml"
    for said, line in WRONG.items():
        config.write_bytes(said if isinstance(said, bytes) else said.encode())
        _broken(run, key, line, LOOKING[:1] if said != next(iter(WRONG)) else LOOKING, CHANGING[:1])
    for spoil in SPOILT:
        if spoil is not as_stranger:  # A config.toml may be a link, as people with dotfiles have.
            config.unlink(missing_ok=True)
            spoil(config)
            _broken(run, key, "", ["list", "doctor", "log list", "skills"], CHANGING)
            config.rmdir() if config.is_dir() and not config.is_symlink() else None


def _broken(run: Runner, key: str, line: str, looking: list[str], changing: list[str]) -> None:
    wrong = []
    for command in [*looking, *changing]:
        done = run(*command.replace("SESSION", key).split(" "))
        name = command.split(" ", maxsplit=1)[0]
        said = done.out if command == "doctor" else done.err
        right = done.code == 3 and said.count("config.toml") == 1 and line in said
        if command in changing:
            right = right and not done.out
        elif name in ("list", "recall", "show", "why") or command == "context":
            right = right and KIND in done.out and (name != "list" or RULE in done.out)
        if not right:
            wrong.append((command, done))
    assert not wrong


# ---- each file, each way, each command ----

WAITS: Final = "Wait for the linter"
GONE: Final = "Retired linters rest"
TOPIC: Final = "Topical linters run"
SAID: Final = "What was said of the linter"
ELSEWHERE: Final = [KIND, "Ada Linter", f"Home {WAITS}", f"Home {GONE}"]
SAYS: Final = {
    "memory/rules.md": {RULE},
    "memory/lessons.md": {f"{LESSON} in project"},
    "memory/topics/deploying.md": {TOPIC},
    "memory/soul.md": {SOUL},
    "memory/archive.md": {GONE},
    "memory/pending.md": {WAITS},
    "episodes/one.jsonl": {SAID},
    # It tells of all of them, and may say anything.
    "history.jsonl": {RULE, f"{LESSON} in project", TOPIC, GONE, WAITS},
}
"""What stands in each file of the project."""
ALL_LOOKING: Final = [
    *LOOKING,
    *("show WAITS", "show GONE", "why WAITS", "why GONE", "show soul", "list --archived"),
    *("export one", "review --dry-run"),
]


def as_bytes(path: Path) -> None:
    """Put bytes there that are no UTF-8, where more would follow."""
    path.write_bytes(b"- \xff\xfe\xff\n")


@pytest.mark.slow
def test_no_broken_file_hides_more_than_itself(home: Person, there: Person, run: Runner) -> None:
    """A command that looks shows all that it showed; what it cannot, it names, with code 3."""
    for person, whose in ((home, "Home "), (there, "")):
        for file, text in (("pending.md", f"[ ] {whose}{WAITS}"), ("archive.md", whose + GONE)):
            person.saves(file, f"- {text}\n")
    there.saves("topics/deploying.md", f"- {TOPIC}\n")
    run.ok("log", "user", SAID, "--session", "one")
    run.ok("log", "tool_call", "{}", "--name", "search", "--session", "one")
    run.ok("journal", "write", "Looked at the linter")
    run.ok("remember", "Something else of the linter")
    ids = {
        "SESSION": run.ok("list", "--json").json[0]["id"],
        "WAITS": run.ok("review", "--json").json["pending"][1]["id"],
        "GONE": run.ok("list", "--archived", "--json").json[1]["id"],
    }

    def look(command: str) -> Done:
        return run(*(ids.get(word, word) for word in command.split(" ")))

    texts = {*ELSEWHERE, *(text for said in SAYS.values() for text in said)}
    whole = {command: look(command) for command in ALL_LOOKING}
    scope, kept = there.memory.parent, there.memory.parent.with_name("kept")
    shutil.copytree(scope, kept)
    spoils = [as_folder, as_loop, as_pipe, as_flood, as_bytes]
    wrong = []
    for at, file in enumerate(SAYS):
        path = scope / file
        for spoil in spoils:
            if spoil is as_flood and file.endswith(".jsonl"):
                continue  # No limit holds for what only grows.
            was = path.read_bytes()
            path.unlink()
            spoil(path)
            if spoil is as_bytes:
                path.write_bytes(path.read_bytes() + was)
            # Each command with each file; with each way those of which that file is.
            own = [each for each in whole if any(text in whole[each].out for text in SAYS[file])]
            for command in ALL_LOOKING if spoil is spoils[at % 3] else own[::2]:
                done, before = look(command), whole[command]
                shown = {text for text in texts if text in before.out}
                left = {text for text in shown if text in done.out}
                is_all = left == shown and done.code in (before.code, *[1] * (command == "doctor"))
                is_named = left >= shown - SAYS[file] and done.code == 3
                if not is_all and not (is_named and path.name in done.out + done.err):
                    wrong.append((file, spoil.__name__, command, shown - left, done))
            shutil.rmtree(scope)
            shutil.copytree(kept, scope)
    assert not wrong, "\n".join(map(str, wrong))
