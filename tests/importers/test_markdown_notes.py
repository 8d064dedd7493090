"""Files of older layouts become memories, each with whose word it is."""

from __future__ import annotations

from typing import Final, get_args

from hypothesis import given
from hypothesis import strategies as st

from engramdown.engram import Engram, Scope, identity
from engramdown.importers.migration import (
    File,
    FileMemories,
    Layout,
    layout_of,
    links,
    read,
    topics,
)
from tests.consolidation.test_notes import TEXTS
from tests.tables import every

NAMES: Final[dict[Layout, str]] = {
    "notes": "CLAUDE.md",
    "cursor": ".cursor/rules/ts.mdc",
    "index": "MEMORY.md",
    "topic": "ci.md",
    "daily": "memory/2026-02-03.md",
    "anton-memory": ".anton/memory/rules.md",
    "anton-context": ".anton/context/stack.md",
    "anton-learnings": ".anton/learnings/ci.md",
}


def found(
    path: str, text: str, layout: Layout | None = None, scope: Scope = "project", topic: str = ""
) -> FileMemories:
    """Return what a file holds."""
    known = layout or layout_of(path)
    assert known
    return read(File(path, text, known, topic), scope)


def engrams(path: str, text: str, scope: Scope = "project") -> list[Engram]:
    """Return the memories of a file."""
    return [each.engram for each in found(path, text, scope=scope).memories]


@every(
    "path, layout",
    [
        ("CLAUDE.md", "notes"),
        ("/a/AGENTS.md", "notes"),
        (".cursorrules", "notes"),
        ("a/.cursor/rules/x.mdc", "cursor"),
        ("x.mdc", "cursor"),
        ("memory/2026-02-03.md", "daily"),
        ("2026-02-03-evening.md", "daily"),
        ("MEMORY.md", "index"),
        ("notes.MARKDOWN", "notes"),
        (".anton/memory/lessons.md", "anton-memory"),
        (".anton/memory/other.md", None),
        (".anton/context/x.md", "anton-context"),
        (".anton/learnings/x.md", "anton-learnings"),
        (".anton/learnings/index.json", None),
        (".anton/episodes/x.md", None),
        (".anton/x.md", None),
        ("main.py", None),
    ],
)
def test_what_a_file_is_by_its_path(path: str, layout: str | None) -> None:
    assert layout_of(path) == layout


@every(
    "layout, word",
    [
        ("notes", ("user", "high", "told")),
        ("cursor", ("user", "high", "told")),
        ("index", ("llm", "medium", "inferred")),
        ("topic", ("llm", "medium", "inferred")),
        ("daily", ("llm", "medium", "inferred")),
        ("anton-context", ("llm", "medium", "inferred")),
        ("anton-learnings", ("llm", "medium", "inferred")),
        ("anton-memory", ("user", "high", "told")),
    ],
)
def test_whose_word_a_file_is(layout: Layout, word: tuple[str, str, str]) -> None:
    memory = found(NAMES[layout], "- Builds take nine minutes", layout).memories[0].engram
    assert (memory.source, memory.confidence, memory.basis) == word
    assert memory.via == "tool"
    assert memory.origin == f"{NAMES[layout]}:1"


def test_anton_tells_source_confidence_date_and_topic() -> None:
    text = (
        "# Lessons\n\n"
        "- Use the cache <!-- topic:ci ts:2026-01-05 confidence:low source:user -->\n"
        "- Use the mirror <!-- topic:None ts:never confidence:sure source:robot -->\n"
    )
    first, second = engrams(".anton/memory/lessons.md", text)
    assert (first.topic, first.ts, first.confidence, first.source) == (
        "ci",
        "2026-01-05",
        "low",
        "user",
    )
    assert first.basis == "inferred"  # its tool writes "user" whoever said so
    assert (second.topic, second.ts, second.confidence, second.source) == ("", "", "medium", "llm")


def test_anton_rules_stand_under_their_headings() -> None:
    text = (
        "# Rules\n- first of all\n## Always\n- use uv\n## Never\n- use pip\n## When\n- it rains\n"
    )
    kinds = [(each.kind, each.text) for each in engrams(".anton/memory/rules.md", text)]
    assert kinds == [
        ("always", "first of all"),
        ("always", "use uv"),
        ("never", "use pip"),
        ("when", "it rains"),
    ]


def test_anton_facts_are_facts_that_it_inferred() -> None:
    (fact,) = engrams(".anton/memory/profile.md", "# Profile\n- Name: Ada\n")
    assert (fact.kind, fact.source, fact.confidence) == ("profile", "llm", "medium")


def test_a_topic_comes_from_the_index_the_heading_or_the_file() -> None:
    text = "# Title\n- one thing\n## CI/CD setup\n- another thing\n## 2026-02-03\n- third thing\n"
    topic = [each.topic for each in engrams(".anton/learnings/builds.md", text)]
    assert topic == ["builds", "ci-cd-setup", "builds"]
    told = found(".anton/learnings/builds.md", text, topic="Nightly").memories
    assert {each.engram.topic for each in told} == {"nightly"}
    assert [each.topic for each in engrams("CLAUDE.md", "# Title\n## ???\n- one thing\n")] == [""]


def test_a_date_comes_from_the_heading_or_the_name() -> None:
    text = "- one thing\n## On 2026-02-05\n- another thing\n## 2026-02-31\n- third thing\n"
    days = [each.ts for each in engrams("memory/2026-02-03.md", text)]
    assert days == ["2026-02-03", "2026-02-05", "2026-02-03"]
    assert [each.ts for each in engrams("CLAUDE.md", "- one thing")] == [""]


@every(
    "text, kind, words",
    [
        ("- Always use uv", "always", "Always use uv"),
        ("- Testing:\n  - never mock it", "never", "Testing: never mock it"),
        ("- When deploying:\n  - look at it", "when", "When deploying: look at it"),
        ("- CI takes nine minutes", "lesson", "CI takes nine minutes"),
        ("## **Never do:**\n- push it", "never", "push it"),
        ("## Don\u2019ts\n- push it", "never", "push it"),
        ("## Dos\n- lint it", "always", "lint it"),
        ("## When\n- it rains, wait", "when", "it rains, wait"),
        ("## When deploying\n- look at it", "when", "When deploying: look at it"),
        ("## When deploying\n### Never\n- push it", "never", "push it"),
        ("- My name is Ada", "profile", "Name: Ada"),
    ],
)
def test_the_kind_comes_from_the_heading_or_the_words(text: str, kind: str, words: str) -> None:
    (memory,) = engrams("CLAUDE.md", text)
    assert (memory.kind, memory.text) == (kind, words)


def test_a_fact_about_the_user_holds_everywhere_or_is_a_lesson() -> None:
    assert engrams("CLAUDE.md", "- My name is Ada", "global")[0].kind == "profile"


def test_a_diary_tells_what_happened() -> None:
    text = "- When I tried it, it failed\n## Never\n- push it\n"
    assert [each.kind for each in engrams("2026-02-03.md", text)] == ["lesson", "never"]


def test_a_rule_of_cursor_is_about_its_files() -> None:
    text = "---\nglobs: src/*.ts\nalwaysApply: {}\n---\n- Prefer const\n"
    (some,) = engrams(NAMES["cursor"], text.format("false"))
    assert (some.kind, some.text) == ("when", "When working on src/*.ts: Prefer const")
    (every,) = engrams(NAMES["cursor"], text.format("true"))
    assert (every.kind, every.text, every.topic) == ("always", "Prefer const", "")
    (none,) = engrams(NAMES["cursor"], "---\ndescription: style\n---\n- Prefer const\n")
    assert none.kind == "always"
    text = (
        f"{text.format('false')}## Never\n- Use var\n- Don't use any\n## When testing it\n- Mock\n"
    )
    assert [each.text for each in engrams(NAMES["cursor"], text)] == [
        "When working on src/*.ts: Prefer const",
        "When working on src/*.ts: never use var",
        "When working on src/*.ts: Never use any",
        "When working on src/*.ts: when testing it: Mock",
    ]
    huge = f"---\nglobs: {'x' * 3000}\n---\n- Prefer const\n"
    assert engrams(NAMES["cursor"], huge)[0].text == "Prefer const"


def test_a_file_of_a_folder_is_about_the_folder_in_its_project() -> None:
    file = File("api/AGENTS.md", "- Use cursors\n", "notes", folder="api")
    said = {scope: read(file, scope).memories[0].engram for scope in get_args(Scope)}
    assert (said["project"].kind, said["project"].text) == (
        "when",
        "When working in api/: Use cursors",
    )
    assert said["global"].text == "Use cursors"
    broken = File("x/AGENTS.md", "- Use cursors\n", "notes", folder="x\udcff")
    assert read(broken, "project").memories[0].engram.text == "Use cursors"


@every(
    "path, text, reason",
    [
        ("CLAUDE.md", "This file provides guidance.", "is about the file itself"),
        ("CLAUDE.md", "- ok", "says too little"),
        ("CLAUDE.md", f"- {'word ' * 500}", "is longer than 2,000 characters"),
        ("CLAUDE.md", "- bytes \udc80 here", "holds bytes that are not UTF-8"),
        ("CLAUDE.md", "- \udc80:\n  - the other", "holds bytes that are not UTF-8"),
        ("MEMORY.md", "- [CI](ci.md): all of it", "only links"),
    ],
)
def test_what_is_no_memory(path: str, text: str, reason: str) -> None:
    passed = found(path, text).passed
    assert reason in [each.reason for each in passed]


def test_the_same_words_forbidden_are_another_memory() -> None:
    first, second = engrams("CLAUDE.md", "## Always\n- use pip\n## Never\n- use pip\n")
    assert identity(first) != identity(second)


def test_an_index_leads_to_files_once() -> None:
    text = "[a](a.md) [b](<x/b.md#c>) [a](a.md) [w](https://x.org/c.md) [p](p.png)"
    assert links(text) == ["a.md", "x/b.md"]


@every(
    "text, expected",
    [
        ('[{"file": "a/x.md", "topic": "CI"}, 3, {"path": "y.md"}]', {"x.md": "CI"}),
        ('{"entries": [{"filename": "x.md", "title": "CI"}]}', {"x.md": "CI"}),
        ('{"x.md": "CI", "y.md": {"name": "Q"}, "z.md": 3}', {"x.md": "CI", "y.md": "Q"}),
        ('{"x.md": {"topic": ["CI"]}}', {}),
        ("[null]", {}),
        ("3", {}),
        ("no json", {}),
        ("[" * 100_000, {}),
    ],
)
def test_an_index_of_any_shape_is_no_error(text: str, expected: dict[str, str]) -> None:
    assert topics(text) == expected


@given(st.sampled_from(get_args(Layout)), TEXTS, st.sampled_from(["project", "global"]))
def test_no_text_is_an_error(layout: Layout, text: str, scope: Scope) -> None:
    told = found(NAMES[layout], text, layout, scope)
    assert all(each.keys for each in told.memories)
    assert told == found(NAMES[layout], text, layout, scope)


@given(TEXTS, TEXTS)
def test_a_file_that_grew_at_its_end_says_what_it_said(text: str, more: str) -> None:
    if any(mark in text + more for mark in ("<!--", "---", "```", "~~~")):
        return
    before = {identity(each.engram) for each in found("CLAUDE.md", text).memories}
    after = {
        identity(each.engram) for each in found("CLAUDE.md", f"{text}\n\n# More\n{more}").memories
    }
    assert before <= after


@given(st.text())
def test_links_and_topics_are_total(text: str) -> None:
    assert all(link.endswith(".md") for link in links(text))
    topics(text)
