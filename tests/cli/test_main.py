"""The program as a whole: help, places, errors in one line, exit codes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from engramdown import __version__, errors
from engramdown.cli import main as program_module
from engramdown.cli.main import main, program
from engramdown.cli.output import PIPE_CLOSED, STOPPED
from engramdown.errors import (
    AmbiguousIdError,
    ChangedError,
    EngramdownError,
    EntryNotFoundError,
    EpisodeNotFoundError,
    GistNotFoundError,
    GitError,
    InvalidEngramError,
    InvalidNoteError,
    InvalidSessionError,
    InvalidSkillError,
    LockTimeoutError,
    MemoryCommandError,
    MidTurnError,
    ModelError,
    NotesChangedError,
    PutRefusedError,
    SessionNotFoundError,
    SettingsError,
    SkillChangedError,
    SkillExistsError,
    SkillNotFoundError,
    SkillRefusedError,
    SpendError,
    StoreError,
    UndoRefusedError,
    UnfitFileError,
    UnusableAnswerError,
)
from tests.cli.conftest import Runner
from tests.tables import every

SHORT_HELP = {
    name: does for rows in program_module.COMMANDS.values() for name, (_, does) in rows.items()
}


@pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",)])
def test_help_lists_every_command_with_a_sentence(arguments: tuple[str, ...], run: Runner) -> None:
    done = run.ok(*arguments)
    for name, sentence in SHORT_HELP.items():
        assert f"  {name} " in done.out
        assert sentence in done.out


def test_help_fits_into_80_columns(run: Runner) -> None:
    for name in ("", *SHORT_HELP):
        done = run.ok(*filter(None, [name]), "--help")
        assert all(len(row) <= 80 for row in done.out.split("\n")), name


def test_version_says_the_version(run: Runner) -> None:
    assert run.ok("--version").out == f"engramdown {__version__}\n"


@pytest.mark.parametrize("arguments", ["--version", "--help"])
def test_help_and_version_load_no_command(arguments: str, child_env: dict[str, str]) -> None:
    code = (
        "import sys\n"
        "from engramdown.cli.main import main\n"
        f"main([{arguments!r}])\n"
        "heavy = ('jinja2', 'sqlite3', 'engramdown.cortex', 'engramdown.hippocampus')\n"
        "sys.exit(str([name for name in heavy if name in sys.modules] or ''))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=child_env,
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    assert done.stderr.strip() == ""


@pytest.mark.parametrize(
    "arguments, complaint",
    [
        pytest.param(
            ["remembr"], "engramdown: no command 'remembr'; did you mean 'remember'?", id="typo"
        ),
        pytest.param(["xyzzy"], "engramdown: no command 'xyzzy'; see ", id="no-command"),
        pytest.param(["--wrong"], "engramdown: no such option", id="option"),
        pytest.param(["show"], "engramdown show: missing argument", id="argument"),
        pytest.param(["recall"], "engramdown recall: nothing to look for; give WORDS", id="words"),
        pytest.param(["list", "--kind", "x"], "engramdown list: invalid value", id="choice"),
        pytest.param(["recall", "-n", "0", "x"], "engramdown recall: invalid value", id="range"),
        pytest.param(["-C", "nowhere", "list"], "engramdown: invalid value for '-C'", id="place"),
        pytest.param(["--mode", "maybe", "list"], "engramdown: invalid value", id="mode"),
    ],
)
def test_wrong_usage_is_one_line_that_points_at_the_help(
    arguments: list[str], complaint: str, run: Runner
) -> None:
    done = run(*arguments)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith(complaint)
    assert done.err.endswith("--help`\n")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments, real",
    [
        (["add", "Always use uv"], "remember"),
        (["search", "uv"], "recall"),
        (["get", "ID"], "show"),
        (["ls"], "list"),
        (["skills", "ls"], "skills list"),
        (["log", "ls"], "log list"),
    ],
)
def test_a_name_of_other_programs_works_and_the_real_one_is_said(
    arguments: list[str], real: str, memory: Path, run: Runner
) -> None:
    assert memory.is_dir()
    entry = run.remember("Never use pip, use uv")
    run.ok("log", "user", "Hello")
    words = [entry if word == "ID" else word for word in arguments]
    name = arguments[1] if len(real.split()) > 1 else arguments[0]
    done = run.ok(*words, "--json")
    assert done.json
    assert f"note: {name} is `engramdown {real}` here\n" in done.err
    assert f"  {name} " not in run.ok("--help").out


@pytest.mark.parametrize("name", ["rm", "delete", "remove", "erase"])
def test_what_takes_away_is_named_and_not_run(name: str, memory: Path, run: Runner) -> None:
    entry = run.remember("Never use pip")
    before = (memory / "rules.md").read_bytes()
    done = run(name, entry)
    assert (done.code, done.out) == (2, "")
    assert "to remove something, use `engramdown forget`" in done.err
    done = run("log", name, entry)
    assert done.code == 2
    assert "`engramdown log purge`" in done.err
    assert run("journal", name, "today").code == 2
    assert (memory / "rules.md").read_bytes() == before


def misspelt(name: str) -> set[str]:
    """Return what comes of a letter that is missing, twice, or in the wrong place."""
    cut = {name[:at] + name[at + 1 :] for at in range(len(name))}
    twice = {name[:at] + name[at] + name[at:] for at in range(len(name))}
    swapped = {name[:at] + name[at + 1] + name[at] + name[at + 2 :] for at in range(len(name) - 1)}
    return (cut | twice | swapped) - {name, ""}


def test_no_typing_error_leads_to_what_takes_something_away(run: Runner) -> None:
    for group, names in (((), ("forget", "undo")), (("log",), ("purge", "redact", "exclude"))):
        for wrong in {word for name in names for word in misspelt(name)}:
            done = run(*group, wrong, "x")
            assert done.code in (1, 2)
            assert not [name for name in names if re.search(rf"\b{name}\b", done.err)], done
    for options in (["forget", "x", "--al"], ["review", "--declin", "x"], ["compact", "--ye"]):
        assert "--al" not in run(*options).err.replace(options[-1], "").replace("--al ", "")
        assert not re.search(r"--(all|decline|yes)\b", run(*options).err)


def test_a_dash_before_words_is_no_option(memory: Path, run: Runner) -> None:
    assert memory.is_dir()
    texts = ("-v is verbose", "--no-verify is never used", "-\ttab", "- one\n- two")
    for text, kept in (("- x", "x"), *zip(texts, texts, strict=True)):
        entry = run.remember(text)
        assert run.ok("show", entry, "--json").json["text"] == kept
    entry = run.remember("--lesson", "- before", "and behind")
    assert run.ok("show", entry, "--json").json["text"] == "before and behind"
    run.ok("edit", entry, "- other words")
    assert run.ok("show", entry, "--json").json["text"] == "- other words"
    assert "verbose" in run.ok("recall", "-v is verbose").out
    run.ok("log", "user", "- said so")
    assert "- said so" in run.ok("log", "show").out
    assert run("remember", "--alway", "Use uv").code == 2
    assert run("remember", "x", "--topic=a b c").code in (0, 2)
    assert "--topic" not in run("list").out


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the words that call each command, groups first."""
    for name in group.list_commands(click.Context(group)):
        yield (*path, name)
        found = group.get_command(click.Context(group), name)
        if isinstance(found, click.Group):
            yield from commands(found, (*path, name))


# An agent takes any other code of a hook for trouble of its own: it has none, and no JSON.
@every("words", [words for words in [(), *commands(program)] if words != ("hook",)])
def test_wrong_usage_answers_in_json_where_json_is_asked_for(
    words: tuple[str, ...], memory: Path, run: Runner
) -> None:
    assert memory.is_dir()
    for wrong in ((*words, "--json", "--no-such-option"), (*words, "--no-such-option", "--json")):
        done = run(*wrong)
        assert done.code == 2, done
        assert done.json["code"] == 2
        assert done.json["error"]
        assert done.json["error"] in done.err
    assert run(*words, "--no-such-option").out == ""


@pytest.mark.usefixtures("memory")
def test_other_wrong_usage_answers_in_json_too(run: Runner) -> None:
    for words in (["remembr"], ["rm", "x"], ["recall"], ["list", "--kind", "x"], ["edit"]):
        assert run(*words, "--json").json["code"] == 2
    assert run("remember", "x", "--expires", "soon", "--json").json["code"] == 2
    home = Path(os.environ["ENGRAMDOWN_HOME"])
    home.mkdir()
    (home / "config.toml").write_text('mode = "maybe"\n', encoding="utf-8")
    assert "autopilot" in run("list", "--json").json["error"]
    assert run("list", "--", "--json").out == ""


def test_without_memory_the_next_step_is_said(run: Runner) -> None:
    for arguments in (["list"], ["recall", "x"], ["context"], ["stats"], ["history"]):
        done = run(*arguments)
        assert done.code == 1
        assert "run `engramdown init`" in done.err
        assert done.err.count("\n") == 1


def test_a_wrong_setting_at_home_is_wrong_usage(isolated_home: Path, run: Runner) -> None:
    run.ok("init", "--global")
    (isolated_home / ".engramdown" / "config.toml").write_text('mode = "maybe"\n', encoding="utf-8")
    done = run("list")
    assert done.code == 2
    assert "config.toml" in done.err
    assert "autopilot, copilot, off" in done.err


def test_a_store_that_cannot_be_read_is_code_3(memory: Path, run: Runner) -> None:
    (memory / "rules.md").unlink()
    (memory / "rules.md").mkdir()
    done = run("list")
    assert done.code == 3
    assert "rules.md" in done.err
    assert done.err.count("\n") == 1


def test_a_text_that_cannot_be_kept_is_wrong_usage(memory: Path, run: Runner) -> None:
    assert memory.is_dir()
    done = run("remember", " ")
    assert done.code == 2
    assert done.err == "engramdown: text: is empty; give at least one character\n"


def test_a_project_is_found_from_a_folder_below(memory: Path, run: Runner) -> None:
    below = memory.parent.parent / "src" / "deep"
    below.mkdir(parents=True)
    run.remember("Never push to main")
    assert len(run.ok("-C", str(below), "list", "--json").json) == 1


def test_the_global_scope_can_be_elsewhere(memory: Path, run: Runner, tmp_path: Path) -> None:
    assert memory.is_dir()
    home = tmp_path / "elsewhere"
    run.ok("--home", str(home), "remember", "--global", "Never push to main")
    assert "Never push" in (home / "memory" / "rules.md").read_text(encoding="utf-8")
    assert run("list").code == 1


def test_the_global_scope_alone_can_be_read(run: Runner) -> None:
    run.ok("remember", "--global", "Never push to main")
    assert "Never push to main" in run.ok("list").out
    assert "Never push to main" in run.ok("recall", "push").out
    assert "Never push to main" in run.ok("context").out


def test_a_mode_decides_what_is_written(memory: Path, run: Runner) -> None:
    assert memory.is_dir()
    done = run("--mode", "off", "remember", "Never push to main")
    assert done.code == 1
    assert done.err.startswith("engramdown: Not written: ")


def test_ctrl_c_is_one_line_and_code_130(
    run: Runner, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert memory.is_dir()

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("engramdown.gate.scopes.Scopes.recall_hits", stop)
    done = run("recall", "x")
    assert (done.code, done.err) == (STOPPED, "\nStopped.\n")


WAITING = """
import sys, time
from engramdown.cli.main import main

class Slow:
    def read(self):
        print("reading", flush=True)
        time.sleep(60)

class Stdin:
    buffer = Slow()

sys.stdin = Stdin()
sys.exit(main(["remember", "-"]))
"""


def test_an_interrupt_stops_a_process_without_a_traceback(
    memory: Path, child_env: dict[str, str]
) -> None:
    assert memory.is_dir()
    with subprocess.Popen(
        [sys.executable, "-c", WAITING],
        env=child_env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "reading\n"
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=60)
    assert process.returncode == STOPPED
    assert complaint == "\nStopped.\n"


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["list"], ["--help"], ["list", "--json"], ["context"]])
def test_a_closed_pipe_is_no_error(
    arguments: list[str], memory: Path, run: Runner, child_env: dict[str, str]
) -> None:
    assert memory.is_dir()
    run.remember("Never push to main")
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        ["engramdown", *arguments],
        env=child_env,
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
        encoding="utf-8",
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (PIPE_CLOSED, "")


def test_a_full_disk_behind_stdout_is_an_error(
    memory: Path, run: Runner, child_env: dict[str, str]
) -> None:
    assert memory.is_dir()
    run.remember("Never push to main")
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            ["engramdown", "list"],
            env=child_env,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            encoding="utf-8",
        )
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1


def test_both_names_run(memory: Path, child_env: dict[str, str]) -> None:
    assert memory.is_dir()
    for name in ("engramdown", "egd"):
        done = subprocess.run(
            [name, "list", "--kind"],
            env=child_env,
            capture_output=True,
            check=False,
            encoding="utf-8",
        )
        assert done.returncode == 2
        assert f"see `{name} list --help`" in done.stderr


def test_an_error_of_several_lines_becomes_one(
    run: Runner, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert memory.is_dir()

    def fail(*_: object, **__: object) -> None:
        raise EngramdownError("one\ntwo \x1b[31mthree")

    monkeypatch.setattr("engramdown.gate.scopes.Scopes.recall_hits", fail)
    done = run("recall", "x")
    assert done.code == 1
    assert done.err == "engramdown: one two ␛[31mthree\n"


ERRORS = (
    EngramdownError("x"),
    InvalidEngramError("kind", "x"),
    InvalidNoteError("text", "x"),
    InvalidSessionError("../x", "is no file name", "x"),
    SettingsError("config.toml", "mode", "x"),
    GitError("x"),
    MidTurnError("x"),
    ModelError("x"),
    SpendError("x"),
    UnusableAnswerError("x"),
    StoreError("x"),
    LockTimeoutError("/memory/.lock", 1.0),
    EntryNotFoundError("k3v9q2ht"),
    SessionNotFoundError("s", "/episodes"),
    EpisodeNotFoundError("s", [7]),
    GistNotFoundError("s", "g1"),
    AmbiguousIdError("k", ["k3", "k4"]),
    UndoRefusedError("x"),
    InvalidSkillError("label", "x"),
    SkillNotFoundError("maps"),
    SkillExistsError("/skills/maps/SKILL.md", "maps"),
    ChangedError("/skills/maps/SKILL.md"),
    SkillChangedError("/skills/maps/SKILL.md"),
    NotesChangedError("/working/s.md"),
    SkillRefusedError("GitHub token"),
    MemoryCommandError("x"),
    PutRefusedError(["x"]),
    UnfitFileError("AGENTS.md", "x"),
)


def test_every_error_has_the_code_that_the_docs_tell(
    run: Runner, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert memory.is_dir()
    public = {name for name in vars(errors) if name.endswith("Error") and name[0] != "_"}
    assert {type(error).__name__ for error in ERRORS} == public
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text("utf-8")
    told = re.findall(r"^\| ([0-9]+) \| [^|]* \| (`.*`) \|$", page, re.MULTILINE)
    codes = {name.strip("`"): int(code) for code, names in told for name in names.split(", ")}
    for error in ERRORS:

        def fail(*_: object, error: EngramdownError = error, **__: object) -> None:
            raise error

        monkeypatch.setattr("engramdown.gate.scopes.Scopes.recall_hits", fail)
        done = run("recall", "x")
        assert (type(error).__name__, done.code) == (
            type(error).__name__,
            codes[type(error).__name__],
        )
        assert done.err == f"engramdown: {error}\n"


def test_the_program_can_be_run_by_its_name_only() -> None:
    assert program.name == "engramdown"
    assert main(["--version"]) == 0


def test_a_working_directory_that_is_gone_is_said(
    run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    for arguments in (["list"], ["init"], ["remember", "Never push"]):
        done = run(*arguments)
        assert done.code == 1
        assert done.err.startswith("engramdown: the working directory is gone; ")
