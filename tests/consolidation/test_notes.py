"""A page of notes is taken apart into statements, and what states nothing is named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.consolidation.notes import Page, read_notes
from tests.tables import every

LINES = st.sampled_from(
    [
        *(
            "- a b c",
            "  - nested words",
            "* star: ",
            "Words lead:",
            "plain words",
            "# T",
            "## Never",
        ),
        *("```", "~~~~", "  ```sh", "- ```", "> said", "| a |", "<b>", "<!--", "-->", "<!-- x -->"),
        *("", "", "   ", "\t- tab words", "    four words", "===", "---", "***", "1. one word"),
        *("@a.md", "[x]: y", "- [ ] todo", "<!-- engramdown:begin -->", "<!-- engramdown:end -->"),
        *(
            "- [ci](ci.md)",
            "- a <!-- ts:2026-01-01 -->",
            "\ufeffwords",
            "\udc80 bytes",
            "- Always x",
        ),
    ]
)
TEXTS = st.one_of(st.text(), st.lists(LINES, max_size=30).map("\n".join))


def said(text: str, *, by_line: bool = False) -> list[str]:
    """Return what a page says."""
    return [each.text for each in read_notes(text, by_line=by_line).notes]


def kinds(text: str, *, by_line: bool = False) -> list[tuple[str, str]]:
    """Return what a page says, with the kinds."""
    return [(each.kind, each.text) for each in read_notes(text, by_line=by_line).notes]


def reasons(text: str) -> list[tuple[int, str]]:
    """Return what is passed over."""
    return [(each.line, each.reason) for each in read_notes(text).passed]


@every(
    "text, expected",
    [
        pytest.param("", [], id="empty"),
        pytest.param("- one two\n* three\n+ four\n", ["one two", "three", "four"], id="bullets"),
        pytest.param("- one\n  two\n\n  three\n", ["one two three"], id="continued"),
        pytest.param("- one\ntwo\n", ["one two"], id="lazy"),
        pytest.param("one\ntwo\n\nthree", ["one two", "three"], id="paragraphs"),
        pytest.param("- Use uv\n  - never pip\n", ["Use uv", "Use uv: never pip"], id="nested"),
        pytest.param("- A:\n  - B:\n    - ccc\n", ["A: B: ccc"], id="twice-nested"),
        pytest.param("- A:\n  - bbb\n- ccc\n", ["A: bbb", "ccc"], id="back-out"),
        pytest.param("Before:\n\n- bbb\n- ccc\n", ["Before: bbb", "Before: ccc"], id="led"),
        pytest.param(
            "Before:\n\n1. bbb\n2. ccc\n", ["Before: bbb", "Before: ccc"], id="led-to-numbers"
        ),
        pytest.param("one in\n1984. two\n1. three", ["one in 1984. two", "three"], id="a-year"),
        pytest.param("Before:\n\nAfter\n", ["After"], id="leads-nowhere"),
        pytest.param("Before:\n\n## T\n- bbb\n", ["bbb"], id="led-to-a-heading"),
        pytest.param("Before:\n\n---\n- bbb\n", ["bbb"], id="led-to-a-break"),
        pytest.param("- one\n\ntwo\n\n- three\n", ["one", "two", "three"], id="list-ended"),
        pytest.param("- one\n  ```\n  x\n  ```\n  two\n", ["one: two"], id="around-code"),
        pytest.param(f"- {'xx ' * 40}x\n  - yyy\n", ["xx " * 40 + "x", "yyy"], id="long-context"),
        pytest.param("\ufeff- one\r\n- two\r\n", ["one", "two"], id="bom-and-crlf"),
        pytest.param("one\n    two\n", ["one two"], id="indented-in-a-paragraph"),
        pytest.param("-\n- one\n", ["one"], id="empty-item"),
        pytest.param("- aaa<!-- xxx -->b\n", ["aaab"], id="comment-inside"),
        pytest.param("- aaa <!-- bbb\n", ["aaa <!-- bbb"], id="comment-left-open-inside"),
    ],
)
def test_what_a_file_says(text: str, expected: list[str]) -> None:
    assert said(text) == expected


@every(
    "text, reason, rest",
    [
        pytest.param("```\n- xxx\n```\n- yyy", "code", ["yyy"], id="fence"),
        pytest.param("~~~\n- xxx\n```\n~~~~\n- yyy", "code", ["yyy"], id="tildes"),
        pytest.param("````\n```\n- xxx\n````\n- yyy", "code", ["yyy"], id="long-fence"),
        pytest.param("```\n- xxx\n", "code", [], id="never-closed"),
        pytest.param(
            "```\n    ```\n- xxx\n```\n- yyy", "code", ["yyy"], id="deep-fence-closes-nothing"
        ),
        pytest.param("- ```\n  x\n  ```\n- yyy", "code", ["yyy"], id="fence-in-an-item"),
        pytest.param("```aaa`b\n- yyy", "", ["```aaa`b", "yyy"], id="no-fence"),
        pytest.param("    x\n    # x\n- yyy", "code", ["yyy"], id="indented"),
        pytest.param(
            "ppp\n\n    x\n- yyy", "code", ["ppp", "yyy"], id="indented-below-a-paragraph"
        ),
        pytest.param("> xxx\n- yyy", "a quotation", ["yyy"], id="quotation"),
        pytest.param("| xxx |\n|---|\n- yyy", "a table", ["yyy"], id="table"),
        pytest.param("<div>\n- yyy", "HTML", ["yyy"], id="html"),
        pytest.param("[x]: yyy\n- yyy", "the target of a link", ["yyy"], id="target"),
        pytest.param("<!-- xxx -->\n- yyy", "a comment", ["yyy"], id="comment"),
        pytest.param("<!--\n- xxx\n-->\n- yyy", "a comment", ["yyy"], id="long-comment"),
        pytest.param("<!--\n- yyy", "a comment", ["yyy"], id="comment-never-closed"),
        pytest.param(
            "<!-- engramdown:begin -->\n- xxx\n<!-- engramdown:end -->\n- yyy",
            "written by engramdown",
            ["yyy"],
            id="ours",
        ),
        pytest.param(
            "<!-- engramdown:begin -->\n- yyy", "a comment", ["yyy"], id="ours-never-closed"
        ),
        pytest.param(
            "It is slow.\n**TODO:** mend it by Friday\n\n- TODO marks need a ticket",
            "is contents, history or work to do",
            ["It is slow.", "TODO marks need a ticket"],
            id="work-to-do",
        ),
        pytest.param("Words:\n\nmore", "only introduces what follows", ["more"], id="leads"),
        pytest.param(
            "@docs/x.md\n- yyy",
            "names another file; `engramdown migrate docs/x.md` brings what it says",
            ["yyy"],
            id="import",
        ),
        pytest.param(
            "- @docs/x.md\n- yyy",
            "names another file; `engramdown migrate docs/x.md` brings what it says",
            ["yyy"],
            id="import-in-an-item",
        ),
    ],
)
def test_what_is_no_statement(text: str, reason: str, rest: list[str]) -> None:
    assert [why for _, why in reasons(text)] == ([reason] if reason else [])
    assert said(text) == rest


def test_headings_are_those_above() -> None:
    page = read_notes(
        "# T\n\n## A <!-- x -->\n- aaa\n### B ###\n- bbb\n\nC\n---\n- ccc\n\nD\nd\n===\n- ddd\n"
    )
    assert [each.titles for each in page.notes] == [
        ((1, "T"), (2, "A")),
        ((1, "T"), (2, "A"), (3, "B")),
        ((1, "T"), (2, "C")),
        ((1, "D d"),),
    ]


def test_metadata_and_lines_are_told() -> None:
    page = read_notes("xxx\n\n- aaa <!-- confidence:low ts:2026-01-02 -->\n- bbb <!-- see -->\n")
    assert [(each.line, each.meta.values()) for each in page.notes] == [
        (1, {}),
        (3, {"confidence": "low", "ts": "2026-01-02"}),
        (4, {}),
    ]


@pytest.mark.parametrize(
    "text, globs",
    [
        pytest.param("---\nglobs:\n  - a\n  - b\n---\n", ("a", "b"), id="items"),
        pytest.param("---\n- a\nodd\n---\n", (), id="no-key"),
    ],
)
def test_front_matter(text: str, globs: tuple[str, ...]) -> None:
    page = read_notes(text + "- yyy")
    assert page.front.items("globs") == globs
    assert [each.text for each in page.notes] == ["yyy"]


# ---- kinds ----


@every(
    "text, kind, words",
    [
        ("- Push it", "always", "Push it"),
        ("- CI takes nine minutes", "lesson", "CI takes nine minutes"),
        ("- My name is Ada", "profile", "Name: Ada"),
        ("- The user prefers uv", "profile", "The user prefers uv"),
        ("## Do not\n- Push it", "never", "Push it"),
        ("## Don\u2019ts\n- Don't push it", "never", "Never push it"),
        ("## Never\n### Git\n- Push it", "never", "Push it"),
        ("## Never\n- Avoid tabs", "never", "Tabs"),
        ("## Things to avoid\n- Default exports", "never", "Default exports"),
        ("## Nicht anfassen\n- `gen/`", "never", "Nicht anfassen: `gen/`"),
        ("## Was wir nicht wollen\n- Klassenbasierte Views", "never", "Klassenbasierte Views"),
        ("## Nicht anfassen\n- Statt `a` immer `b` nehmen", "always", "Statt `a` immer `b` nehmen"),
        ("## Do not\n\nThe folder is generated.", "lesson", "The folder is generated."),
        ("## Code style\n- Two spaces", "always", "Two spaces"),
        ("## Code style\n- No tabs", "never", "No tabs"),
        ("## Dos and don'ts\n- Never push it", "never", "Never push it"),
        ("## Gotchas\n- Run it twice to warm it", "lesson", "Run it twice to warm it"),
        ("## Gotchas\n- Never run it twice", "never", "Never run it twice"),
        ("## About me\n- Backend developer", "profile", "Backend developer"),
        ("## When deploying\n- Look at it", "when", "When deploying: Look at it"),
        ("## When\n- it rains, wait", "when", "it rains, wait"),
        ("## Releasing\n1. Tag it", "always", "Releasing: Tag it"),
        ("Never:\n- push it", "never", "push it"),
        ("When deploying:\n- look at it", "when", "When deploying: look at it"),
        ("- **Never:** push it", "never", "push it"),
        ("- **Tests:** use pytest", "always", "Tests: use pytest"),
        ("- \u274c Wildcard imports", "never", "Wildcard imports"),
        ("- \u2705 Small functions", "always", "Small functions"),
        ("- Don't forget to lint", "always", "Don't forget to lint"),
        ("- Stop the server first", "always", "Stop the server first"),
        ("- Tests mit pytest schreiben", "always", "Tests mit pytest schreiben"),
        ("- Die Migrationen nicht anfassen", "never", "Die Migrationen nicht anfassen"),
        ("- Der Build l\u00e4uft auf Jenkins", "lesson", "Der Build l\u00e4uft auf Jenkins"),
        ("- \u00c9vite les globales", "never", "Les globales"),
    ],
)
def test_the_kind_comes_from_what_stands_above_or_from_the_words(
    text: str, kind: str, words: str
) -> None:
    assert kinds(text) == [(kind, words)]


def test_what_a_heading_forbids_is_said_in_words() -> None:
    text = "## Never\n- Push\n- CI first\n- A tag\n- Don't push\n- No tabs"
    notes = read_notes(text).notes
    assert [each.in_words for each in notes] == [
        "never push",
        "never CI first",
        "never a tag",
        "Never push",
        "No tabs",
    ]


def test_what_cannot_be_a_heading_adds_nothing() -> None:
    for title in (f"When {'x' * 2000}", "When \udcff x"):
        assert said(f"## {title}\n- Mock it") == ["Mock it"]


# ---- structure ----


def test_paragraphs_are_taken_apart_and_items_where_a_rule_begins() -> None:
    assert kinds("Ferry sells tickets. It runs on Fly. The port is e.g. 80. So wait.") == [
        ("lesson", "Ferry sells tickets."),
        ("lesson", "Ferry runs on Fly."),
        ("lesson", "The port is e.g. 80. So wait."),
    ]
    items = [
        "- It is pinned. Do not edit `x`.",
        "- It is pinned. Do not edit it.",
        "- Use uv. It is fast.",
        "- Use uv. Never use pip.",
    ]
    assert kinds("\n".join(items)) == [
        ("lesson", "It is pinned."),
        ("never", "Never edit `x`."),
        ("never", "It is pinned. Do not edit it."),
        ("always", "Use uv. It is fast."),
        ("always", "Use uv."),
        ("never", "Never use pip."),
    ]


def test_plain_lines_stand_for_themselves() -> None:
    text = "Style:\nTwo spaces\nkeyword arguments\n\nDO NOT\nEdit gen/\n[Gotchas]\nIt is slow."
    assert kinds(text, by_line=True) == [
        ("always", "Two spaces"),
        ("always", "keyword arguments"),
        ("never", "Edit gen/"),
        ("lesson", "It is slow."),
    ]


def test_what_a_column_says_of_a_secret_stays_with_it() -> None:
    table = "| Service | Login |\n|---|---|\n| Web | ann / Linse-77! |\n| Api | see the wiki |\n"
    assert said(table) == ["Web: Login ann / Linse-77!", "Api: see the wiki"]


def test_tables_are_rules_with_reasons_facts_or_what_to_do_and_not() -> None:
    assert kinds("| # | Rule | Why |\n|--|--|--|\n| 1 | No Lombok. | breaks it |") == [
        ("never", "No Lombok (breaks it)")
    ]
    assert kinds("| Command | Does |\n|--|--|\n| `make` | builds |\n| | |") == [
        ("lesson", "`make`: builds")
    ]
    assert kinds("| Name | Port | Owner |\n|--|--|--|\n| web | 80 | Ada |") == [
        ("lesson", "web: Port 80, Owner Ada")
    ]
    assert kinds("| Do | Don't |\n|--|--|\n| use a \\| b | use c |") == [
        ("always", "use a | b"),
        ("never", "use c"),
    ]


def test_commands_in_a_shell_say_what_their_comments_do() -> None:
    text = "```sh\n$ make   # builds\n# tests it\npytest -q\nls\n```\n\n```py\nx  # y\n```"
    assert kinds(text) == [("lesson", "`make`: builds"), ("lesson", "`pytest -q`: tests it")]
    assert reasons(text) == [(8, "code")]


def test_what_is_to_be_noticed_is_read() -> None:
    text = "> [!NOTE]\n> Never push.\n> - CI is slow\n\n> **Note:** CI is red.\n\n> said she"
    assert said(text) == ["Never push.", "CI is slow", "Note: CI is red."]
    assert reasons(text) == [(7, "a quotation")]


def test_marks_are_no_part_of_a_statement() -> None:
    text = "- [ ] **Use** _uv_, `a_b` and a_c\n- ~~Use pip~~ Use uv 2\n- ![x](y.png) CI is red"
    assert said(text) == ["Use uv, `a_b` and a_c", "Use uv 2", "CI is red"]


def test_the_same_in_other_words_has_the_same_key() -> None:
    notes = read_notes(
        "- Never commit to `main`, please\n- **DON'T COMMIT TO MAIN**\n- Commit to main\n"
    ).notes
    first, second, third = notes
    assert second.keys[0] in first.keys
    assert third.keys[0] not in first.keys


@given(TEXTS)
def test_no_text_is_an_error_and_lines_are_those_of_the_file(text: str) -> None:
    page = read_notes(text)
    count = text.count("\n") + 1
    assert all(1 <= each.line <= count for each in page.notes)
    assert all(1 <= each.line <= count for each in page.passed)
    assert all(each.text.strip() and each.keys for each in page.notes)


@given(TEXTS, st.sampled_from(["```", "~~~", "````"]), TEXTS)
def test_nothing_comes_out_of_a_fence(before: str, fence: str, inside: str) -> None:
    code = "\n".join(f"- INSIDE {line}" for line in inside.split("\n"))
    # What stands before may itself have opened a fence that this one closes: then it is no fence.
    text = f"{fence}\n{code}\n{fence}\n{before}"
    assert not any("INSIDE" in each for each in said(text))


@given(TEXTS, TEXTS)
def test_what_is_added_below_a_heading_changes_nothing_above(text: str, more: str) -> None:
    before = read_notes(text)
    after = read_notes(f"{text}\n\n# More\n{more}") if _ends_open(before, text) else None
    if after is not None:
        assert after.notes[: len(before.notes)] == before.notes


def _ends_open(page: Page, text: str) -> bool:
    """Whether nothing in the text waits for an end that may come later."""
    return not any(mark in text for mark in ("<!--", "---", "```", "~~~")) and bool(page)


def test_a_secret_takes_no_other_sentence_of_its_line_with_it() -> None:
    secret = "the key of the sandbox is `dd_api_" + "0f8a92c7" * 4 + "`."
    assert said(f"- Dashboards are in Grafana. Mind that {secret} Pages are rare.") == [
        "Dashboards are in Grafana.",
        f"Mind that {secret}",
        "Pages are rare.",
    ]
    # Two sentences give one away together.
    assert len(said("- The password is new. Now it's `plum-7x`. Pages are rare.")) == 1


def test_what_follows_too_many_statements_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engramdown.consolidation.notes._MOST_NOTES", 2)
    page = read_notes("- Use uv\n- Use tabs\n\n- Use ruff\n- Use mypy\n")
    assert [note.text for note in page.notes] == ["Use uv", "Use tabs"]
    assert [(each.line, each.reason[:24]) for each in page.passed] == [
        (4, "what follows is too much")
    ]
