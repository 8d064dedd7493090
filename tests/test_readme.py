"""Every example of README.md and docs/*.md does what its page says; every link leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from tests.snippets import Snippet, find_snippets, pages, run
from tests.tables import every

ROOT: Final = Path(__file__).resolve().parent.parent
LINK: Final = re.compile(r"\]\((?!\w+:)([^()\s]+)\)")
FENCED: Final = re.compile(r"(?ms)^(```|~~~).*?^\1")
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


@pytest.mark.slow
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


def anchors(page: Path) -> set[str]:
    """Return what a link to a heading of ``page`` may say behind its ``#``, as GitHub has it."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    headings = [re.sub(r"\]\([^)]*\)", "", line) for line in re.findall(r"(?m)^#+ (.+)$", text)]
    return {re.sub(r"[^\w\- ]", "", line).lower().replace(" ", "-") for line in headings}


def astray(page: Path) -> list[str]:
    """Return the links of ``page`` to files and headings that are not there."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    links = [(link, *link.partition("#")[::2]) for link in LINK.findall(text)]
    return [
        link
        for link, name, heading in links
        if not (page.parent / name).exists()
        or (heading and heading not in anchors(page.parent / name if name else page))
    ]


@every("name", [*PAGES, "CONTRIBUTING.md", "CHANGELOG.md"])
def test_every_link_within_the_project_leads_somewhere(name: str) -> None:
    assert astray(ROOT / name) == []


def test_a_link_to_a_file_or_heading_that_is_not_there_is_seen(tmp_path: Path) -> None:
    (tmp_path / "b.md").write_text("# `One` & Two\n```\n# Not\n```\n", encoding="utf-8")
    page = tmp_path / "a.md"
    good = "[1](b.md) [2](b.md#one--two) [3](https://example.org/x) [4](#here)"
    page.write_text(f"# Here\n{good} [5](c.md) [6](b.md#not) [7](#there)\n", encoding="utf-8")
    assert astray(page) == ["c.md", "b.md#not", "#there"]
