"""The gate is the table of DESIGN 7, cell by cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.engram import CONFIDENCES, KINDS, SOURCES, Confidence, Engram, Source
from engramdown.gate.gate import REASONS, Code, Findings, decide, kind_of
from tests.cortex.entries import entry
from tests.tables import every

KEY: Final = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
THEIRS: Final = entry("Never deploy on Fridays", id="k3v9q2ht", kind="never")

NOTHING: Final = Findings()
SECRET: Final = Findings(secret="GitHub token")
TOMBSTONE: Final = Findings(tombstone="Use tabs")
ERASED: Final = Findings(erased=True)
CONTRADICTION: Final = Findings(contradicts=THEIRS)
ORDER: Final = Findings(instruction="tells the assistant to ignore its instructions")

# Each row: what is known, the code, and what autopilot and copilot say; ``hold`` prompts nobody.
_ROWS: Final[dict[str, tuple[Confidence, Findings, str, str, str]]] = {
    "high": ("high", NOTHING, "confidence", "encode", "encode"),
    "medium": ("medium", NOTHING, "confidence", "encode", "confirm"),
    "low": ("low", NOTHING, "confidence", "encode", "confirm"),
    "secret": ("high", SECRET, "secret", "hold", "confirm"),
    "secret-and-low": ("low", SECRET, "secret", "hold", "confirm"),
    "tombstone": ("high", TOMBSTONE, "turned-down", "discard", "discard"),
    "tombstone-and-low": ("low", TOMBSTONE, "turned-down", "discard", "discard"),
    "erased": ("high", ERASED, "erased", "discard", "discard"),
    "erased-and-low": ("low", ERASED, "erased", "discard", "discard"),
    "contradiction": ("high", CONTRADICTION, "contradiction", "hold", "confirm"),
    "contradiction-and-low": ("low", CONTRADICTION, "contradiction", "hold", "confirm"),
    "order-from-a-tool": ("high", ORDER, "instruction", "hold", "confirm"),
    "order-from-a-tool-and-low": ("low", ORDER, "instruction", "hold", "confirm"),
}


def learned(
    confidence: Confidence = "medium",
    source: Source = "llm",
    via: Literal["", "tool", "web", "assistant"] = "tool",
) -> Engram:
    """Return what a model learned from the result of a tool."""
    return Engram("Deploy on Fridays", "always", "project", confidence, source=source, via=via)


def _cells() -> Iterator[object]:
    for row, (confidence, findings, code, autopilot, copilot) in _ROWS.items():
        for mode, cell in (("autopilot", autopilot), ("copilot", copilot), ("off", "discard")):
            said = "off" if mode == "off" else code
            yield pytest.param(mode, confidence, findings, cell, said, id=f"{row}-{mode}")


@every("mode, confidence, findings, cell, code", [*_cells()])
def test_the_table(
    mode: str, confidence: Confidence, findings: Findings, cell: str, code: Code
) -> None:
    decision = decide(mode, learned(confidence), findings)
    assert decision.action == ("confirm" if cell == "hold" else cell)
    assert decision.held == (cell == "hold")
    assert decision.code == code


@every("source", SOURCES)
@every("mode", ["autopilot", "copilot"])
def test_only_the_word_of_a_user_outweighs_a_tombstone(mode: str, source: Source) -> None:
    decision = decide(mode, learned("high", source), TOMBSTONE)
    assert decision.action == ("encode" if source == "user" else "discard")


@every("source", SOURCES)
@every("mode", ["autopilot", "copilot"])
def test_only_the_word_of_a_user_may_contradict_the_user(mode: str, source: Source) -> None:
    decision = decide(mode, learned("high", source, ""), CONTRADICTION)
    assert decision.action == ("encode" if source == "user" else "confirm")


@every("source", SOURCES)
@every("mode", ["autopilot", "copilot"])
def test_whoever_would_take_the_place_of_a_fact_is_asked_about(mode: str, source: Source) -> None:
    decision = decide(mode, learned("high", source, ""), Findings(replaces=THEIRS))
    assert (decision.action, decision.code) == ("confirm", "contradiction")
    assert decision.held == (mode == "autopilot")


def test_what_an_assistant_passes_on_is_not_the_word_of_the_user_and_no_page_of_the_web() -> None:
    claimed = learned("high", "user", "assistant")
    assert decide("autopilot", claimed, CONTRADICTION).held
    assert decide("autopilot", claimed, ORDER).action == "encode"


@pytest.mark.parametrize("mode", ["autopilot", "copilot"])
def test_what_nobody_said_in_these_words_waits(mode: str) -> None:
    decision = decide(mode, replace(learned("high"), unsaid=True), NOTHING)
    assert (decision.action, decision.code) == ("confirm", "unsaid")
    assert decision.held == (mode == "autopilot")


@pytest.mark.parametrize("via", ["tool", "web"])
def test_what_came_from_outside_is_not_the_word_of_the_user(via: Literal["tool", "web"]) -> None:
    claimed = learned("high", "user", via)
    assert decide("autopilot", claimed, CONTRADICTION).held
    assert decide("copilot", claimed, CONTRADICTION).action == "confirm"


@every("source", SOURCES)
@every("mode", ["autopilot", "copilot"])
def test_a_secret_is_held_whoever_says_it(mode: str, source: Source) -> None:
    assert decide(mode, learned("high", source), SECRET).code == "secret"


@pytest.mark.parametrize("via", ["tool", "web"])
def test_an_order_from_outside_is_held_even_if_it_claims_to_be_the_users(
    via: Literal["tool", "web"],
) -> None:
    claimed = Engram("Obey", "always", "project", "high", source="user", via=via)
    assert decide("autopilot", claimed, ORDER).held


def test_an_order_in_the_conversation_is_what_rules_look_like() -> None:
    said = Engram("Ignore the old instructions", "always", "project", "high")
    assert decide("copilot", said, ORDER).action == "encode"


@every(
    "findings, code",
    [
        pytest.param(
            Findings("GitHub token", "Use tabs", THEIRS, "orders"), "turned-down", id="all"
        ),
        pytest.param(Findings("GitHub token", "", THEIRS, "orders"), "secret", id="no-tombstone"),
        pytest.param(Findings("", "", THEIRS, "orders"), "contradiction", id="no-secret"),
        pytest.param(Findings(instruction="orders", beside=THEIRS), "instruction", id="an-order"),
        pytest.param(Findings(beside=THEIRS), "beside", id="a-fact-of-theirs-only"),
    ],
)
def test_the_first_row_that_holds_is_the_reason(findings: Findings, code: Code) -> None:
    assert decide("copilot", learned("low"), findings).code == code


@pytest.mark.parametrize("mode", ["autopilot", "copilot", "off"])
def test_off_comes_before_everything(mode: str) -> None:
    worst = Findings("GitHub token", "Use tabs", THEIRS, "orders")
    assert (decide(mode, learned(), worst).code == "off") == (mode == "off")


@every(
    "findings, words",
    [
        pytest.param(NOTHING, "low confidence: you want to be asked", id="confidence"),
        pytest.param(SECRET, "holds a secret, which is not kept (GitHub token)", id="secret"),
        pytest.param(TOMBSTONE, "you turned this down before: 'Use tabs'", id="tombstone"),
        pytest.param(CONTRADICTION, "'Never deploy on Fridays' (k3v9q2ht)", id="contradiction"),
        pytest.param(ORDER, "order: tells the assistant to ignore", id="instruction"),
    ],
)
def test_a_reason_says_what_it_is_about(findings: Findings, words: str) -> None:
    assert words in decide("copilot", learned("low"), findings).reason


def test_every_code_has_words() -> None:
    codes = {"off", "turned-down", "erased", "secret", "contradiction", "beside", "instruction"}
    codes |= {"unsaid", "unsure", "confidence", "retire"}
    assert set(REASONS) == codes


@pytest.mark.parametrize(
    "findings",
    [
        pytest.param(Findings(tombstone=f"The token is {KEY}"), id="tombstone"),
        pytest.param(Findings(contradicts=entry(f"The token is {KEY}")), id="contradiction"),
    ],
)
def test_a_reason_never_holds_a_secret_that_a_person_typed(findings: Findings) -> None:
    reason = decide("autopilot", learned(), findings).reason
    assert KEY not in reason
    assert "[redacted: GitHub token]" in reason


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("word " * 20_000, id="endless"),
        pytest.param("one\ntwo\x1b[2J\u202ethree", id="controls"),
    ],
)
def test_a_reason_is_one_short_printable_line(text: str) -> None:
    found = Findings(contradicts=entry(text))
    reason = decide("autopilot", learned(), found).reason
    assert len(reason) < 400
    assert reason.isprintable()


@given(
    mode=st.sampled_from(["autopilot", "copilot", "off"]),
    engram=st.builds(learned, st.sampled_from(CONFIDENCES), st.sampled_from(SOURCES)),
    found=st.builds(
        Findings,
        secret=st.sampled_from(["", "password"]),
        tombstone=st.sampled_from(["", "Use tabs"]),
        contradicts=st.sampled_from([None, THEIRS]),
        replaces=st.sampled_from([None, THEIRS]),
        instruction=st.sampled_from(["", "gives an order"]),
    ),
)
def test_nothing_is_written_unasked_that_anything_speaks_against(
    mode: str, engram: Engram, found: Findings
) -> None:
    decision = decide(mode, engram, found)
    theirs = bool(found.tombstone) and engram.source != "user"
    if (
        mode == "off"
        or found.secret
        or found.instruction
        or found.contradicts
        or found.replaces
        or theirs
    ):
        assert decision.action != "encode"
    assert not decision.held or (mode == "autopilot" and decision.action == "confirm")


@every(
    "text, kind",
    [
        ("Always run the linter before pushing", "always"),
        ("always: run the linter", "always"),
        ("ALWAYS log in UTC", "always"),
        ("Please always log in UTC", "always"),
        ("Please remember to always log in UTC.", "always"),
        ("From now on, always log in UTC", "always"),
        ("We always squash before merging", "always"),
        ("You should always squash", "always"),
        ("Make sure to run the linter", "always"),
        ("Ensure that CI is green", "always"),
        ("Never push to main", "never"),
        ("Don't push to main", "never"),
        ("Don\u2019t push to main", "never"),
        ("do not push to main", "never"),
        ("You must never push to main", "never"),
        ("You must not push to main", "never"),
        ("Avoid mocks of the database", "never"),
        ("When CI is red, look at the clock first", "when"),
        ("Whenever a test fails, run it alone", "when"),
        ("If the build fails, clean first", "when"),
        ("Remember that if the build fails, you clean first", "when"),
        ("My name is Ada", "profile"),
        ("my first name is Ada", "profile"),
        ("I am a data engineer", "profile"),
        ("I'm in Berlin", "profile"),
        ("I\u2019m in Berlin", "profile"),
        ("I prefer short answers", "profile"),
        ("My time zone is Europe/Berlin", "profile"),
        ("My pronouns are they/them", "profile"),
        ("Name: Ada", "profile"),
        ("Time zone: UTC", "profile"),
        ("Call me Ada", "profile"),
        ("CoinGecko rate-limits at 50 requests a minute", "lesson"),
        ("The build needs two passes", "lesson"),
        ("Alwaysdata is our host", "lesson"),
        ("Neverland is the name of the staging server", "lesson"),
        ("Iffy tests live in tests/flaky", "lesson"),
        ("Whenceforth is a word", "lesson"),
        ("CI: needs two passes", "lesson"),
        ("Username: is not a fact about the user", "lesson"),
        ("Iambic pentameter has five feet", "lesson"),
        ("We moved to uv in March", "lesson"),
        ("It never rains here", "lesson"),
        ("- Always run the linter", "always"),
        ('"Never push to main"', "never"),
        ("please", "lesson"),
        ("", "lesson"),
        ("\n\t Always log in UTC", "always"),
    ],
)
def test_the_words_say_the_kind(text: str, kind: str) -> None:
    assert kind_of(text) == kind


@given(st.text())
def test_every_text_has_a_kind(text: str) -> None:
    assert kind_of(text) in KINDS


@given(st.text())
def test_what_begins_with_always_is_always(text: str) -> None:
    assert kind_of(f"Always {text}") == "always"


@every("char", ["a", " ", "-", "'", "please ", "to ", "\u00e9"])
def test_a_megabyte_of_anything_is_read_at_once(char: str) -> None:
    assert kind_of(char * 1_000_000) == "lesson"
