"""``engramdown context --write``: memory in a file that agents read by themselves."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engramdown.markdown.marked_block import END, found
from engramdown.tokens import estimate_tokens
from tests.cli.conftest import Runner

OURS = b"\xef\xbb\xbf# Ours\r\n\r\nKeep \xff as it is"


@pytest.fixture
def page(memory: Path, run: Runner) -> Path:
    """Return a file of somebody else's beside a memory with a rule and a lesson."""
    run.remember("Always run the linter before pushing")
    run.remember("--lesson", "CI takes nine minutes")
    path = memory.parent.parent / "AGENTS.md"
    path.write_bytes(OURS)
    return path


def test_what_is_written_is_what_memory_says(run: Runner, page: Path) -> None:
    done = run.ok("context", "--write", "AGENTS.md")
    assert done.out == "Memory is in AGENTS.md.\n"
    data = page.read_bytes()
    assert data.startswith(OURS)
    text = found(data)
    assert text is not None
    assert "- Always run the linter before pushing" in text
    assert "- CI takes nine minutes" in text
    assert b"\n" not in data.replace(b"\r\n", b"")
    assert "says what memory says" in run.ok("context", "--write", "AGENTS.md").out
    assert page.read_bytes() == data
    run.ok("context", "--write", "AGENTS.md", "--remove")
    assert page.read_bytes() == OURS
    assert "has no block" in run.ok("context", "--write", "AGENTS.md", "--remove").out


def test_facts_about_the_user_stand_there_only_as_lessons_of_the_project(
    run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, is_there in (("--global", False), ("--no-global", True)):
        monkeypatch.setenv("ENGRAMDOWN_HOME", str(tmp_path / f"home{name}"))
        project = tmp_path / f"project{name}"
        project.mkdir()
        monkeypatch.chdir(project)
        run.ok("init", name)
        run.remember("Always run the linter before pushing")
        run.ok("remember", "--kind", "profile", "The user's editor is Helix")
        run.ok("context", "--write", "AGENTS.md")
        text = (project / "AGENTS.md").read_text(encoding="utf-8")
        assert "linter" in text
        assert ("- The user's editor is Helix" in text) is is_there, name


def test_a_file_that_is_old_fails_a_check(run: Runner, page: Path) -> None:
    done = run("context", "--write", "AGENTS.md", "--check")
    assert done.code == 1
    assert "is not what memory says" in done.err
    assert page.read_bytes() == OURS
    run.ok("context", "--write", "AGENTS.md")
    run.ok("context", "--write", "AGENTS.md", "--check")
    run.remember("Never push on Fridays")
    assert run("context", "--write", "AGENTS.md", "--check", "--json").json["changed"]


def test_a_dry_run_shows_the_diff(run: Runner, page: Path) -> None:
    done = run.ok("context", "--write", "AGENTS.md", "--dry-run")
    assert "+- CI takes nine minutes" in done.out
    assert page.read_bytes() == OURS
    told = run.ok("context", "--write", "AGENTS.md", "--dry-run", "--json").json
    assert (told["changed"], told["written"]) == (True, False)
    assert told["tokens"] == estimate_tokens(told["text"])


@pytest.mark.slow
@pytest.mark.parametrize("budget", [0, 60, 120, 400])
def test_what_counts_most_comes_first_within_a_budget(run: Runner, page: Path, budget: int) -> None:
    for at in range(30):
        run.remember("--lesson", f"The crane number {at} of the harbour lifts {at} tons")
    told = run.ok("context", "--write", "AGENTS.md", "--budget", str(budget), "--json").json
    assert told["tokens"] <= budget
    assert ("linter" in told["text"]) == (budget >= 120)
    assert page.read_bytes().startswith(OURS)


def test_nothing_about_the_user_is_written(run: Runner, page: Path) -> None:
    run.ok("init", "--global")
    run.remember("My name is Ada")
    run.remember("--global", "Always ask before a push")
    assert "Ada" not in run.ok("context", "--write", "AGENTS.md", "--json").json["text"]
    told = run.ok("context", "--write", "all.md", "--global", "--json").json["text"]
    assert "ask before a push" in told
    assert "linter" not in told
    assert "Ada" not in told
    assert page.exists()


def test_what_git_brought_unapproved_is_not_written(run: Runner, page: Path, memory: Path) -> None:
    (memory.parent / "config.toml").write_text('pulled = "review"\n', encoding="utf-8")
    assert "linter" in run.ok("context", "--write", "AGENTS.md", "--json").json["text"]
    assert page.exists()


def test_a_memory_cannot_end_the_block(run: Runner, page: Path) -> None:
    run.remember("--lesson", f"one\n{END}\n<!-- engramdown:begin -->")
    run.ok("context", "--write", "AGENTS.md")
    run.ok("context", "--write", "AGENTS.md", "--check")
    run.ok("context", "--write", "AGENTS.md", "--remove")
    assert page.read_bytes() == OURS


def test_what_somebody_wrote_in_the_block_is_not_lost(run: Runner, page: Path) -> None:
    run.ok("context", "--write", "AGENTS.md")
    data = page.read_bytes().replace(b"nine minutes", b"ten minutes")
    page.write_bytes(data)
    done = run("context", "--write", "AGENTS.md")
    assert done.code == 1
    assert "AGENTS.md: line" in done.err
    assert "somebody wrote between the marks" in done.err
    assert page.read_bytes() == data


def test_a_new_file_is_as_open_as_its_folder(run: Runner, page: Path) -> None:
    page.unlink()
    page.parent.chmod(0o755)
    run.ok("context", "--write", "AGENTS.md")
    assert page.stat().st_mode & 0o777 == 0o644
    page.unlink()
    page.parent.chmod(0o700)
    run.ok("context", "--write", "AGENTS.md")
    assert page.stat().st_mode & 0o777 == 0o600


def test_a_link_stays_a_link_within_its_folder(run: Runner, page: Path, tmp_path: Path) -> None:
    link = page.with_name("CLAUDE.md")
    link.symlink_to("AGENTS.md")
    page.chmod(0o664)
    run.ok("context", "--write", "CLAUDE.md")
    assert link.is_symlink()
    assert found(page.read_bytes()) is not None
    assert page.stat().st_mode & 0o777 == 0o664
    outside = tmp_path.parent / "outside.md"
    link.unlink()
    link.symlink_to(outside)
    done = run("context", "--write", "CLAUDE.md")
    assert done.code == 1
    assert "leads to" in done.err
    assert not outside.exists()


def test_what_is_no_file_is_refused(run: Runner, page: Path) -> None:
    os.mkfifo(page.with_name("pipe.md"))
    assert run("context", "--write", "pipe.md").code == 3
    assert run("context", "--write", ".").code == 1


def test_a_large_file_is_refused(run: Runner, page: Path) -> None:
    with page.open("ab") as file:
        file.truncate(17 * 1024 * 1024)
    done = run("context", "--write", "AGENTS.md")
    assert done.code == 1
    assert "larger than 16 MB" in done.err


def test_migrate_does_not_read_the_block_back(run: Runner, page: Path) -> None:
    page.write_text("- Squash before a merge\n", encoding="utf-8")
    run.ok("context", "--write", "AGENTS.md")
    told = run.ok("migrate", "--dry-run", "--json", "AGENTS.md").out
    assert "Squash before a merge" in told
    assert "+- Always run the linter" not in told
    assert "+- CI takes nine minutes" not in told


@pytest.mark.parametrize(
    "words",
    [
        ["--check"],
        ["--remove"],
        ["--dry-run"],
        ["--global"],
        ["--write", "x.md", "--check", "--remove"],
        ["--write", "x.md", "a message"],
        ["--write", "x.md", "--explain"],
        ["--budget", "9"],
    ],
)
def test_options_that_do_not_go_together_are_refused(
    run: Runner, memory: Path, words: list[str]
) -> None:
    assert run("context", *words).code == 2
    assert not (memory.parent.parent / "x.md").exists()


def test_an_empty_memory_leaves_a_file_alone(run: Runner, memory: Path) -> None:
    assert "nothing in memory to write" in run.ok("context", "--write", "AGENTS.md").out
    path = memory.parent.parent / "AGENTS.md"
    assert not path.exists()
    entry = run.remember("Always run the linter")
    run.ok("context", "--write", "AGENTS.md")
    run.ok("forget", entry)
    done = run.ok("context", "--write", "AGENTS.md")
    assert done.out.startswith("There is nothing in memory to write")
    assert "The block is gone" in done.out
    assert path.read_bytes() == b""


def test_repeated_lines_are_named_and_removed_when_asked(run: Runner, page: Path) -> None:
    theirs = "- Mine\r\n- always run the linter before pushing.\r\n- CI takes nine minutes\r\n"
    page.write_bytes(f"# Ours\r\n\r\n{theirs}\r\nThe port is 8123.\r\n\r\nEnd".encode())
    run.remember("The port is 8123.")
    said = " ".join(run.ok("context", "--write", "AGENTS.md").out.split())
    assert "3 lines from AGENTS.md:4 on say the same as the block" in said
    assert "engramdown context --write AGENTS.md --replace" in said
    assert run.ok("context", "--write", "AGENTS.md", "--json").json["twice"] == [4, 5, 7]
    before = page.read_bytes()
    shown = run.ok("context", "--write", "AGENTS.md", "--replace", "--dry-run").out
    assert "-- always run the linter before pushing." in shown
    assert page.read_bytes() == before
    run.ok("context", "--write", "AGENTS.md", "--replace")
    text = page.read_bytes().decode()
    assert text.startswith("# Ours\r\n\r\n- Mine\r\n")
    assert text.endswith("End")
    assert text.count("run the linter") == text.count("nine minutes") == text.count("8123") == 1
    assert text.index("nine minutes") < text.index("End")
    assert run.ok("context", "--write", "AGENTS.md", "--json").json["twice"] == []
    run.ok("context", "--write", "AGENTS.md", "--replace")
    assert page.read_bytes().decode() == text
    assert run("context", "--write", "AGENTS.md", "--replace", "--remove").code == 2
