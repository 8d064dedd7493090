"""The files that a new scope begins with."""

from __future__ import annotations

import pytest

from engramdown.engram import Scope
from engramdown.hippocampus.entry import raw_entries
from engramdown.hippocampus.files import is_for_git
from engramdown.kinds import is_name, starter, starter_files
from engramdown.markdown.document import parse
from engramdown.markdown.metadata import Metadata


@pytest.mark.parametrize(
    "scope, names",
    [("project", ["rules.md", "lessons.md"]), ("global", ["rules.md", "lessons.md", "profile.md"])],
)
def test_the_files_of_a_scope(scope: Scope, names: list[str]) -> None:
    assert [*starter_files(scope)] == names
    assert all(map(is_name, starter_files(scope)))


@pytest.mark.parametrize("name", ["rules.md", "lessons.md", "profile.md"])
def test_a_starter_file_explains_itself_in_notes_and_holds_no_memory(name: str) -> None:
    text = starter_files("global")[name]
    assert "<!--" in text
    assert raw_entries(name, parse(text)) == []
    assert all(len(line) <= 100 for line in text.split("\n"))


@pytest.mark.parametrize("kind", ["always", "never", "when"])
def test_the_first_rule_is_one_line_more(kind: str) -> None:
    text = starter_files("project")["rules.md"]
    page = parse(text).add("Use uv", Metadata(), kind)
    line = "- Use uv\n"
    assert page.render().replace(line, "") == text
    assert page.placed()[0].kind == kind


def test_memory_is_for_git_and_the_journal_is_not() -> None:
    lines = starter("gitignore").split("\n")
    assert "/*" in lines
    assert "!/memory/" in lines
    assert "!/history.jsonl" not in lines


@pytest.mark.parametrize(
    "name, is_it",
    [
        pytest.param("memory/rules.md", True, id="memory"),
        pytest.param("memory/topics/ci.md", True, id="topic"),
        pytest.param("skills/deploy/SKILL.md", True, id="skill"),
        pytest.param("journal/2026-02-27.md", True, id="day"),
        pytest.param("journal/.2026-02-27.md.7.tmp", False, id="unfinished-day"),
        pytest.param("journal.lock", False, id="lock-of-the-journal"),
        pytest.param("working/s1.md", False, id="notes"),
        pytest.param("config.toml", True, id="config"),
        pytest.param(".gitignore", True, id="gitignore"),
        pytest.param("memory/.lock", False, id="lock"),
        pytest.param("memory/topics/.ci.md.7.tmp", False, id="unfinished"),
        pytest.param("episodes/s1.jsonl", False, id="transcript"),
        pytest.param("history.jsonl", False, id="journal"),
        pytest.param("memory", False, id="no-folder"),
    ],
)
def test_what_is_for_git_is_what_the_gitignore_lets_in(name: str, *, is_it: bool) -> None:
    assert is_for_git(name) is is_it
