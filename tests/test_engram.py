"""One memory: what is refused, what is the same, and what is a name."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engramdown.engram import (
    BASES,
    CONFIDENCES,
    KINDS,
    RULE_KINDS,
    SCOPES,
    SOURCES,
    Basis,
    Engram,
    Source,
    fact_key,
    fold,
    slug,
)
from engramdown.errors import EngramdownError, InvalidEngramError
from tests import laws, strategies
from tests.tables import every

USE_UV: Final = Engram("Use uv", "always", "project")


def test_a_memory_has_the_defaults_that_the_design_names() -> None:
    assert (USE_UV.confidence, USE_UV.topic, USE_UV.source) == ("medium", "", "llm")
    assert (USE_UV.basis, USE_UV.origin, USE_UV.via, USE_UV.expires) == ("inferred", "", "", "")


@pytest.mark.parametrize("source, basis", [("user", "told"), ("consolidation", "inferred")])
def test_how_it_is_known_follows_from_who_says_so(source: Source, basis: Basis) -> None:
    assert Engram("x", "lesson", "global", source=source).basis == basis
    assert Engram("x", "lesson", "global", source=source, basis="observed").basis == "observed"


@every("field", [field.name for field in dataclasses.fields(Engram)])
def test_a_memory_cannot_be_changed(field: str) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(USE_UV, field, "other")


def test_equal_memories_are_equal_and_can_stand_in_a_set() -> None:
    assert {USE_UV, Engram("Use uv", "always", "project")} == {USE_UV}


def test_the_vocabulary_is_the_one_of_the_format() -> None:
    assert [*KINDS] == ["always", "never", "when", "lesson", "profile"]
    assert [*RULE_KINDS] == ["always", "never", "when"]
    assert [*SCOPES] == ["global", "project"]
    assert [*CONFIDENCES] == ["high", "medium", "low"]
    assert [*SOURCES] == ["user", "consolidation", "llm"]
    assert [*BASES] == ["told", "observed", "inferred", "verified"]


@every(
    "field, value, named",
    [
        pytest.param("kind", "sometimes", "always, never, when, lesson, profile", id="kind"),
        pytest.param("kind", "Always", "always, never", id="kind-in-capitals"),
        pytest.param("kind", None, "None", id="no-kind"),
        pytest.param("kind", ["always"], "['always']", id="kind-in-a-list"),
        pytest.param("scope", "team", "global, project", id="scope"),
        pytest.param("confidence", "0.9", "high, medium, low", id="confidence"),
        pytest.param("confidence", 1, "high, medium, low", id="confidence-as-number"),
        pytest.param("source", "web", "user, consolidation, llm", id="source"),
        pytest.param("source", "", "user, consolidation, llm", id="no-source"),
        pytest.param("basis", "guessed", "told, observed, inferred, verified", id="basis"),
        pytest.param("via", "mail", "tool, web", id="via"),
        pytest.param("text", "", "empty", id="no-text"),
        pytest.param("text", " \t\n\u2003", "empty", id="blank-text"),
        pytest.param("text", None, "not a string", id="text-none"),
        pytest.param("text", b"bytes", "not a string", id="text-bytes"),
        pytest.param("text", "a\ud800", "character 1", id="half-a-character"),
        pytest.param("origin", 7, "not a string", id="origin-as-number"),
        pytest.param("origin", "s#\udc80", "surrogate", id="origin-half"),
        pytest.param("topic", None, "not a string", id="topic-none"),
        pytest.param("topic", "../x", "path", id="topic-path"),
        pytest.param("expires", "tomorrow", "2026-02-27", id="expires-in-words"),
        pytest.param("expires", "2026-2-7", "2026-02-27", id="expires-short"),
        pytest.param("expires", "2026-02-30", "2026-02-27", id="expires-no-such-day"),
        pytest.param("expires", None, "not a string", id="expires-none"),
        pytest.param("ts", "tomorrow", "2026-02-27", id="ts-in-words"),
    ],
)
def test_what_cannot_be_kept_is_refused_by_name(field: str, value: object, named: str) -> None:
    wrong: dict[str, Any] = {field: value}
    with pytest.raises(InvalidEngramError) as caught:
        dataclasses.replace(USE_UV, **wrong)
    assert caught.value.field == field
    assert named in caught.value.reason
    assert str(caught.value) == f"{field}: {caught.value.reason}"
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, EngramdownError)


@given(strategies.memory_texts)
@example("<!-- id:aaaaaaaa -->")
@example("\x00")
def test_any_text_with_something_in_it_is_a_memory(text: str) -> None:
    assert dataclasses.replace(USE_UV, text=text).text == text


@given(st.text() | strategies.memory_texts)
@example("\u0345\u0301")
@example("ᾴΐ")
@example("Straße")
@example("İI")
def test_folding_is_blind_to_form(text: str) -> None:
    laws.folding_is_blind_to_form(text)


@every(
    "one, other",
    [
        pytest.param("Use uv", "use  UV.", id="case-space-stop"),
        pytest.param("Use uv", "\tUse\nuv \u2026", id="line-break-ellipsis"),
        pytest.param("café", "cafe\u0301", id="composed"),
        pytest.param("STRASSE", "straße", id="sharp-s"),
        pytest.param("\u212b", "\xe5", id="angstrom"),
        pytest.param("はい。", "はい", id="ideographic-stop"),
        pytest.param("Why?!", "why", id="two-marks"),
    ],
)
def test_these_are_the_same(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@every(
    "one, other",
    [
        pytest.param("C#", "C", id="sharp"),
        pytest.param("50%", "50", id="percent"),
        pytest.param("!", "?", id="nothing-but-marks"),
        pytest.param("usb", "us b", id="a-space-inside"),
        pytest.param(".env", "env", id="a-dot-in-front"),
        pytest.param("e", "é", id="an-accent"),
        pytest.param("(a)", "(a", id="a-bracket"),
    ],
)
def test_these_are_not_the_same(one: str, other: str) -> None:
    assert fold(one) != fold(other)


@given(st.text(max_size=40) | strategies.memory_texts)
@example("ΐ ᾳ")
@example("Straße")
def test_a_slug_is_a_safe_name_or_refused(topic: str) -> None:
    with contextlib.suppress(InvalidEngramError):
        laws.slug_is_a_safe_name(slug(topic))


@every(
    "topic, name",
    [
        pytest.param("API: CoinGecko", "api-coingecko", id="punctuation"),
        pytest.param("Straße nach Köln", "strasse-nach-köln", id="umlaut"),
        pytest.param("日本語", "日本語", id="kanji"),
        pytest.param("Ελληνικά", "ελληνικά", id="greek"),
        pytest.param("हिन्दी", "हिन्दी", id="marks-stay"),
        pytest.param("re\u0301sume\u0301", "résumé", id="composed"),
        pytest.param("--a__b--", "a-b", id="dashes"),
        pytest.param("v1.2", "v1-2", id="dot"),
        pytest.param("100% sure", "100-sure", id="percent"),
        pytest.param("a" * 120, "a" * 120, id="as-long-as-can-be"),
        pytest.param("console", "console", id="begins-like-a-device"),
    ],
)
def test_a_slug_keeps_letters_and_digits_of_every_script(topic: str, name: str) -> None:
    assert slug(topic) == name


@every(
    "topic",
    [
        "",
        " ",
        ".",
        "..",
        "../x",
        "a..b",
        "/etc/x",
        "a/b",
        "a\\b",
        "C:x",
        "CON",
        "con.md",
        "nul.md",
        "aux -",
        "lpt1",
        "COM²",
        "conin$",
        "a" * 121,
        "ü" * 61,
        "x" * 300,
        "trailing.",
        "trailing ",
        "a\x00b",
        "a\nb",
        "a\u202eb",
        "a\u200bb",
        "!!!",
        "\ud800",
    ],
    ids=ascii,
)
def test_what_is_no_name_is_refused(topic: str) -> None:
    with pytest.raises(InvalidEngramError) as caught:
        slug(topic)
    assert caught.value.field == "topic"


def test_a_secret_in_a_topic_is_hidden_before_the_topic_is_cut() -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    with pytest.raises(InvalidEngramError) as caught:
        slug(f"the bot that deploys logs in with {key} {'x' * 120}")
    assert key[:5] not in str(caught.value)
    assert "… is longer than 120 bytes" in str(caught.value)


@every(
    "text, key",
    [
        pytest.param("Name: Ada", "name", id="key"),
        pytest.param("NAME:  Ada", "name", id="capitals"),
        pytest.param("Name:", "name", id="colon-ends-the-line"),
        pytest.param("Name:\nAda", "name", id="value-on-the-next-line"),
        pytest.param("Name: a: b", "name", id="first-colon"),
        pytest.param("plain", "", id="none"),
        pytest.param("See https://example.org", "", id="address"),
        pytest.param(": Ada", "", id="nothing-before"),
        pytest.param("x" * 41 + ": Ada", "", id="too-long"),
        pytest.param("x" * 40 + ": Ada", "x" * 40, id="long"),
        pytest.param("plain\nName: Ada", "", id="second-line"),
    ],
)
def test_the_key_of_a_fact(text: str, key: str) -> None:
    assert fact_key(text) == key
