"""Skills that git brought are told of, and where it is set so, wait for a person's approval."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from engramdown import Cortex
from engramdown.skills.files import EVERY, MOST


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a work tree of git with a skill that somebody committed, and review switched on."""
    project = tmp_path / "project"
    write(project, "charts", "Make charts")
    git(project, "init", "--quiet")
    git(project, "add", ".")
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text('pulled = "review"\n', encoding="utf-8")
    return project


def git(project: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=project, check=True)


def write(project: Path, label: str, does: str) -> Path:
    page = project / ".engramdown" / "skills" / label / "SKILL.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(f"---\nname: {label}\ndescription: {does}\n---\n1. Do it.\n", "utf-8")
    return page


def opened(project: Path) -> Cortex:
    return Cortex.open(project, project.parent / "home")


def test_a_skill_that_git_brought_waits_for_approval(project: Path) -> None:
    cortex = opened(project)
    found = cortex.skills.recall("charts")
    assert found.is_error
    assert "came with git and waits for the user's approval" in found.text
    assert "Do it" not in found.text
    assert "charts" not in cortex.build_memory_context()
    (waiting,) = cortex.pending()
    assert (waiting.op, Path(waiting.file).name) == ("load", "SKILL.md")
    assert "1. Do it." in waiting.engram.text
    assert cortex.resolve(waiting.id, "accept").action == "encoded"
    assert "Do it" in cortex.skills.recall("charts").text
    assert "- charts: Make charts" in opened(project).build_memory_context()


@pytest.mark.parametrize("file", ["SKILL.md", "scripts/run.sh", "references/new.md"])
def test_whatever_is_changed_of_it_waits_again(project: Path, file: str) -> None:
    (project / ".engramdown/skills/charts/scripts").mkdir()
    (project / ".engramdown/skills/charts/scripts/run.sh").write_text("run", "utf-8")
    cortex = opened(project)
    (waiting,) = cortex.pending()
    cortex.resolve(waiting.id, "accept")
    assert cortex.pending() == []
    path = project / ".engramdown" / "skills" / "charts" / file
    path.parent.mkdir(exist_ok=True)
    path.write_text("---\nname: charts\ndescription: Otherwise\n---\nElse.\n", encoding="utf-8")
    assert cortex.skills.recall("charts").is_error
    assert len(cortex.pending()) == 1


@pytest.mark.slow
def test_a_change_of_a_file_that_no_model_is_told_of_waits_again(project: Path) -> None:
    home = project / ".engramdown" / "skills" / "charts"
    deep = home.joinpath(*"abcdefghi")
    deep.mkdir(parents=True)
    for number in range(MOST):
        (home / f"{number}.txt").touch()
    for last in (home / "run.sh", deep / "run.sh"):
        last.write_text("run", encoding="utf-8")
        (waiting,) = opened(project).pending()
        opened(project).resolve(waiting.id, "accept")
        last.write_text("else", encoding="utf-8")
        assert opened(project).skills.recall("charts").is_error


HIDDEN = [
    *(".env", ".hidden.sh", "scripts/.hidden/run.sh", "SKILL.other-0badc0de.md"),
    *("scripts/__pycache__/run.cpython-311.pyc", "node_modules/left/index.js"),
]


@pytest.mark.parametrize("file", HIDDEN)
def test_a_change_of_what_is_hidden_waits_again_if_git_knows_it(project: Path, file: str) -> None:
    path = project / ".engramdown" / "skills" / "charts" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("one", encoding="utf-8")
    git(project, "add", "--force", ".")
    cortex = opened(project)
    (waiting,) = cortex.pending()
    cortex.resolve(waiting.id, "accept")
    assert "Do it" in opened(project).skills.recall("charts").text
    path.write_text("two", encoding="utf-8")
    assert opened(project).skills.recall("charts").is_error
    path.unlink()
    assert opened(project).skills.recall("charts").is_error


@pytest.mark.slow
@pytest.mark.parametrize("file", [*HIDDEN, ".SKILL.md.swp"])
def test_what_programs_leave_here_makes_nobody_ask(project: Path, file: str) -> None:
    cortex = opened(project)
    (waiting,) = cortex.pending()
    cortex.resolve(waiting.id, "accept")
    path = project / ".engramdown" / "skills" / "charts" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    for number in range(EVERY + 1 if "modules" in file else 1):
        path.with_name(f"{path.name}{number or ''}").touch()
    assert "Do it" in opened(project).skills.recall("charts").text


def test_where_a_link_leads_is_part_of_a_skill(project: Path) -> None:
    link = project / ".engramdown" / "skills" / "charts" / "scripts"
    link.symlink_to("../../memory")
    cortex = opened(project)
    (waiting,) = cortex.pending()
    cortex.resolve(waiting.id, "accept")
    assert "Do it" in opened(project).skills.recall("charts").text
    link.unlink()
    link.symlink_to("../../../src")
    assert opened(project).skills.recall("charts").is_error


def test_ones_own_hidden_files_make_nobody_ask_once_they_are_committed(project: Path) -> None:
    page = write(project, "maps", "Make maps")
    (page.parent / ".env.example").write_text("TZ=UTC", encoding="utf-8")
    with opened(project).session():
        pass
    git(project, "add", ".")
    assert "Do it" in opened(project).skills.recall("maps").text


@pytest.mark.slow
@pytest.mark.parametrize("way", ["many", "deep"])
def test_what_cannot_be_looked_at_as_a_whole_is_never_approved(project: Path, way: str) -> None:
    home = project / ".engramdown" / "skills" / "charts"
    if way == "many":
        for number in range(EVERY + 1):
            (home / f"{number}.txt").touch()
    else:
        home.joinpath(*("d" * 32)).mkdir(parents=True)
        (home.joinpath(*("d" * 32)) / "run.sh").touch()
    cortex = opened(project)
    assert cortex.pending() == []
    assert "holds too much to be approved" in cortex.skills.recall("charts").text
    assert "charts" not in cortex.build_memory_context()


def test_of_a_large_page_a_person_is_shown_the_begin_and_approves_all_of_it(project: Path) -> None:
    page = write(project, "charts", "Make charts")
    text = page.read_text(encoding="utf-8") + "One more step.\n" * 100_000
    page.write_text(text, encoding="utf-8")
    cortex = opened(project)
    (waiting,) = cortex.pending()
    shown = waiting.engram.text
    assert len(shown) < 70_000
    assert "characters more stand there)" in shown
    with cortex.session() as session:
        assert len(session.news()[0].text) < 70_000
    cortex.resolve(waiting.id, "accept")
    assert "Do it" in opened(project).skills.recall("charts").text
    page.write_text(text + "Else.\n", encoding="utf-8")
    assert opened(project).skills.recall("charts").is_error


def test_a_page_that_only_another_limit_takes_is_not_approved(project: Path) -> None:
    page = write(project, "charts", "Make charts")
    page.write_text(page.read_text(encoding="utf-8") + "x\n" * 9_000_000, encoding="utf-8")
    home = project.parent / "home" / "config.toml"
    home.write_text(f"max_file_mb = 32\n{home.read_text(encoding='utf-8')}", encoding="utf-8")
    assert opened(project).pending() == []
    assert opened(project).skills.recall("charts").is_error


def test_what_is_declined_reaches_no_model_and_is_not_asked_about_again(project: Path) -> None:
    cortex = opened(project)
    (waiting,) = cortex.pending()
    cortex.resolve(waiting.id, "decline")
    assert cortex.pending() == []
    assert cortex.skills.recall("charts").is_error


def test_what_stood_here_before_it_was_committed_is_ones_own(project: Path) -> None:
    write(project, "maps", "Make maps")
    with opened(project).session() as session:
        assert [str(each) for each in session.news()] == ["project charts/SKILL.md"]
    git(project, "add", ".")
    cortex = opened(project)
    assert "Do it" in cortex.skills.recall("maps").text
    assert [each.file for each in cortex.pending()] == [
        str(project / ".engramdown/skills/charts/SKILL.md")
    ]


def test_one_that_waits_takes_no_others_place(project: Path, tmp_path: Path) -> None:
    page = tmp_path / "home" / "skills" / "charts" / "SKILL.md"
    page.parent.mkdir(parents=True)
    page.write_text("---\nname: charts\ndescription: Mine\n---\nMine.\n", encoding="utf-8")
    assert "Mine." in opened(project).skills.recall("charts").text
    assert "- charts: Mine" in opened(project).build_memory_context()


def test_a_label_that_is_nearly_that_of_one_that_waits_finds_it(project: Path) -> None:
    assert "waits for the user's approval" in opened(project).skills.recall("Charts").text


def test_as_news_it_is_loaded_and_told_of_once(project: Path, tmp_path: Path) -> None:
    (tmp_path / "home" / "config.toml").unlink()
    cortex = opened(project)
    assert "Do it" in cortex.skills.recall("charts").text
    with cortex.session() as session:
        (news,) = session.news()
    assert (news.kind, str(news)) == ("page", "project charts/SKILL.md")
    with opened(project).session() as session:
        assert session.news() == []
