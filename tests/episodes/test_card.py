"""A card says what the lines say, and what a person says instead."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown import lazy
from engramdown.episodes import card
from engramdown.episodes.card import (
    EMPTY,
    Card,
    CardFiles,
    ModelCard,
    apply_page,
    as_page,
    compute,
    cut_at_word,
    filled_in,
    read_filled,
    taken_back,
    without_filled,
    write_filled,
)
from engramdown.episodes.memory import EpisodicMemory
from engramdown.storage.disk import Disk
from engramdown.transcripts.episode import Episode
from tests.episodes.strategies import episodes, texts
from tests.tables import every

NOW = "2026-02-27T10:15:00.000000Z"


def line(seq: int, role: Any, text: str = "", **said: Any) -> Episode:  # noqa: ANN401 - any field
    return Episode(seq=seq, ts=NOW, id="x", role=role, text=text, **said)


TALK = [
    line(0, "event", event="start", more={"v": 1}),
    line(1, "user", "Why is CI red? It was green\nyesterday."),
    line(2, "tool_call", '{"cmd": "pytest"}', name="shell", call="a"),
    line(3, "tool_result", "2 failed", name="shell", call="a", error=True),
    line(4, "tool_call", '{"file_path": "tests/test_a.py"}', name="read", call="b"),
    line(5, "tool_call", '{"path": "tests/test_a.py", "text": "x"}', name="edit"),
    line(6, "tool_call", '{"path": "a/b.py", "text": "cut of', name="edit", cut=900),
    line(7, "assistant", "Let me see."),
    line(8, "user", "And?"),
    line(9, "assistant", "Two tests depend on the clock; I froze it.", model="m1"),
    line(10, "event", event="end", more={"reason": "finished"}),
]


def test_everything_that_can_be_computed_is() -> None:
    assert compute("s", TALK) == Card(
        session="s",
        title="Why is CI red? It was green yesterday.",
        one_liner="Why is CI red?",
        paragraph="Why is CI red? It was green yesterday. … "
        "Two tests depend on the clock; I froze it.",
        kind="work",
        tags=("yesterday", "depend", "clock", "froze", "green", "tests", "let"),
        detailed="- Why is CI red?\n- And?\n\nTwo tests depend on the clock; I froze it.",
        participants=("user", "assistant"),
        tools={"edit": 2, "read": 1, "shell": 1},
        files=("tests/test_a.py", "a/b.py"),
        models=("m1",),
    )


def test_a_title_that_was_given_is_the_title() -> None:
    start = line(0, "event", event="start", more={"title": "Mending\nCI"})
    assert compute("s", [start, *TALK[1:]]).title == "Mending CI"


def test_a_title_that_is_no_text_is_none() -> None:
    start = line(0, "event", event="start", more={"title": 7})
    assert compute("s", [start, *TALK[1:]]).title == "Why is CI red? It was green yesterday."


def test_nothing_said_gives_an_empty_card() -> None:
    assert compute("s", [TALK[0], TALK[2], TALK[-1]]) == Card(session="s", kind=EMPTY)
    assert compute("s", []) == Card(session="s", kind=EMPTY)


def test_an_assistant_alone_is_quoted_once() -> None:
    card = compute("s", [line(1, "assistant", "Good morning. Your report is ready.")])
    assert card.title == card.paragraph == "Good morning. Your report is ready."
    assert card.one_liner == "Good morning."


def test_a_user_alone_is_quoted_once() -> None:
    assert compute("s", [line(1, "user", "Hello?")]).paragraph == "Hello?"


def test_what_only_is_white_space_has_no_first_sentence() -> None:
    assert compute("s", [line(1, "user", " \n")]).one_liner == ""


@pytest.mark.parametrize(
    "text, sentence",
    [
        pytest.param("Use v1.2 now. Then stop.", "Use v1.2 now.", id="a-dot-in-a-number"),
        pytest.param("Line one\nline two", "Line one", id="a-line"),
        pytest.param("记住这个。然后停止。", "记住这个。", id="no-spaces"),
        pytest.param("word " * 50, f"{'word ' * 19}word…", id="long"),
    ],
)
def test_the_one_liner_is_the_first_sentence(text: str, sentence: str) -> None:
    found = compute("s", [line(1, "user", text)]).one_liner
    assert found == sentence
    assert len(found) <= 100


def test_speakers_with_names_take_part_under_them() -> None:
    talk = [line(1, "user", "Hi", name="Ann"), line(2, "user", "Hi", name="Bob")]
    assert compute("s", [*talk, line(3, "assistant", "Hi")]).participants == (
        "Ann",
        "Bob",
        "assistant",
    )


def test_a_tool_without_a_name_is_counted() -> None:
    talk = [line(1, "user", "Go"), line(2, "tool_call", "{}")]
    assert compute("s", talk).tools == {"tool": 1}


@every("kind", lazy.texts(card.__file__))
def test_the_words_of_the_user_tell_the_kind(kind: str) -> None:
    cue = min(lazy.texts(card.__file__)[kind].split("|"))
    assert compute("s", [line(1, "user", f"{cue.upper()}, please")]).kind == kind
    assert compute("s", [line(1, "user", "Hi"), line(2, "assistant", cue)]).kind == "casual"


@every(
    "given, files",
    [
        pytest.param('{"file": "a \\"b\\".py"}', ('a "b".py',), id="escaped"),
        pytest.param('{"path": "https://x.org/a"}', (), id="an-address"),
        pytest.param('{"path": "a\\nb"}', (), id="two-lines"),
        pytest.param('{"path": ""}', (), id="nothing"),
        pytest.param('{"path": "' + "x" * 301 + '"}', (), id="too-long"),
        pytest.param('{"path": "\\q"}', (), id="no-json"),
        pytest.param('{"path": 3}', (), id="a-number"),
        pytest.param('{"path": "cut he', (), id="cut-in-the-middle"),
        pytest.param("ls -l a.py", (), id="a-command"),
        pytest.param('{"edits": [{"filePath": "a"}, {"file_path": "b"}]}', ("a", "b"), id="inside"),
    ],
)
def test_the_files_are_those_that_tools_were_told(given: str, files: tuple[str, ...]) -> None:
    assert compute("s", [line(1, "user", "Go"), line(2, "tool_call", given)]).files == files


def test_excluded_and_redacted_lines_leave_nothing() -> None:
    talk = [
        line(1, "user", "My password is hunter2"),
        line(2, "user", "Forget the heron"),
        line(3, "user", "Hello"),
        line(4, "event", event="exclude", more={"of": [2]}),
    ]
    talk[0] = talk[0]._replace(text="", more={"redacted": {"sha256": "0"}})
    assert compute("s", talk) == compute("s", [talk[2]])


def test_tags_are_the_words_that_were_said_most() -> None:
    talk = [
        line(1, "user", "The heron and the heron's nest: is the nest red? 2026 2026 of of"),
        line(2, "tool_result", "pond pond pond", name="shell"),
        line(3, "assistant", "The heron sits in the nest by the pond. " + "x" * 40),
    ]
    assert compute("s", talk).tags == ("heron", "nest", "pond", "sits", "red")
    many = " ".join(f"word{chr(97 + n)} " * 2 for n in range(12))
    assert len(compute("s", [line(1, "user", many)]).tags) == 7


def test_of_a_long_session_the_first_and_the_last_requests_are_told() -> None:
    talk = [line(n, "user", f"Do thing {n}. Then rest.") for n in range(30)]
    told = compute("s", talk).detailed.split("\n")
    assert told[:2] == ["- Do thing 0.", "- Do thing 1."]
    assert told[9:12] == ["- Do thing 9.", "- … 10 more", "- Do thing 20."]
    assert told[-1] == "- Do thing 29."
    assert compute("s", [line(1, "user", " \n"), line(2, "assistant", "Hi")]).detailed == "Hi"


@pytest.mark.parametrize("limit", [1, 2, 8, 60])
@given(text=texts)
def test_a_cut_text_is_one_line_within_its_limit(limit: int, text: str) -> None:
    cut = cut_at_word(text, limit)
    assert len(cut) <= limit
    assert cut == " ".join(cut.split())


def test_a_text_is_cut_between_words() -> None:
    assert cut_at_word("one two, three", 9) == "one two…"
    assert cut_at_word("one two three", 8) == "one two…"
    assert cut_at_word("one two three", 7) == "one…"


@pytest.mark.slow
@given(lines=st.lists(episodes, max_size=8))
def test_the_same_lines_give_the_same_card(lines: list[Episode]) -> None:
    assert compute("s", lines) == compute("s", list(lines))


# ---- the page ----


def test_a_page_is_what_a_person_reads() -> None:
    card = Card(
        session="s",
        title="Two\nlines",
        one_liner="One.",
        paragraph="A paragraph.",
        kind="work",
        tags=("ci", "clock"),
        detailed="- What was asked.\n\nWhat came of it.",
        decisions=("Freeze the clock",),
        participants=("user",),
        tools={"shell": 2},
    )
    assert as_page(card) == (
        "---\nsession: s\ntitle: Two lines\none_liner: One.\nkind: work\ntags:\n- ci\n- clock\n"
        "decisions:\n- Freeze the clock\nparticipants:\n- user\ntools:\n- shell: 2\n"
        "files:\nmodels:\n---\n\nA paragraph.\n"
        "\n## Details\n\n- What was asked.\n\nWhat came of it.\n"
    )
    assert apply_page(Card(session="s"), as_page(card)) == replace(
        card, title="Two lines", edited=True
    )


def test_a_page_that_nobody_changed_changes_nothing() -> None:
    card = compute("s", TALK)
    assert apply_page(card, as_page(card)) == replace(card, edited=True)


@every(
    "page, changed",
    [
        pytest.param("---\ntitle: Mine\n---\n", {"title": "Mine"}, id="one-field"),
        pytest.param("My words.\n", {"paragraph": "My words."}, id="no-head"),
        pytest.param("---\ntitle: Mine\nnever closed", None, id="head-without-end"),
        pytest.param("", {}, id="nothing"),
        pytest.param(
            "\ufeff---\r\nkind: fun\r\n---\r\nHi\r\n",
            {"kind": "fun", "paragraph": "Hi"},
            id="windows",
        ),
        pytest.param(
            "---\ndecisions: a, b,\n---", {"decisions": ("a", "b")}, id="a-list-in-one-line"
        ),
        pytest.param(
            "---\ndecisions:\n  - a: b\n- c\n---", {"decisions": ("a: b", "c")}, id="a-list"
        ),
        pytest.param("---\ntags: a, b\n---", {"tags": ("a", "b")}, id="tags"),
        pytest.param("## Details\nall of it\n", {"detailed": "all of it"}, id="only-details"),
        pytest.param("---\nmodels:\n---", {"models": ()}, id="an-empty-list"),
        pytest.param(
            "---\ntools:\n- a:b: 3\n- c\n- : 4\n- d: x\n---",
            {"tools": {"a:b": 3, "c": 1, ": 4": 1, "d: x": 1}},
            id="tools",
        ),
        pytest.param(
            f"---\ntools:\n- a: {'9' * 5000}\n---",
            {"tools": {f"a: {'9' * 5000}": 1}},
            id="a-number-of-5000-digits",
        ),
        pytest.param(
            "---\n- before any key\nmood: fine\nsession: other\nno key\n---", {}, id="not-ours"
        ),
    ],
)
def test_what_a_page_says_wins(page: str, changed: dict[str, object] | None) -> None:
    card = compute("s", TALK)
    expected = {"paragraph": page} if changed is None else changed
    assert apply_page(card, page) == replace(card, edited=True, **expected)


@given(page=texts)
def test_any_text_is_a_page(page: str) -> None:
    assert apply_page(Card(session="s"), page).session == "s"


# ---- the page on the disk ----


@pytest.fixture
def memory(tmp_path: Path) -> EpisodicMemory:
    made = EpisodicMemory(tmp_path)
    made.log("s", "user", "Why is CI red?")
    made.log("s", "assistant", "The clock.")
    return made


@pytest.fixture
def files(tmp_path: Path) -> CardFiles:
    return CardFiles(tmp_path, Disk())


def test_looking_at_a_card_makes_no_file(memory: EpisodicMemory, files: CardFiles) -> None:
    card = memory.card("s")
    assert (card.title, card.edited, card.stale) == ("Why is CI red?", False, False)
    assert not files.folder.exists()


def test_a_page_wins_and_is_private(memory: EpisodicMemory, files: CardFiles) -> None:
    assert files.create("s", "---\ntitle: Mending CI\n---\n")
    card = memory.card("s")
    assert (card.title, card.edited) == ("Mending CI", True)
    assert card.participants == ("user", "assistant")
    assert files.path("s").stat().st_mode & 0o777 == 0o600


def test_a_page_is_never_written_again(memory: EpisodicMemory, files: CardFiles) -> None:
    page = as_page(memory.card("s"))
    assert files.create("s", "mine")
    assert not files.create("s", page)
    assert files.path("s").read_text(encoding="utf-8") == "mine"
    assert [path.name for path in files.folder.iterdir()] == ["s.card.md"]


def test_a_page_older_than_a_redaction_is_left_out_until_it_is_saved_again(
    memory: EpisodicMemory, files: CardFiles
) -> None:
    files.create("s", "---\ntitle: CI and hunter2\n---\n")
    os.utime(files.path("s"), (1, 1))
    memory.forgetting().redact("s", [1])
    card = memory.card("s")
    assert (card.title, card.edited, card.stale) == ("The clock.", False, True)
    os.utime(files.path("s"))
    assert memory.card("s").title == "CI and hunter2"


def test_a_page_that_is_no_utf8_is_read(memory: EpisodicMemory, files: CardFiles) -> None:
    files.create("s", "")
    files.path("s").write_bytes(b"---\ntitle: caf\xe9\n---\n")
    assert memory.card("s").title == "caf\ufffd"


# ---- what a model said of a session ----

SAID = ModelCard(
    "2026-03-01", "m", 2, "T", "one", "more", ("a", "b"), ("ci", "clock"), "All\nof it"
)


@given(st.builds(ModelCard, st.text(), st.text(), st.integers(), st.text(), st.text(), st.text()))
def test_what_is_read_is_what_was_written(said: ModelCard) -> None:
    line = write_filled(said)
    assert line.count(b"\n") == 1
    assert read_filled(line) == said


@given(st.binary(), st.binary())
def test_any_bytes_may_stand_around_it(before: bytes, after: bytes) -> None:
    data = before + b"\n" + write_filled(SAID) + after
    assert read_filled(data) == SAID
    assert without_filled(data) == before + b"\n" + after


def test_the_newest_counts() -> None:
    data = write_filled(SAID) + write_filled(SAID._replace(title="new")) + b'{"kind":"card","ti'
    assert read_filled(data) == SAID._replace(title="new")


@every(
    "value",
    [
        pytest.param([], id="no-object"),
        pytest.param({"kind": "gist", "title": "T"}, id="another-kind"),
        pytest.param({"kind": "card", "title": 5}, id="no-text"),
        pytest.param({"kind": "card", "marks": "many"}, id="no-number"),
        pytest.param({"kind": "card", "decisions": "a"}, id="no-list"),
        pytest.param({"kind": "card", "tags": "a"}, id="no-list-of-tags"),
        pytest.param({"kind": "card", "detailed": 5}, id="no-details"),
    ],
)
def test_what_has_another_form_is_passed_over(value: object) -> None:
    assert read_filled(json.dumps(value).encode()) is None
    assert without_filled(json.dumps(value).encode()) == json.dumps(value).encode()


def test_what_is_no_text_among_decisions_is_left_out() -> None:
    line = json.dumps({"kind": "card", "decisions": ["a", 5]}).encode()
    assert read_filled(line) == ModelCard("", "", decisions=("a",))
    assert read_filled(b"[" * 100_000) is None


def test_a_card_is_filled_in_where_the_model_said_something() -> None:
    card = Card(session="s", title="Why", one_liner="Why?", paragraph="Why? Because.")
    start = Episode(seq=0, ts="", id="", role="event", event="start")
    filled = filled_in(card, SAID._replace(one_liner=""), [start])
    assert (filled.title, filled.one_liner, filled.paragraph) == ("T", "Why?", "more")
    assert (filled.decisions, filled.filled_by) == (("a", "b"), "m")
    assert (filled.tags, filled.detailed) == (("ci", "clock"), "All\nof it")
    # A line that an older version wrote says nothing of them: what is computed stays.
    older = filled_in(Card(session="s", tags=("pond",)), SAID._replace(tags=(), detailed=""), [])
    assert older.tags == ("pond",)
    assert filled_in(card, SAID, []).title == "T"


def test_a_title_that_was_given_stays() -> None:
    start = Episode(seq=0, ts="", id="", role="event", event="start", more={"title": "Mine"})
    assert filled_in(Card(session="s", title="Mine"), SAID, [start]).title == "Mine"


def test_what_was_taken_back_is_counted() -> None:
    events = ["start", "exclude", "include", "redact", "end"]
    lines = [Episode(seq=0, ts="", id="", role="event", event=each) for each in events]
    assert taken_back(lines) == 3
