"""The commonest forms in other languages."""

from __future__ import annotations

import pytest

from engramdown.consolidation.statement_forms import FOREIGN
from tests.consolidation.said import said


@pytest.mark.parametrize(
    "words, expected",
    [
        ("verwende immer uv", "always|high||verwende immer uv"),
        ("bitte ab sofort keine emojis", "never|high||keine emojis"),
        ("nie auf main pushen", "never|high||nie auf main pushen"),
        ("merk dir, dass ci langsam ist", "lesson|high||ci langsam ist"),
        ("ich heiße jan", "profile|high|Name:|jan"),
        ("ich heiße zora1", "profile|high|Name:|zora1"),
        ("je m'appelle r2d2 et toi", "profile|high|Name:|r2d2"),
        ("me llamo k9-luz", "profile|high|Name:|k9-luz"),
        ("ich heiße jürgen", "profile|high|Name:|jürgen"),
        ("utilise toujours pytest", "always|high||utilise toujours pytest"),
        ("ne pousse jamais sur main", "never|high||ne pousse jamais sur main"),
        ("je m'appelle claire", "profile|high|Name:|claire"),
        ("je préfère les listes", "profile|medium||je préfère les listes"),
        ("usa siempre pnpm", "always|high||usa siempre pnpm"),
        ("nunca despliegues los viernes", "never|high||nunca despliegues los viernes"),
        ("me llamo lucía", "profile|high|Name:|lucía"),
    ],
)
def test_a_form_says_its_kind_and_what_is_kept(words: str, expected: str) -> None:
    assert said(FOREIGN, words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "das dauert immer lange",
        "ich habe das nie gesagt",
        "il ne finit jamais",
        "je ne sais toujours pas",
        "nunca me funciona",
        "siempre falla",
        "nunca jamás",
        "nie im leben",
        "sag niemals nie",
        "ich heiße das nicht gut",
    ],
)
def test_what_only_looks_like_a_form_says_nothing(words: str) -> None:
    assert said(FOREIGN, words) == ""
