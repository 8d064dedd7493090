"""Whose an entry is follows from the steps of the journal, and from nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.hippocampus.changeset import Act, entry_changes, new_step
from engramdown.hippocampus.history import CLONED, Part, Step, make_part
from engramdown.hippocampus.provenance import Origins, follow, keys_in, page_key
from engramdown.markdown.document import Document, parse

GIT: Final = Act("checkout", "person", "git moved to another commit")
CLONE: Final = Act("found", "person", CLONED)
HAND: Final = Act("edit", "person", "by hand")
FOUND: Final = Act("found", "person")
USER: Final = Act("encode", "user")
MODEL: Final = Act("encode", "llm")
TIDY: Final = Act("compact", "consolidation")
RULES: Final = "rules.md"


class Scope:
    """The files of a scope and its journal, without a disk."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.texts: dict[str, str] = {}
        self.steps: list[Step] = []

    def step(self, act: Act, text: str | None, file: str = RULES) -> None:
        """Let ``act`` make ``text`` of a file; ``None`` removes it."""
        before = self.texts.get(file)
        if before is None and text is None:
            return
        part = make_part(file, before, text)
        changes = () if before is None else entry_changes(file, parse(before), parse(text or ""))
        self.steps.append(new_step(act, (part,), tuple(changes)))
        if text is None:
            del self.texts[file]
        else:
            self.texts[file] = text

    def origins(self) -> Origins:
        """Return whose the entries are, found out at once."""
        return follow(Origins(), self.steps, {})

    def brought(self) -> list[str]:
        """Return the texts of the entries that stand and that git brought."""
        return brought(self.origins(), self.texts)


def brought(origins: Origins, texts: Mapping[str, str]) -> list[str]:
    return [
        placed.block.text
        for file, text in texts.items()
        for key, placed in keys_in(file, parse(text))
        if key in origins.brought
    ]


def always(*texts: str) -> str:
    return "# Rules\n\n## Always\n\n" + "".join(f"- {text}\n" for text in texts)


def never(*texts: str) -> str:
    return "# Rules\n\n## Never\n\n" + "".join(f"- {text}\n" for text in texts)


# ---- what is news ----


def test_what_came_with_a_clone_is_brought() -> None:
    scope = Scope()
    scope.step(CLONE, always("Use uv"))
    assert scope.brought() == ["Use uv"]


def test_a_file_that_git_did_not_know_is_the_persons() -> None:
    scope = Scope()
    scope.step(FOUND, always("Use uv"))
    assert scope.brought() == []


def test_what_a_pull_added_is_brought_and_what_stood_is_not() -> None:
    scope = Scope()
    scope.step(MODEL, always("Use uv"))
    scope.step(GIT, always("Use uv", "Skip the tests"))
    assert scope.brought() == ["Skip the tests"]


def test_other_words_for_a_memory_of_ours_are_brought() -> None:
    scope = Scope()
    scope.step(MODEL, always("Use uv <!-- id:k3v9q2ht -->"))
    scope.step(GIT, always("Use pip <!-- id:k3v9q2ht -->"))
    assert scope.brought() == ["Use pip"]


def test_ours_under_another_heading_says_something_else() -> None:
    scope = Scope()
    scope.step(MODEL, never("Push to main"))
    scope.step(GIT, always("Push to main"))
    assert scope.brought() == ["Push to main"]


def test_a_heading_over_ours_is_read_with_it() -> None:
    scope = Scope()
    scope.step(MODEL, "# Lessons\n\n- CI is slow\n", "lessons.md")
    scope.step(GIT, "# Lessons\n\n## Obey all of this\n\n- CI is slow\n", "lessons.md")
    assert scope.brought() == ["CI is slow"]


# ---- what is none ----


def test_a_branch_that_went_and_came_back_is_ours() -> None:
    scope = Scope()
    scope.step(MODEL, always("Use uv", "Be quick"))
    scope.step(GIT, always("Use uv"))
    scope.step(GIT, always("Use uv", "Be quick"))
    assert scope.brought() == []


def test_what_we_forgot_or_reworded_is_ours_when_git_brings_it_back() -> None:
    scope = Scope()
    old = always("Use uv <!-- id:k3v9q2ht -->", "Be quick <!-- id:p81dz5ka -->")
    scope.step(USER, old)
    scope.step(Act("forget", "user"), always("Use uv <!-- id:k3v9q2ht -->"))
    scope.step(Act("update", "user"), always("Use uv, never pip <!-- id:k3v9q2ht -->"))
    scope.step(GIT, old)
    assert scope.brought() == []


def test_a_lesson_that_git_files_under_a_topic_is_ours() -> None:
    scope = Scope()
    scope.step(MODEL, "# Lessons\n\n- CI is slow\n", "lessons.md")
    scope.step(GIT, "# Lessons\n", "lessons.md")
    scope.step(GIT, "# ci\n\n- CI is slow\n", "topics/ci.md")
    assert scope.brought() == []


def test_case_spaces_and_metadata_are_no_other_words() -> None:
    scope = Scope()
    scope.step(MODEL, always("Use uv <!-- id:k3v9q2ht confidence:low -->"))
    scope.step(GIT, always("use  UV. <!-- id:p81dz5ka confidence:high pin:yes -->"))
    assert scope.brought() == []


# ---- who makes it their own ----


@pytest.mark.parametrize(
    "act, theirs",
    [
        pytest.param(HAND, True, id="by-hand"),
        pytest.param(Act("meanwhile", "person"), True, id="by-hand-meanwhile"),
        pytest.param(USER, True, id="said-by-the-user"),
        pytest.param(Act("restore", "user"), True, id="restored"),
        pytest.param(MODEL, False, id="said-by-a-model"),
        pytest.param(TIDY, False, id="tidied"),
        pytest.param(Act("rewrite", "user"), False, id="mended"),
        pytest.param(Act("undo", "user"), False, id="undone"),
        pytest.param(Act("notice", "engramdown"), False, id="followed"),
    ],
)
def test_only_a_person_makes_it_their_own(act: Act, *, theirs: bool) -> None:
    scope = Scope()
    scope.step(CLONE, always("Use uv <!-- id:k3v9q2ht -->", "Be quick"))
    scope.step(act, always("Use uv <!-- id:k3v9q2ht confidence:high -->", "Be quick"))
    assert scope.brought() == (["Be quick"] if theirs else ["Use uv", "Be quick"])


@pytest.mark.parametrize("laid_out", ["*   Use uv", "-   Use uv", "- Use uv  "])
def test_an_editor_that_lays_out_every_line_anew_approves_none(laid_out: str) -> None:
    scope = Scope()
    scope.step(CLONE, always("Use uv", "Be quick"))
    scope.step(HAND, always("Use uv", "Be quick").replace("- Use uv", laid_out))
    assert scope.brought() == ["Use uv", "Be quick"]


def test_what_an_automatic_job_puts_back_is_still_brought() -> None:
    scope = Scope()
    scope.step(CLONE, always("Use uv", "Be quick"))
    scope.step(TIDY, always("Be quick"))
    scope.step(Act("undo", "user"), always("Use uv", "Be quick"))
    scope.step(GIT, always("Be quick"))
    scope.step(GIT, always("Use uv", "Be quick"))
    assert scope.brought() == ["Use uv", "Be quick"]


def test_the_same_words_under_another_heading_approve_nothing() -> None:
    scope = Scope()
    scope.step(CLONE, always("Push to main"))
    scope.step(USER, always("Push to main") + "\n## Never\n\n- Push to main\n")
    assert scope.brought() == ["Push to main"]


def test_what_a_person_moves_by_hand_is_theirs() -> None:
    scope = Scope()
    scope.step(CLONE, always("Use uv"))
    scope.step(HAND, never("Use uv"))
    assert scope.brought() == []


# ---- proposals, pages, the archive ----


def test_a_tick_of_somebody_else_is_not_ours() -> None:
    scope = Scope()
    line = "- [ ] Run the tests twice <!-- id:aaaaaaa4 kind:always -->\n"
    scope.step(Act("propose", "llm"), line, "pending.md")
    scope.step(GIT, line.replace("[ ]", "[x]"), "pending.md")
    assert scope.brought() == ["[x] Run the tests twice"]
    scope.step(HAND, line, "pending.md")
    assert scope.brought() == []
    scope.step(HAND, "", "pending.md")
    assert scope.brought() == []


def test_the_archive_is_no_memory() -> None:
    scope = Scope()
    scope.step(
        CLONE, "# Archive\n\n- Use pip <!-- id:k3v9q2ht reason:forgotten -->\n", "archive.md"
    )
    scope.step(Act("forget", "user"), "# Archive\n", "archive.md")
    assert scope.brought() == []


def test_a_page_is_known_by_all_of_it() -> None:
    assert page_key("memory/soul.md", "a") != page_key("memory/soul.md", "A")
    assert page_key("memory/soul.md", "a") != page_key("templates/soul.md", "a")


# ---- a journal that is not whole ----


def test_what_git_did_to_a_file_that_is_not_known_is_in_doubt_brought() -> None:
    scope = Scope()
    scope.step(MODEL, always("Use uv"))
    scope.step(GIT, always("Use uv", "Skip the tests"))
    scope.step(MODEL, always("Use uv", "Skip the tests", "Be quick"))
    # The first step is gone, and a later one tells the whole text.
    last = scope.steps[2].parts[0]._replace(text=scope.texts[RULES])
    cut = [scope.steps[1], scope.steps[2]._replace(parts=(last,))]
    found = brought(follow(Origins(), cut, {}), scope.texts)
    assert "Skip the tests" in found


def test_a_part_that_does_not_fit_its_text_is_not_believed() -> None:
    scope = Scope()
    scope.step(MODEL, always("Use uv"))
    scope.step(GIT, always("Use uv", "Be quick"))
    lie = scope.steps[1].parts[0]._replace(target="0" * 16)
    origins = follow(Origins(), [scope.steps[0], scope.steps[1]._replace(parts=(lie,))], {})
    assert origins.brought == frozenset()
    short = Part(RULES, scope.steps[0].parts[0].target, "", 0, "", "", None, 0, 3)
    odd = scope.steps[0]._replace(parts=(short,), changes=())
    assert follow(Origins(), [scope.steps[0], odd, scope.steps[1]], {}).brought == frozenset()


# ---- laws ----

WORDS: Final = ("Use uv", "Be quick", "Skip the tests", "Push to main")


class Move(NamedTuple):
    """One step of a story: who, and which words stand under which heading afterwards."""

    act: Act
    file: str
    under: Mapping[str, str] | None


def moves() -> st.SearchStrategy[list[Move]]:
    acts = st.sampled_from([GIT, GIT, CLONE, FOUND, HAND, USER, MODEL, TIDY])
    under = st.dictionaries(st.sampled_from(WORDS), st.sampled_from(["Always", "Never"]))
    files = st.sampled_from([RULES, "lessons.md"])
    return st.lists(st.builds(Move, acts, files, st.none() | under), max_size=9)


def text_of(under: Mapping[str, str] | None) -> str | None:
    if under is None:
        return None
    lines = []
    for title in ("Always", "Never"):
        lines.append(f"## {title}\n\n")
        lines += [f"- {words}\n" for words in WORDS if under.get(words) == title]
    return "# All\n\n" + "".join(lines)


def played(story: list[Move]) -> tuple[Scope, set[tuple[str, str, str]]]:
    """Return the scope after a story, and what anybody here ever put anywhere."""
    scope, ours = Scope(), set[tuple[str, str, str]]()
    for act, file, under in story:
        stood = keys_under(scope.texts.get(file, ""), file)
        scope.step(act, text_of(under), file)
        if act not in (GIT, CLONE):
            ours |= keys_under(text_of(under) or "", file) - stood
    return scope, ours


def keys_under(text: str, file: str) -> set[tuple[str, str, str]]:
    return {(file, placed.kind, placed.block.text) for placed in parse(text).placed()}


@given(moves())
def test_what_nobody_here_put_there_is_always_brought(story: list[Move]) -> None:
    scope, ours = played(story)
    origins = scope.origins()
    for file, text in scope.texts.items():
        for key, placed in keys_in(file, parse(text)):
            if (file, placed.kind, placed.block.text) not in ours:
                assert key in origins.brought


@given(moves())
def test_where_git_brings_nothing_of_others_nothing_is_brought(story: list[Move]) -> None:
    """Switching between what stood here before is no news, whoever put it there."""
    scope = Scope()
    stood: dict[str, list[str | None]] = {}
    for at, (act, file, under) in enumerate(story):
        if act in (GIT, CLONE) and file in stood:
            scope.step(GIT, stood[file][at % len(stood[file])], file)
        else:
            scope.step(MODEL if act in (CLONE, GIT) else act, text_of(under), file)
        stood.setdefault(file, []).append(scope.texts.get(file))
    assert set(scope.brought()) <= moved_by_hand(story)


def moved_by_hand(story: list[Move]) -> set[str]:
    """Return the words that somebody here put under another heading without saying so.

    Where they stood before, the journal does not tell but at the moments when git came.
    """
    seen: dict[tuple[str, str], set[str]] = {}
    for _, file, under in story:
        for words, title in (under or {}).items():
            seen.setdefault((file, words), set()).add(title)
    return {words for (_, words), titles in seen.items() if len(titles) > 1}


@given(moves(), st.integers(0, 9))
def test_going_on_from_what_was_known_is_the_same_as_from_the_start(
    story: list[Move], at: int
) -> None:
    scope, _ = played(story)
    texts: dict[str, str] = {}
    for step in scope.steps[:at]:
        for part in step.parts:
            texts[part.file] = part.forward(texts.get(part.file, ""))
            if not part.target and at % 2:
                del texts[part.file]
    known = follow(Origins(), scope.steps[:at], {})
    assert follow(known, scope.steps[at:], texts) == scope.origins()


# ---- a long journal ----


def test_a_long_journal_is_followed_without_reading_each_file_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scope = Scope()
    scope.step(CLONE, always("Deploy on Mondays"))
    for at in range(50):
        scope.step(USER, always("Deploy on Mondays", *(f"Rule {each}" for each in range(at + 1))))
    whole = 0

    def reading(text: str) -> Document:
        nonlocal whole
        whole += text.startswith("#")
        return parse(text)

    monkeypatch.setattr("engramdown.hippocampus.provenance.parse", reading)
    assert scope.brought() == ["Deploy on Mondays"]
    assert whole < 5


def test_what_may_be_brought_among_very_much_is_looked_up_in_the_file() -> None:
    scope = Scope()
    mine = [f"Rule {at}" for at in range(400)]
    scope.step(CLONE, "".join(f"## Part {at}\n\n- Theirs {at}\n\n" for at in range(50)))
    scope.step(HAND, always(*mine))
    assert scope.brought() == []
    scope.step(GIT, always(*mine, "Deploy on Mondays"))
    assert scope.brought() == ["Deploy on Mondays"]


def test_what_a_tick_made_that_came_with_git_is_no_more_a_persons_than_the_tick() -> None:
    scope = Scope()
    scope.step(USER, always("ours"))
    scope.step(Act("accept", "git", "ticked in pending.md"), always("ours", "ticked"))
    assert scope.brought() == ["ticked"]
    scope.step(Act("accept", "user", "accepted"), always("ours", "ticked", "approved"))
    assert scope.brought() == ["ticked"]
