"""What a model sees of memory: within its budget, and always the same bytes."""

from __future__ import annotations

import copy
import pickle
import sys
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.context import sections
from engramdown.context.sections import (
    BUDGETS,
    FRAME,
    TEMPLATES,
    Memory,
    MemoryContext,
    Procedures,
    Section,
    SkillLine,
    build,
    renderer,
    scratchpad_section,
    select,
)
from engramdown.engram import RULE_KINDS, Kind
from engramdown.errors import StoreError
from engramdown.hippocampus.entry import Entry
from engramdown.recall import memories as relevance
from engramdown.recall.memories import MemoryIndex
from engramdown.tokens import estimate_tokens
from tests.cortex.entries import any_entries, any_text, entry
from tests.tables import every

TODAY: Final = date(2026, 3, 1)

budgets = st.fixed_dictionaries({name: st.integers(-5, 300) for name in BUDGETS})
memories = st.builds(
    Memory,
    soul=any_text,
    profile=any_entries,
    project_rules=any_entries,
    project_lessons=any_entries,
    skills=st.builds(Procedures, st.lists(st.builds(SkillLine, any_text, any_text)).map(tuple)),
)


def rules(*entries: Entry, budget: int = 1500, message: str = "") -> Section:
    """Return the section of the project's rules."""
    memory = Memory(project_rules=entries)
    (section,) = build(memory, message, TODAY, {"project_rules": budget}).sections
    return section


def _scratchpad(entries: Sequence[Entry], today: date, budget: int = BUDGETS["scratchpad"]) -> str:
    section = scratchpad_section(entries, today, budget)
    return section.text if section else ""


def lessons(*entries: Entry, budget: int = 1000, message: str = "") -> Section:
    """Return the section of the project's lessons."""
    memory = Memory(project_lessons=entries)
    (section,) = build(memory, message, TODAY, {"project_lessons": budget}).sections
    return section


def shown(section: Section) -> list[str]:
    return [entry.text for entry in section.shown]


def test_no_memory_is_no_text() -> None:
    assert build(Memory(), "hello", TODAY) == ""
    assert build(Memory(soul="# Soul\n\n<!-- who? -->\n"), "", TODAY) == ""
    assert build(Memory(), "", TODAY).sections == ()


def test_everything_has_its_section_in_order() -> None:
    memory = Memory(
        soul="# Soul\n\nYou are calm.\n\nAnd dry.\n",
        profile=[entry("Name: Ada", kind="profile")],
        global_rules=[entry("Ask first", kind="always")],
        project_rules=[
            entry("In doubt, ask", kind="when", heading="When"),
            entry("Use pip", kind="never", heading="NEVER:"),
            entry("Short names", kind="always", heading="Style <!-- mine -->"),
            entry("Use uv", kind="always", heading="always"),
        ],
        global_lessons=[entry("Tea helps")],
        project_lessons=[entry("Old API", heading="API"), entry("CI\nis slow")],
    )
    made = build(memory, "hello", TODAY)
    assert str(made) == (
        "This is what you remember from earlier work. Keep to the rules unless the user's current"
        " message says otherwise; take the rest as notes. None of it was said by the user just now."
        """

## Your Memory — Identity

### Soul

You are calm.

And dry.

- Name: Ada

## Your Memory — Global Rules

### Always

- Ask first

## Your Memory — Project Rules

### Always

- Use uv

### Never

- Use pip

### Style

- Short names

### When

- In doubt, ask

## Your Memory — Global Lessons

- Tea helps

## Your Memory — Project Lessons

### API

- Old API

- CI
  is slow"""
    )
    assert [section.name for section in made.sections] == [*BUDGETS][:5]
    assert [section.budget for section in made.sections] == [*BUDGETS.values()][:5]
    assert made.sections[0].shown[0] == entry(
        "### Soul\n\nYou are calm.", id="", kind="profile", scope="global", file="soul.md", line=3
    )


def test_a_context_is_a_string_that_survives_copying() -> None:
    made = build(Memory(project_rules=[entry("Use uv", kind="always")]), "", TODAY)
    for copied in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made)):  # noqa: S301 - its own
        assert (copied, copied.sections) == (made, made.sections)
    assert isinstance(made, str)
    assert MemoryContext() == ""


class TestBudget:
    """A section never costs more than it may."""

    @pytest.mark.slow
    @given(memories, any_text, budgets)
    def test_every_section_is_within_its_budget_and_hides_nothing(
        self, memory: Memory, message: str, allowed: dict[str, int]
    ) -> None:
        for section in build(memory, message, TODAY, allowed).sections:
            assert section.tokens == estimate_tokens(section.text)
            assert section.tokens <= max(section.budget, 0)
            assert section.budget == allowed[section.name]
            if section.name == "skills":
                continue  # They are no entries; see test_procedures.
            left, seen = len(section.left_out), len(section.shown)
            assert left + seen == len(sections._live(memory.section(section.name), TODAY))
            assert (f"({left} more left out" in section.text) or not left or not section.text

    @given(any_entries, st.integers(-5, 300))
    def test_scratchpad_wisdom_is_within_its_budget(
        self, entries: Sequence[Entry], budget: int
    ) -> None:
        assert estimate_tokens(_scratchpad(entries, TODAY, budget)) <= max(budget, 0)

    @given(any_entries, st.integers(0, 200))
    def test_what_is_selected_fits_and_stays_in_order(
        self, entries: Sequence[Entry], budget: int
    ) -> None:
        chosen = select(entries, budget)
        assert chosen == sorted(set(chosen))
        cost = sum(estimate_tokens(sections._line(entries[at]) + "\n") for at in chosen)
        assert cost <= budget

    def test_what_fits_is_shown_whole_without_a_word_about_it(self) -> None:
        section = rules(entry("Use uv", kind="always"))
        assert section.text == "## Your Memory — Project Rules\n\n### Always\n\n- Use uv"
        assert section.left_out == ()

    def test_a_section_says_how_many_it_leaves_out_and_how_to_ask(self) -> None:
        section = lessons(*(entry(f"Lesson number {number}") for number in range(100)), budget=60)
        assert section.text.endswith(
            f"\n\n({len(section.left_out)} more left out; ask for them with"
            " `engramdown recall <words>`)"
        )
        assert len(section.shown) + len(section.left_out) == 100
        assert len(section.shown) > 3

    def test_it_says_when_rules_that_always_hold_are_left_out(self) -> None:
        section = rules(*(entry(f"Rule {n}", kind="always") for n in range(50)), budget=80)
        assert f", {len(section.left_out)} of them always or never rules; ask" in section.text

    def test_one_huge_entry_hides_nothing_behind_it(self) -> None:
        section = lessons(entry("short"), entry("x" * 100_000), entry("also short"), budget=100)
        assert shown(section) == ["short", "also short"]

    def test_an_entry_that_grows_when_it_is_made_inert_is_measured_as_it_is_shown(self) -> None:
        section = lessons(entry("\x9b" * 150), entry("short"), budget=60)
        assert shown(section) == ["short"]

    def test_a_budget_for_nothing_but_the_line_shows_the_line(self) -> None:
        section = lessons(entry("x" * 500), budget=35)
        assert (section.shown, len(section.left_out)) == ((), 1)
        assert "(1 more left out" in section.text

    @pytest.mark.parametrize("budget", [-1, 0, 5])
    def test_a_budget_that_holds_no_heading_shows_nothing(self, budget: int) -> None:
        section = lessons(entry("a lesson"), budget=budget)
        assert (section.text, section.tokens, section.shown) == ("", 0, ())
        assert shown(section) == []

    def test_a_context_of_sections_without_room_is_empty(self) -> None:
        made = build(Memory(project_lessons=[entry("a")]), "", TODAY, {"project_lessons": 0})
        assert (made, len(made.sections)) == ("", 1)


class TestChoice:
    """What is shown when not everything fits."""

    def test_always_and_never_come_before_when(self) -> None:
        many = [entry(f"If case {number}, ask", kind="when") for number in range(60)]
        firm = [entry("Use uv", kind="always"), entry("Use pip", kind="never")]
        own = entry("Short names", kind="always", heading="Style")
        section = rules(*many[:30], *firm, own, *many[30:], budget=150, message="case 12")
        assert {*firm, own} <= set(section.shown)
        assert "If case 12, ask" in shown(section)

    def test_what_a_person_wrote_pinned_or_is_sure_stays_when_even_rules_do_not_fit(self) -> None:
        learned = [
            entry(f"Learned rule {n}", kind="always", source="llm", basis="inferred")
            for n in range(40)
        ]
        unsure = entry("Unsure rule", kind="never", confidence="low")
        pinned = entry("Pinned rule", kind="always", source="llm", basis="inferred", pin=True)
        section = rules(*learned, unsure, pinned, *learned, budget=70)
        assert {unsure, pinned} <= set(section.shown)

    def test_a_pinned_lesson_is_shown_first(self) -> None:
        pinned = entry("Pinned lesson", pin=True, confidence="low", ts="2001-01-01")
        many = [entry(f"Lesson number {number}", ts="2026-01-01") for number in range(50)]
        assert pinned in lessons(pinned, *many, budget=60, message="lesson number 7").shown

    def test_the_message_decides_what_is_shown_over_budget(self) -> None:
        many = [entry(f"Lesson number {number}", ts="2026-02-01") for number in range(80)]
        old = entry("Deploys are on Mondays", confidence="low", ts="2020-01-01")
        assert old not in lessons(*many, old, *many, budget=60).shown
        assert old in lessons(*many, old, *many, budget=60, message="When do we deploy?").shown

    def test_without_sqlite_a_message_decides_nothing(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        many = [entry(f"Lesson number {number}") for number in range(40)]
        monkeypatch.setitem(sys.modules, "sqlite3", None)  # what makes an import fail
        asked = lessons(*many, budget=60, message="lesson number 7")
        assert asked == lessons(*many, budget=60)

    def test_without_a_message_the_surer_then_the_newer_then_the_later_come_first(self) -> None:
        unsure = [entry(f"unsure {n}", confidence="low", ts="2026-02-02") for n in range(30)]
        old = [entry(f"old {n}", ts="2024-01-01") for n in range(30)]
        new = [entry(f"new {n}", ts="2026-02-02") for n in range(3)]
        section = lessons(*unsure, *new, *old, budget=60)
        assert shown(section)[:3] == ["new 0", "new 1", "new 2"]
        assert shown(section)[-1] == "old 29"
        assert not any(text.startswith("unsure") for text in shown(section))

    def test_the_soul_comes_before_facts_and_no_paragraph_is_cut(self) -> None:
        facts = [entry(f"Fact: number {number}", kind="profile") for number in range(60)]
        memory = Memory(
            soul="# Soul\n\nYou are calm.\n\n" + "long " * 400 + "\n\nDry.", profile=facts
        )
        (section,) = build(memory, "number 3", TODAY).sections
        assert shown(section)[:2] == ["### Soul\n\nYou are calm.", "Dry."]
        assert section.left_out[0].text.startswith("long")
        assert "long" not in section.text
        assert len(section.shown) > 20

    def test_expired_entries_are_not_shown(self) -> None:
        gone = entry("gone", expires="2026-02-28")
        section = lessons(gone, entry("today", expires="2026-03-01"), entry("lasting"))
        assert shown(section) == ["today", "lasting"]
        assert build(Memory(project_lessons=[gone]), "", TODAY).sections == ()

    def test_scores_belong_to_their_entries_when_some_have_expired(self) -> None:
        gone = entry("Deploys are on Sundays", expires="2026-02-28")
        many = [entry(f"Lesson number {number}") for number in range(80)]
        kept = entry("Deploys are on Mondays", confidence="low")
        section = lessons(gone, *many[:40], kept, *many[40:], budget=45, message="deploy")
        assert kept in section.shown


class TestBytes:
    """An unchanged memory gives unchanged bytes."""

    @pytest.mark.slow
    @given(memories, any_text, budgets)
    def test_the_same_memory_gives_the_same_bytes(
        self, memory: Memory, message: str, allowed: dict[str, int]
    ) -> None:
        again = copy.deepcopy(memory)
        assert build(memory, message, TODAY, allowed) == build(again, message, TODAY, allowed)
        assert build(memory, message, TODAY, allowed) == build(memory, message, TODAY, allowed)

    @given(any_entries, any_text)
    def test_while_everything_fits_the_message_changes_nothing(
        self, entries: Sequence[Entry], message: str
    ) -> None:
        room = {"project_rules": 10**9, "project_lessons": 10**9}
        memory = Memory(project_rules=entries, project_lessons=entries)
        assert build(memory, message, TODAY, room) == build(memory, "", TODAY, room)
        assert memory._indexes == {}

    @given(any_entries)
    def test_entries_stand_in_file_order_under_their_headings(
        self, entries: Sequence[Entry]
    ) -> None:
        for section in build(Memory(project_lessons=entries), "", TODAY).sections:
            live = [entries[at] for at in sections._live(entries, TODAY)]
            assert list(section.shown) == live

    @pytest.mark.slow
    @given(memories, any_text)
    def test_no_text_can_pass_for_a_line_of_ours(self, memory: Memory, message: str) -> None:
        made = build(memory, message, TODAY)
        for section in (each for each in made.sections if each.name != "identity"):
            ours = [line for line in section.text.split("\n") if not line.startswith(("  ", "- "))]
            headings = [line for line in ours if line.startswith("#")]
            assert headings[0] == section.heading
            assert all(line.startswith("### ") for line in headings[1:])
            others = [line for line in ours if line and not line.startswith("#")]
            said = ["more left out"]
            if section.name == "skills":
                said = ["Procedures to follow. Read", "more left out; `engramdown skills list`"]
            assert all(any(each in line for each in said) for line in others)

    def test_metadata_never_appears(self) -> None:
        told = entry(
            "Use uv",
            kind="always",
            id="q9z8y7x6",
            confidence="low",
            source="consolidation",
            basis="observed",
            origin="20260227-101500-4f2a#12",
            topic="packaging",
            ts="2026-02-27",
            expires="2026-12-31",
            file="rules.md",
            pin=True,
        )
        made = str(build(Memory(project_rules=[told]), "", TODAY))
        for hidden in ("q9z8y7x6", "consolidation", "observed", "2026", "packaging", "rules.md"):
            assert hidden not in made


class TestRelevance:
    """The index costs time, so it is built only where it decides something."""

    @pytest.fixture
    def built(self, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        """Count the indexes, by their number of entries."""
        sizes: list[int] = []

        class Counted(MemoryIndex):
            def __init__(self, entries: Iterable[Entry]) -> None:
                super().__init__(entries)
                sizes.append(len(self.entries))

        monkeypatch.setattr(relevance, "MemoryIndex", Counted)
        return sizes

    def test_an_index_is_kept_with_the_memory(self, built: list[int]) -> None:
        memory = Memory(project_lessons=[entry(f"Lesson {n}") for n in range(99)])
        for message in ("lesson 3", "lesson 4"):
            build(memory, message, TODAY, {"project_lessons": 60})
        assert built == [99]

    def test_no_index_is_built_without_a_message(self, built: list[int]) -> None:
        memory = Memory(project_lessons=[entry(f"Lesson {n}") for n in range(99)])
        build(memory, "", TODAY, {"project_lessons": 60})
        assert built == []

    def test_no_index_is_built_when_the_rules_that_always_hold_fill_the_section(
        self, built: list[int]
    ) -> None:
        firm = [entry("1234567", kind="always") for _ in range(99)]
        memory = Memory(project_rules=[*firm, entry("If so, ask", kind="when")])
        for budget in range(60, 70):
            build(memory, "ask", TODAY, {"project_rules": budget})
        assert len(built) <= 1


class TestShares:
    """Under headings that exceed their budget together, each keeps a fair share."""

    @every("many", ["always", "never", "when"])
    @every("budget", [150, 400, 1500])
    def test_no_heading_vanishes(self, many: Kind, budget: int) -> None:
        few = [kind for kind in RULE_KINDS if kind != many]
        rules = [entry(f"Rule {at} about {kind}", kind=kind) for kind in few for at in range(30)]
        rules += [entry(f"Rule {at} of very many ones", kind=many) for at in range(300)]
        (section,) = build(
            Memory(project_rules=rules), "", TODAY, {"project_rules": budget}
        ).sections
        assert section.tokens <= budget
        counts = {kind: sum(each.kind == kind for each in section.shown) for kind in RULE_KINDS}
        assert all(counts.values()), counts
        if many != "when":
            assert min(counts.values()) >= min(30, max(counts.values()) // 3), counts

    def test_what_a_heading_does_not_need_others_get(self) -> None:
        rules = [entry("Use uv", kind="always"), entry("If it rains, stay in", kind="when")]
        rules += [entry(f"Never do thing number {at}", kind="never") for at in range(300)]
        (section,) = build(Memory(project_rules=rules), "", TODAY).sections
        assert {"Use uv", "If it rains, stay in"} <= {each.text for each in section.shown}
        assert section.tokens > 0.95 * section.budget

    def test_what_always_holds_is_whole_if_it_fits(self) -> None:
        rules = [entry(f"Always do thing {at}", kind="always") for at in range(40)]
        rules += [entry(f"If it is {at}, do it", kind="when") for at in range(300)]
        (section,) = build(Memory(project_rules=rules), "", TODAY, {"project_rules": 400}).sections
        assert sum(each.kind == "always" for each in section.shown) == 40


class TestOverrides:
    """The words may be a person's own."""

    def test_a_section_in_other_words_is_still_within_its_budget(self) -> None:
        wordy = (
            "# Mine\n{% for group in groups %}{% for line in group.lines %}\n"
            "{{ line }} (and please think of this as often as you can)\n"
            "{% endfor %}{% endfor %}\n{{ left_out }} out"
        )
        memory = Memory(project_lessons=[entry(f"Lesson {n}") for n in range(200)])
        (section,) = build(memory, "", TODAY, overrides={"section.j2": wordy}).sections
        assert section.tokens <= 1000
        assert 30 < len(section.shown) < 200
        assert section.text.endswith(f"{len(section.left_out)} out")

    def test_a_section_of_nothing_but_words_is_left_out(self) -> None:
        memory = Memory(project_lessons=[entry("a")])
        (section,) = build(memory, "", TODAY, overrides={"section.j2": "word " * 2000}).sections
        assert (section.text, len(section.left_out)) == ("", 1)

    def test_the_frame_may_be_other_words(self) -> None:
        mine = {"context.j2": "{{ sections | join('|') }}"}
        memory = Memory(project_lessons=[entry("a")])
        assert build(memory, "", TODAY, overrides=mine) == "## Your Memory — Project Lessons\n\n- a"

    @pytest.mark.parametrize(
        "words",
        [
            pytest.param("{% for s in sections %}{{ s }}{{ s }}{{ s }}{% endfor %}", id="thrice"),
            pytest.param("word " * 600 + "{{ sections | first }}", id="long"),
        ],
    )
    def test_a_frame_that_says_too_much_is_named(self, words: str) -> None:
        memory = Memory(project_lessons=[entry(f"Lesson number {n}") for n in range(100)])
        with pytest.raises(StoreError, match=r"templates/context\.j2: adds .* 500 are allowed"):
            build(memory, "", TODAY, overrides={"context.j2": words})

    def test_the_whole_never_costs_more_than_its_sections_and_a_frame(self) -> None:
        memory = Memory(project_lessons=[entry(f"Lesson number {n}") for n in range(900)])
        mine = {"context.j2": "word " * 400 + "{{ sections | first }}"}
        context = build(memory, "", TODAY, overrides=mine)
        assert estimate_tokens(context) <= BUDGETS["project_lessons"] + FRAME

    def test_a_broken_template_is_named(self) -> None:
        with pytest.raises(StoreError, match=r"section\.j2, line 2: 'entries' is undefined"):
            build(Memory(soul="Hi"), "", TODAY, overrides={"section.j2": "\n{{ entries }}"})


class TestScratchpad:
    """What a scratchpad tool's description says."""

    def test_when_rules_and_lessons_about_scratchpads_are_told(self) -> None:
        entries = [
            entry("Scratchpads lose variables on reset"),
            entry("Print less", topic="scratchpad", kind="when"),
            entry("Never print in a scratchpad", kind="never"),
            entry("Use uv"),
            entry("Old scratchpad lesson", expires="2026-01-01"),
        ]
        assert _scratchpad(entries, TODAY) == (
            "What you learned about working with scratchpads (notes from earlier work):\n\n"
            "- Scratchpads lose variables on reset\n\n### When\n\n- Print less"
        )

    def test_nothing_learned_is_no_text(self) -> None:
        assert _scratchpad([entry("Use uv")], TODAY) == ""

    def test_too_many_are_left_out_with_a_word(self) -> None:
        entries = [entry(f"Scratchpad lesson number {number}") for number in range(200)]
        text = _scratchpad(entries, TODAY)
        assert estimate_tokens(text) <= BUDGETS["scratchpad"]
        assert "more left out; ask for them with `engramdown recall <words>`)" in text


# ---- `engramdown.context.sections`: the words that reach a model, ours or a person's ----


VALUES = {
    "heading": "## Mine",
    "groups": (),
    "left_out": 0,
    "rules_left_out": 0,
    "sections": (),
    "lines": ("- charts: Make charts",),
    "built_in": "write-a-skill",
    "sessions": (),
    "soul": "## Who You Are",
    "memory": "## Your Memory",
    "notes": "> mine",
    "memories": ("- Use uv",),
    "relevant": "- Use uv",
    "said": "> s1#2",
    "degraded": "Memory is degraded.",
}


@every("name", TEMPLATES)
def test_every_template_of_ours_can_be_rendered(name: str) -> None:
    assert renderer({})(name, VALUES).strip() != ""


def test_a_template_of_the_persons_own_takes_the_place_of_ours() -> None:
    assert renderer({"section.j2": "\n*{{ heading }}*\n"})("section.j2", VALUES) == "*## Mine*"
    assert renderer({})("section.j2", VALUES) == "## Mine"


def test_what_is_escaped_for_html_is_not_what_a_person_wrote() -> None:
    assert renderer({})("section.j2", {**VALUES, "heading": '<b> & "c"'}) == '<b> & "c"'


@every(
    "source, said",
    [
        pytest.param("a\n{{ x", "section.j2, line 2: unexpected end of template", id="syntax"),
        pytest.param("a\n\n{{ x }}", "section.j2, line 3: 'x' is undefined", id="unknown-value"),
        pytest.param("\n{{ heading < 1 }}", "section.j2, line 2: '<' not supported", id="types"),
        pytest.param("{{ ''.__class__ }}", "section.j2, line 1: access to attribute", id="sandbox"),
        pytest.param("{{ range }}", "section.j2, line 1: 'range' is undefined", id="global"),
        pytest.param("{{ heading | nope }}", "section.j2, line 1: ", id="filter"),
        pytest.param("{{ " + "(" * 4000 + "1", "section.j2, line 1: ", id="too-deep"),
        pytest.param(
            "{% for a in groups %}" + "{% for a in a.b %}" * 30 + "{% endfor %}" * 31,
            "section.j2, line 1: ", id="loops-too-deep",
        ),
        pytest.param("x" * 16_001, "section.j2, line 1: has more than 16000", id="too-long"),
    ],
)  # fmt: skip
def test_a_broken_template_is_named_with_its_line(source: str, said: str) -> None:
    with pytest.raises(StoreError) as caught:
        renderer({"section.j2": source})("section.j2", VALUES)
    assert said in str(caught.value)
    assert "fix the template, or remove it" in str(caught.value)


def test_a_template_that_is_nowhere_is_named_too() -> None:
    with pytest.raises(StoreError, match=r"other.j2, line 1: there is no such template"):
        renderer({})("other.j2", VALUES)
