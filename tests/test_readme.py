"""Every example of README.md and docs/*.md does what its page says."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.snippets import Snippet, find_snippets, pages, run

ROOT: Final = Path(__file__).resolve().parent.parent
PAGES: Final = {page.relative_to(ROOT).as_posix(): page for page in pages(ROOT)}


def snippets_of(name: str) -> list[Snippet]:
    return find_snippets(PAGES[name].read_text(encoding="utf-8"), name)


@pytest.fixture
def project(isolated_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in an empty project in the home folder."""
    folder = isolated_home / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("name", PAGES)
def test_the_examples_of_a_page_do_what_it_says(
    name: str, project: Path, child_env: dict[str, str]
) -> None:
    run(snippets_of(name), project, child_env)


def test_the_readme_has_examples_to_run() -> None:
    languages = {item.language for item in snippets_of("README.md") if not item.not_run}
    assert {"python", "console"} <= languages


def test_what_the_ci_is_said_to_run_is_what_it_runs() -> None:
    """A block that names .ci/run as its reason stands there, line by line."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    promised = [item for item in snippets_of("README.md") if ".ci/run" in item.not_run]
    lines = [line.removeprefix("$ ") for item in promised for line in item.code.split("\n")]
    assert lines
    assert [line for line in lines if line not in script] == []
