"""What a person gets who brings skills in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Runner

PAGE = "---\nname: charts\n# mine\ndescription: Make charts\nfield: [1, 2]\n---\nWith care.\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Return a folder with two good skills and a broken one."""
    folder = tmp_path / "others"
    for label in ("charts", "maps"):
        (folder / label / "scripts").mkdir(parents=True)
        text = PAGE.replace("charts", label)
        (folder / label / "SKILL.md").write_text(text, encoding="utf-8")
        (folder / label / "scripts" / "run.sh").write_bytes(b"#!/bin/sh\n")
        (folder / label / "scripts" / "run.sh").chmod(0o755)
    (folder / "broken").mkdir()
    (folder / "broken" / "SKILL.md").write_text("Do it.\n", encoding="utf-8")
    return folder


@pytest.fixture
def skills(memory: Path) -> Path:
    """Return the folder of the project's skills."""
    return memory.parent / "skills"


def test_skills_come_in_whole(run: Runner, source: Path, skills: Path) -> None:
    done = run("skills", "import", str(source))
    assert done.code == 1  # one was refused
    assert "2 skills came in, 1 refused." in done.out
    assert sorted(each.name for each in skills.iterdir()) == ["charts", "maps"]
    page = (skills / "charts" / "SKILL.md").read_text(encoding="utf-8")
    noted = 'metadata:\n  imported-from: "others/charts"\n'
    assert page.replace('"', "") == PAGE.replace("]\n", f"]\n{noted}").replace('"', "")
    script = skills / "charts" / "scripts" / "run.sh"
    assert script.read_bytes() == b"#!/bin/sh\n"
    assert os.access(script, os.X_OK)
    assert run.ok("skills", "validate").out == "2 skills are fine.\n"
    again = run.ok("skills", "import", str(source), "--only", "charts", "--only", "maps")
    assert "0 skills came in, 2 unchanged." in again.out


def test_what_is_hidden_is_left_behind_and_counted(run: Runner, source: Path, skills: Path) -> None:
    (source / "charts" / ".env.example").touch()
    words = ("skills", "import", str(source), "--only", "charts", "--dry-run")
    assert "without 1 hidden, from" in " ".join(run.ok(*words).out.split())
    assert run.ok(*words, "--json").json["skills"][0]["hidden"] == 1
    assert not skills.exists()


def test_a_dry_run_shows_what_comes_and_writes_nothing(
    run: Runner, source: Path, skills: Path
) -> None:
    done = run("skills", "import", str(source), "--dry-run", "--json")
    assert done.json["dry_run"]
    assert {each["label"]: each["action"] for each in done.json["skills"]} == {
        "broken": "refused",
        "charts": "added",
        "maps": "added",
    }
    assert done.json["skills"][1]["files"] == [
        {"name": "SKILL.md", "size": len(PAGE), "runs": False},
        {"name": "scripts/run.sh", "size": 10, "runs": True},
    ]
    assert not skills.exists()


def test_a_skill_takes_no_others_place_unasked(run: Runner, source: Path, skills: Path) -> None:
    run.ok("skills", "new", "charts", "--description", "Mine")
    mine = (skills / "charts" / "SKILL.md").read_bytes()
    done = run("skills", "import", str(source / "charts"))
    assert (done.code, (skills / "charts" / "SKILL.md").read_bytes()) == (1, mine)
    aside = "is there already; `engramdown skills delete charts` puts it aside"
    assert aside in " ".join(done.out.split())
    run.ok("skills", "delete", "charts")
    run.ok("skills", "import", str(source / "charts"))
    assert "Make charts" in run.ok("skills", "show", "charts").out


def test_a_skill_comes_in_for_all_projects(
    run: Runner, source: Path, isolated_home: Path, memory: Path
) -> None:
    run.ok("skills", "import", str(source / "charts"), "--global")
    text = (isolated_home / ".engramdown" / "skills" / "charts" / "SKILL.md").read_text("utf-8")
    assert "imported-from:" in text
    assert not (memory.parent / "skills").exists()


@pytest.mark.usefixtures("memory")
def test_what_is_not_there_is_said(run: Runner, source: Path) -> None:
    assert "is not a folder" in run("skills", "import", "nowhere").err
    done = run("skills", "import", str(source), "--only", "plots")
    assert "no skill plots there; the skills there are: broken, charts, maps" in done.err
    (source / "empty").mkdir()
    done = run("skills", "import", str(source / "empty"))
    assert (done.code, done.out) == (1, "")
    assert "holds no skill; one is a folder with a SKILL.md" in done.err


def test_a_folder_that_cannot_be_written_is_told(run: Runner, source: Path, skills: Path) -> None:
    run.ok("skills", "new", "notes", "--description", "Take notes")
    skills.chmod(0o500)
    try:
        done = run("skills", "import", str(source / "charts"))
    finally:
        skills.chmod(0o700)
    assert done.code == 3
    assert "is read-only; nothing was written" in " ".join(done.out.split())
