"""What a person gets who keeps a journal from the command line."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from freezegun import freeze_time

from tests.cli.conftest import Runner

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
NOON = "2026-02-27T12:05:00Z"


@pytest.fixture(autouse=True)
def _noon(memory: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Stand in a project, in Greenwich, at noon."""
    assert memory.is_dir()
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    with freeze_time(NOON):
        yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def day(memory: Path) -> Path:
    """Return the page of the day."""
    return memory.parent / "journal" / "2026-02-27.md"


def test_an_entry_is_written_shown_listed_and_found(run: Runner, day: Path) -> None:
    done = run.ok("journal", "write", "Moved", "the", "deploys.", "-t", "ci", "--theme", "deploys")
    assert done.out == f"Wrote {day}:7\n"
    assert run.ok("journal", "show").out == (
        f"2026-02-27  3 words\n{day}\nthemes: ci, deploys\n\n"
        "12:05  you  (ci, deploys)\n  Moved the deploys.\n"
    )
    listed = "2026-02-27  3 words  ci, deploys\n    Moved the deploys.\n"
    assert run.ok("journal").out == run.ok("journal", "list", "--limit", "3").out == listed
    hit = "2026-02-27.md:7  12:05  you  Moved the deploys.\n"
    assert run.ok("journal", "search", "deploy").out == hit
    assert run.ok("recall", "deploy").out == f"In the journal:\n{hit}"


def test_programs_get_json(run: Runner, day: Path) -> None:
    written = run.ok("journal", "write", "Deploys.", "--by", "agent", "--json").json
    section = {
        "date": "2026-02-27",
        "path": str(day),
        "line": 6,
        "heading": "12:05",
        "by": "agent",
        "at": NOON,
        "session": "",
        "themes": [],
        "text": "Deploys.",
    }
    assert written == {"changed": True, **section, "hidden": []}
    head = {"date": "2026-02-27", "path": str(day), "words": 1, "themes": [], "locked": False}
    assert run.ok("journal", "show", "2026-02-27", "--json").json == {**head, "sections": [section]}
    assert run.ok("journal", "--json").json == [{**head, "preview": "Deploys.", "problem": ""}]
    (found,) = run.ok("journal", "search", "deploy", "--json").json
    assert found == {**section, "preview": "Deploys.", "score": found["score"]}
    recalled = run.ok("recall", "deploys", "--json").json
    assert recalled == {"memories": [], "episodes": [], "journal": [found]}


def test_a_text_comes_from_stdin_or_an_editor(
    run: Runner, day: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.ok("journal", "write", "-", stdin=b"one\ntwo\n")
    run.ok("journal", "write", stdin=b"three\n")
    monkeypatch.setenv("EDITOR", "sed -i s/draft/done/")
    run.ok("journal", "write", "--edit", "draft")
    sections = run.ok("journal", "show", "--json").json["sections"]
    assert [section["text"] for section in sections] == ["one\ntwo", "three", "done"]
    done = run("journal", "write", "--edit", "")
    assert (done.code, "the text is empty" in done.err) == (2, True)
    assert run("journal", "write", stdin=b" \n").code == 2
    assert len(run.ok("journal", "show", "--json").json["sections"]) == 3
    assert day.is_file()


def test_a_text_from_an_editor_that_cannot_be_written_is_kept(
    run: Runner, day: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    day.parent.mkdir()
    day.write_text("---\nlocked: true\n---\n", encoding="utf-8")
    monkeypatch.setenv("EDITOR", "sed -i s/draft/done/")
    done = run("journal", "write", "--edit", "draft")
    assert done.code == 1
    assert "is locked; nothing was written" in done.err
    kept = Path(done.err.rpartition(" ")[2].strip())
    assert kept.read_text(encoding="utf-8") == "done"
    kept.unlink()
    assert run("journal", "write", "x").code == 1


def test_a_dry_run_shows_the_diff_and_writes_nothing(run: Runner, day: Path) -> None:
    shown = run.ok("journal", "write", "x", "--dry-run").out
    assert shown.startswith("Dry run: nothing is written.\n--- ")
    assert "+## 12:05 <!-- by:person at:2026-02-27T12:05:00Z -->\n" in shown
    told = run.ok("journal", "write", "x", "--dry-run", "--json").json
    assert (told["changed"], told["dry_run"]) == (False, True)
    assert told["changes"][0]["path"] == str(day)
    assert not day.parent.exists()


def test_a_secret_is_hidden_and_told(run: Runner, day: Path) -> None:
    done = run.ok("journal", "write", f"It is {TOKEN}")
    assert "A secret was hidden, and is kept nowhere: GitHub token." in done.out
    assert TOKEN not in day.read_text(encoding="utf-8") + done.out + done.err


def test_what_is_not_there_is_told(run: Runner) -> None:
    for words, code, said in (
        (["journal"], 1, "begin with `engramdown journal write TEXT`"),
        (["journal", "show"], 1, "nothing was written today"),
        (["journal", "show", "yesterday"], 1, "nothing was written yesterday"),
        (["journal", "show", "2026-02-30"], 2, "'2026-02-30' is not a day; give 2026-02-27, today"),
        (["journal", "search", "x"], 1, "nothing in the journal matches 'x'"),
        (["journal", "write", "x", "--theme", "y" * 61], 2, "longer than 60 characters"),
        (["journal", "wrong"], 2, "no command 'wrong'"),
    ):
        done = run(*words)
        assert (done.code, said in done.err) == (code, True), done


def test_an_assistant_writes_nothing_in_mode_off(run: Runner, day: Path) -> None:
    done = run("--mode", "off", "journal", "write", "x", "--by", "agent")
    assert (done.code, "memory is switched off" in done.err) == (1, True)
    assert not day.exists()
    run.ok("--mode", "off", "journal", "write", "x")


def test_each_scope_has_its_journal_and_a_search_sees_both(
    run: Runner, isolated_home: Path
) -> None:
    run.ok("init", "--global")
    run.ok("journal", "write", "deploys here")
    run.ok("journal", "write", "deploys everywhere", "--global")
    assert (isolated_home / ".engramdown/journal/2026-02-27.md").is_file()
    assert "everywhere" in run.ok("journal", "show", "--global").out
    assert "everywhere" not in run.ok("journal", "show").out
    assert run.ok("journal", "search", "deploys").out.count("\n") == 2
    assert run.ok("journal", "search", "deploys", "--limit", "1").out.count("\n") == 1
    assert "everywhere" not in run.ok("journal", "search", "deploys", "--project").out


def test_a_page_that_cannot_be_read_is_told(run: Runner, day: Path) -> None:
    run.ok("journal", "write", "x")
    day.with_name("2026-02-26.md").symlink_to("/etc/hostname")
    done = run("journal")
    assert done.code == 3
    assert "2026-02-27" in done.out
    assert "is a link that leaves the memory folder" in " ".join(done.out.split())
    assert run("journal", "show", "yesterday").code == 3


def test_a_zone_is_that_of_the_settings(run: Runner, memory: Path) -> None:
    settings = memory.parent / "config.toml"
    settings.write_text('timezone = "Asia/Tokyo"\n', encoding="utf-8")
    run.ok("journal", "write", "x")
    assert run.ok("journal", "show", "--json").json["sections"][0]["heading"] == "21:05"
    settings.write_text('timezone = "Mars/Olympus"\n', encoding="utf-8")
    done = run.ok("journal", "show")
    assert "note: timezone 'Mars/Olympus' is not known here" in done.err
    settings.write_text("timezone = 5\n", encoding="utf-8")
    done = run("journal")
    assert (done.code, "timezone: 5 is not a text in quotes" in done.err) == (3, True)


def test_what_a_crash_left_is_swept_up(run: Runner, day: Path) -> None:
    run.ok("journal", "write", "x")
    left = day.with_name(f".{day.name}.{'0' * 16}.{'0' * 16}.00000000.tmp.part")
    left.write_text("half", encoding="utf-8")
    run.ok("journal")
    assert not left.exists()


def test_a_secret_that_was_written_by_hand_is_found_before_a_commit(
    run: Runner, day: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(day.parents[2])
    run.ok("journal", "write", "x")
    subprocess.run(["git", "init", "--quiet"], check=True)
    subprocess.run(["git", "add", ".engramdown"], check=True)
    assert run.ok("doctor", "--staged").out.startswith("Nothing is wrong in ")
    with day.open("a", encoding="utf-8") as file:
        file.write(f"\nIt is {TOKEN}\n")
    subprocess.run(["git", "add", ".engramdown"], check=True)
    done = run("doctor", "--staged")
    assert done.code == 1
    assert "journal/2026-02-27.md:10" in done.out
    assert "holds a secret (GitHub token)" in done.out
    assert TOKEN not in done.out


def test_a_day_that_has_passed_can_be_written_to(run: Runner, day: Path) -> None:
    past = day.with_name("2026-02-20.md")
    done = run.ok("journal", "write", "We agreed on uv.", "--date", "2026-02-20", "--json")
    assert (done.json["date"], done.json["heading"]) == ("2026-02-20", "Written 2026-02-27 12:05")
    assert "## Written 2026-02-27 12:05 <!-- by:person" in past.read_text(encoding="utf-8")
    shown = run.ok("journal", "write", "Again", "--date", "2026-02-20", "--dry-run").out
    assert "Written 2026-02-27 12:05" in shown
    done = run("journal", "write", "x", "--date", "2026-03-01")
    assert done.code != 0
    assert "still to come" in done.err
    assert run("journal", "write", "x", "--date", "soon").code == 2
    assert not day.exists()
