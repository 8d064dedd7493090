"""engramdown doctor, as a person and as a program run it."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest

from engramdown.cli import doctor
from engramdown.episodes.memory import EpisodicMemory
from engramdown.settings import EpisodeSettings
from tests.cli.conftest import Runner

BROKEN: Final = (
    "# Lessons\n\n"
    "- Ours <!-- id:k3v9q2ht source:llm confidence:High -->\n"
    "- Closed <!-- id:7m0xw4ce source:llm expires:2020-01-01 -->\n"
    "- Mine\n"
    "- mine!\n"
)


@pytest.fixture
def broken(memory: Path, run: Runner) -> Path:
    """Stand in a project with something to mend, and return its lessons."""
    lessons = memory / "lessons.md"
    lessons.write_text(BROKEN, encoding="utf-8")
    run.ok("list")
    return lessons


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sit at a terminal."""
    monkeypatch.setattr("engramdown.cli.output.is_person", lambda: True)


def test_without_memory_it_says_what_to_do(run: Runner) -> None:
    done = run("doctor")
    assert done.code == 1
    assert "run `engramdown init`" in done.err


@pytest.mark.usefixtures("memory")
def test_what_is_well_is_said_to_be(run: Runner) -> None:
    done = run.ok("doctor")
    assert done.out == "Nothing is wrong in 2 files.\n"


def test_notes_are_told_and_need_nothing(run: Runner, memory: Path) -> None:
    (memory / "notes.txt").touch()
    done = run.ok("doctor")
    assert "unknown-file" in done.out
    assert done.out.endswith("Nothing is wrong in 2 files; 1 note.\n")


def test_findings_come_with_their_place_and_what_to_do(run: Runner, broken: Path) -> None:
    done = run("doctor")
    assert done.code == 1
    lines = done.out.split("\n")
    assert lines[0] == "this project  .engramdown/memory"
    assert lines[1].split(maxsplit=2)[:2] == ["lessons.md:3", "metadata-value"]
    assert lines[lines.index("What to do") + 1].startswith("metadata-value")
    assert lines[-2] == "3 warnings; `engramdown doctor --fix` can mend 2 of them."
    assert broken.read_text(encoding="utf-8") == BROKEN


def test_looking_writes_nothing(run: Runner, memory: Path) -> None:
    (memory / "lessons.md").write_text(BROKEN, encoding="utf-8")
    before = {path: path.read_bytes() for path in memory.parent.rglob("*") if path.is_file()}
    run("doctor", "--json")
    after = {path: path.read_bytes() for path in memory.parent.rglob("*") if path.is_file()}
    assert after == before


def test_json_says_everything(run: Runner, broken: Path) -> None:
    done = run("doctor", "--json")
    assert done.code == 1
    data = done.json
    assert (data["healthy"], data["errors"], data["warnings"], data["notes"]) == (False, 0, 3, 0)
    assert (data["fixable"], data["dry_run"], data["changes"]) == (2, False, [])
    (scope,) = data["scopes"]
    assert (scope["scope"], scope["folder"]) == ("project", str(broken.parent))
    assert scope["findings"][0] == {
        "file": "lessons.md",
        "line": 3,
        "code": "metadata-value",
        "level": "warning",
        "message": "confidence:High is not one of high, medium, low, so it is not read",
        "advice": "rewrite the comment, or delete it to make the line your own",
        "fixable": True,
        "path": str(broken),
    }


def test_a_dry_run_shows_the_diff_and_writes_nothing(run: Runner, broken: Path) -> None:
    done = run("doctor", "--dry-run")
    assert done.code == 1
    assert done.out.startswith("Dry run: nothing is written.\n--- ./.engramdown/memory/")
    assert "+- Ours <!-- id:k3v9q2ht source:llm confidence:high -->" in done.out
    assert "-- Closed" in done.out
    assert "Mended" not in done.out
    assert broken.read_text(encoding="utf-8") == BROKEN
    data = run("doctor", "--fix", "--dry-run", "--json").json
    assert data["dry_run"]
    assert [Path(change["path"]).name for change in data["changes"]] == ["lessons.md", "archive.md"]


def test_without_a_terminal_nothing_is_mended_unasked(run: Runner, broken: Path) -> None:
    for options in (["--fix"], ["--fix", "--json"]):
        done = run("doctor", *options)
        assert done.code == 1
        assert "`engramdown doctor --fix --yes`" in done.err
    assert broken.read_text(encoding="utf-8") == BROKEN


def test_mending_leaves_what_a_person_wrote(run: Runner, broken: Path) -> None:
    done = run("doctor", "--fix", "--yes")
    assert done.code == 1
    assert "Mended 2 files" in done.out
    assert done.out.endswith("1 warning.\n")
    assert broken.read_text(encoding="utf-8") == (
        "# Lessons\n\n- Ours <!-- id:k3v9q2ht source:llm confidence:high -->\n- Mine\n- mine!\n"
    )
    again = run("doctor", "--fix")
    assert doctor.NOTHING_TO_MEND in again.out


def test_all_mended_is_a_success(run: Runner, broken: Path) -> None:
    broken.write_text(BROKEN.replace("- mine!\n", ""), encoding="utf-8")
    assert run.ok("doctor", "--fix", "--yes", "--json").json["healthy"]


@pytest.mark.usefixtures("person")
def test_a_person_is_asked(run: Runner, broken: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([False, True])
    monkeypatch.setattr("click.confirm", lambda _: next(answers))
    assert run("doctor", "--fix").code == 1
    assert broken.read_text(encoding="utf-8") == BROKEN
    assert "Mended 2 files" in run("doctor", "--fix").out
    assert broken.read_text(encoding="utf-8") != BROKEN


@pytest.mark.usefixtures("person")
def test_what_changes_while_a_person_thinks_is_not_mended(
    run: Runner, broken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = BROKEN.replace("Ours", "Ours now")

    def save_and_confirm(_: str) -> bool:
        broken.write_text(saved, encoding="utf-8")
        return True

    monkeypatch.setattr("click.confirm", save_and_confirm)
    done = run("doctor", "--fix")
    assert done.code == 1
    assert "the files changed meanwhile" in done.err
    assert "- Closed <!-- id:7m0xw4ce" in broken.read_text(encoding="utf-8")


def test_a_file_that_cannot_be_read_is_another_exit_code(run: Runner, memory: Path) -> None:
    (memory / "topics").mkdir(exist_ok=True)
    (memory / "topics" / "ci.md").mkdir()
    done = run("doctor")
    assert done.code == 3
    assert "topics/ci.md  not-a-file" in done.out


def test_wrong_settings_are_a_finding(run: Runner, memory: Path) -> None:
    (memory.parent / "config.toml").write_text('mode = "fast"\n', encoding="utf-8")
    (memory / "rules.md").write_bytes(b"x" * 100)
    done = run("doctor")
    assert done.code == 3
    assert "config.toml  settings  mode: 'fast' is not one of" in done.out


def test_the_limit_of_the_settings_counts(run: Runner, memory: Path) -> None:
    (memory.parent / "config.toml").write_text("max_file_mb = 0.001\n", encoding="utf-8")
    (memory / "lessons.md").write_bytes(b"- x\n" * 1000)
    done = run("doctor", "--json")
    assert done.code == 3
    assert done.json["scopes"][0]["findings"][0]["code"] == "too-large"


@pytest.mark.usefixtures("memory")
def test_a_wrong_variable_is_wrong_usage(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAMDOWN_MODE", "fast")
    done = run("doctor")
    assert done.code == 2
    assert "ENGRAMDOWN_MODE" in done.err


def test_both_scopes_are_looked_at(run: Runner, broken: Path) -> None:
    run.ok("init", "--global")
    (Path.home() / ".engramdown" / "memory" / "rules.md").write_text("- a\n", encoding="utf-8")
    scopes = [
        (each["scope"], len(each["findings"])) for each in run("doctor", "--json").json["scopes"]
    ]
    assert scopes == [("global", 1), ("project", 3)]
    titles = [line for line in run("doctor").out.split("\n") if line.startswith(("all", "this"))]
    assert [title.split("  ")[0] for title in titles] == ["all projects", "this project"]
    assert broken.read_text(encoding="utf-8") == BROKEN


def test_what_could_fool_a_terminal_is_made_visible(run: Runner, memory: Path) -> None:
    (memory / "rules.md").write_text("## Mine\x1b[2J\n- a\n- b\x1b]0;x\x07\n", encoding="utf-8")
    done = run("doctor")
    assert "\x1b" not in done.out
    assert "\x07" not in done.out
    assert "own-heading" in done.out


def test_a_secret_is_found_and_not_shown(run: Runner, memory: Path) -> None:
    token = "ghp_0aB1cD2eF3gH4iJ5kL6mN7oP8" + "qR9sT0uV1wX"
    (memory / "lessons.md").write_text(f"- the token is {token}\n", encoding="utf-8")
    done = run("doctor")
    assert "lessons.md:1  secret" in done.out
    assert token not in done.out + done.err


def test_a_long_name_does_not_push_the_others_away(run: Runner, memory: Path) -> None:
    (memory / "rules.md").write_text("- a\n", encoding="utf-8")
    (memory / f"{'long-' * 12}.md").touch()
    rows = run("doctor").out.split("\n")
    assert any(row.startswith(f"rules.md:1{' ' * 16}no-heading") for row in rows)


@pytest.fixture
def left_open(memory: Path) -> Path:
    """Leave a session open, long ago, and return its file."""
    episodes = EpisodicMemory(memory.parent)
    episodes.log("left", "user", "x", at=datetime(2026, 2, 27, 10, 15, tzinfo=UTC))
    episodes.close()
    return episodes.folder / "left.jsonl"


def test_a_session_that_nobody_ended_is_ended_when_asked(run: Runner, left_open: Path) -> None:
    done = run.ok("doctor")
    assert "episodes/left.jsonl  left-open  nobody ended this session;" in done.out
    assert done.out.endswith("Nothing is wrong in 2 files; 1 note.\n")
    sentence = "End the session left, with the time of its last line"
    before = left_open.read_bytes()
    assert sentence in run.ok("doctor", "--dry-run").out
    assert run.ok("doctor", "--dry-run", "--json").json["tidied"] == [sentence]
    assert run("doctor", "--fix").code == 1
    assert left_open.read_bytes() == before
    assert run.ok("doctor", "--fix", "--yes").out == f"{sentence}\n\nNothing is wrong in 2 files.\n"
    assert b'"crash_recovery"' in left_open.read_bytes()
    assert "There is nothing to mend without you." in run.ok("doctor", "--fix").out


def test_what_is_wrong_in_a_transcript_has_its_line(run: Runner, left_open: Path) -> None:
    left_open.write_bytes(left_open.read_bytes() + b"no line\n{")
    done = run("doctor")
    assert done.code == 1
    assert "episodes/left.jsonl:3" in done.out
    assert "episodes/left.jsonl:4" in done.out
    assert "1 warning, 2 notes" in done.out


WORD: Final = "plum-" + "7x-pear"


@pytest.fixture
def talkative(memory: Path) -> Path:
    """Stand in a project whose transcripts told a password before anybody hid it."""
    transcripts = EpisodicMemory(memory.parent, EpisodeSettings(redact="off"))
    transcripts.log("old", "user", f"my password is {WORD}, keep it")
    transcripts.log("old", "tool_result", "x" * 3_000 + f" password: {WORD}")
    transcripts.log("old", "user", "thanks")
    transcripts.close()
    return memory.parent / "episodes"


def holds_word(folder: Path) -> bool:
    return any(WORD in path.read_text("utf-8") for path in folder.rglob("*") if path.is_file())


def test_transcripts_that_tell_a_secret_are_hidden_when_asked(run: Runner, talkative: Path) -> None:
    done = run("doctor")
    assert (done.code, WORD in done.out) == (1, False)
    assert "episodes/old.jsonl:2  transcript-secret" in done.out
    shown = run("doctor", "--fix", "--dry-run")
    assert "Hide the secret in old#1: my password is [redacted: password], keep it" in shown.out
    assert "Hide the secret in old#2, in the whole text beside it" in shown.out
    assert holds_word(talkative)
    assert run("doctor", "--fix").code == 1
    assert holds_word(talkative)
    done = run.ok("doctor", "--fix", "--yes")
    assert "Hide the secret in old#1" in done.out
    assert not holds_word(talkative)
    recalled = run.ok("recall", "password").out
    assert "[redacted: password], keep it" in recalled
    assert "transcript-secret" not in run.ok("doctor").out


def test_where_only_tools_are_to_be_hidden_only_they_are(run: Runner, talkative: Path) -> None:
    home = Path(os.environ["ENGRAMDOWN_HOME"])
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text('[episodes]\nredact = "tools"\n', encoding="utf-8")
    run.ok("doctor", "--fix", "--yes")
    said = (talkative / "old.jsonl").read_text(encoding="utf-8")
    assert said.count(WORD) == 1
    (home / "config.toml").write_text('[episodes]\nredact = "off"\n', encoding="utf-8")
    assert "transcript-secret" not in run.ok("doctor").out


def test_old_transcripts_are_looked_at_when_they_are_mended(
    run: Runner, talkative: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engramdown.doctor.recordings._LOOKED_AT", 10)
    assert "transcript-secret" not in run.ok("doctor").out
    run.ok("doctor", "--fix", "--yes")
    assert not holds_word(talkative)
