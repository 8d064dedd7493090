"""What cannot be seen is named and shown; what belongs to a script or an emoji is not touched."""

from __future__ import annotations

import unicodedata
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engramdown.language.characters import hidden_characters, is_utf16, on_screen, visible
from tests.tables import every

ENGLAND: Final = "\U0001f3f4" + "".join(chr(0xE0000 + ord(char)) for char in "gbeng") + "\U000e007f"

FINE: Final = [
    pytest.param("a\tb\nc\r\nd\x0ce\x85f", id="white-space"),
    pytest.param("line\u2028separator\u2029", id="separators"),
    pytest.param("\ufeff# Rules", id="byte-order-mark"),
    pytest.param("\U0001f468\u200d\U0001f469\u200d\U0001f467", id="family"),
    pytest.param("\U0001f469\U0001f3fd\u200d\U0001f4bb", id="skin-tone"),
    pytest.param("\u2764\ufe0f\u200d\U0001f525 \u2714\ufe0e", id="heart-on-fire-and-text-style"),
    pytest.param("\U0001f3f3\ufe0f\u200d\U0001f308 \U0001f3f4\u200d\u2620\ufe0f", id="flags"),
    pytest.param("1\ufe0f\u20e3 #\ufe0f\u20e3", id="keycaps"),
    pytest.param(ENGLAND, id="england"),
    pytest.param("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", id="persian"),
    pytest.param("\u0647\u200d.\u0642", id="persian-abbreviation"),
    pytest.param("\u0915\u094d\u200d\u0937 \u0d9a\u0dca\u200d\u0dba", id="hindi-and-sinhala"),
    pytest.param("\u0e01\u0e32\u0e23\u200b\u0e17\u0e14", id="thai-words"),
    pytest.param("\u1820\u180b \u1828\u180e\u1820", id="mongolian"),
    pytest.param("\u2229\ufe00 \u845b\U000e0100 \u3001\ufe01", id="variants"),
    pytest.param("\u1100\u1160 \u115f\u1161 \u115f\u1160\u11a8", id="old-korean"),
    pytest.param("\u2801\u2800\u2803", id="braille"),
    pytest.param("\u05e9\u05dc\u05d5\u05dd\u200f! \u200eabc", id="marks-in-hebrew"),
    pytest.param("\U00013000\U00013430\U00013001", id="hieroglyphs"),
    pytest.param("cafe\u0301 \u00f1", id="accents"),
]

HIDDEN: Final = [
    pytest.param("pay\u200bment", [3], "zero width space U+200B", id="zero-width-space"),
    pytest.param("a\u200db", [1], "zero width joiner U+200D", id="joiner-in-latin"),
    pytest.param("a\u200cb", [1], "zero width non-joiner U+200C", id="non-joiner-in-latin"),
    pytest.param("\u0645\u200c\u200c", [2], "zero width non-joiner U+200C", id="two-joiners"),
    pytest.param(
        "\U0001f600\u200da", [1], "zero width joiner U+200D", id="emoji-joined-to-nothing"
    ),
    pytest.param("\U0001f600\ufe0f\ufe0e", [2], "variation selector-15 U+FE0E", id="two-selectors"),
    pytest.param("a\ufe0f", [1], "variation selector-16 U+FE0F", id="selector-after-a-letter"),
    pytest.param("1\ufe0f", [1], "variation selector-16 U+FE0F", id="selector-after-a-digit"),
    pytest.param(
        "\U0001f600\U000e0134", [1], "variation selector-69 U+E0134", id="selector-that-is-a-byte"
    ),
    pytest.param("x\U000e0041", [1], "tag latin capital letter a U+E0041", id="tag"),
    pytest.param("\U0001f3f4\U000e0067", [1], "tag latin small letter g U+E0067", id="open-flag"),
    pytest.param(
        "\U0001f3f4\U000e0078\U000e0079\U000e007a\U000e007f"[:2],
        [1],
        "tag latin small letter x U+E0078",
        id="flag-that-is-none",
    ),
    pytest.param("a\U0001d159", [1], "musical symbol null notehead U+1D159", id="null-notehead"),
    pytest.param("\U000e0001", [0], "language tag U+E0001", id="language-tag"),
    pytest.param("\U000e0fff", [0], "invisible character U+E0FFF", id="not-assigned"),
    pytest.param("a\u202eb", [1], "right-to-left override U+202E", id="override"),
    pytest.param("\u05d0\u2067b", [1], "right-to-left isolate U+2067", id="isolate-in-hebrew"),
    pytest.param("a\u200fb", [1], "right-to-left mark U+200F", id="mark-in-latin"),
    pytest.param("a\ufeff", [1], "zero width no-break space U+FEFF", id="late-byte-order-mark"),
    pytest.param("a\u00adb", [1], "soft hyphen U+00AD", id="soft-hyphen"),
    pytest.param("a\u2060b", [1], "word joiner U+2060", id="word-joiner"),
    pytest.param("a\u2063b", [1], "invisible separator U+2063", id="invisible-separator"),
    pytest.param("a\u3164b", [1], "hangul filler U+3164", id="hangul-filler"),
    pytest.param("a\u2800b", [1], "braille pattern blank U+2800", id="braille-blank"),
    pytest.param("a\u180eb", [1], "mongolian vowel separator U+180E", id="vowel-separator"),
    pytest.param("a\u034fb", [1], "combining grapheme joiner U+034F", id="grapheme-joiner"),
    pytest.param("\x1b[8m", [0], "escape U+001B", id="escape"),
    pytest.param("a\x00b\x00", [1, 3], "control character U+0000", id="null"),
    pytest.param("a\x9bb", [1], "control character U+009B", id="c1"),
]

TEXTS: Final = st.text() | st.lists(
    st.sampled_from([*(value for param in (*FINE, *HIDDEN) for value in str(param.values[0])), "a"])
).map("".join)


@every("text", FINE)
def test_what_belongs_there_is_not_hidden(text: str) -> None:
    assert hidden_characters(text) == []
    assert visible(text, keep=text) == text


@every("text, offsets, name", HIDDEN)
def test_what_is_hidden_is_named(text: str, offsets: list[int], name: str) -> None:
    assert hidden_characters(text) == [(offset, name) for offset in offsets]


@every(
    "text, shown",
    [
        pytest.param("plain", "plain", id="plain"),
        pytest.param("one\n\ttwo", "one\n\ttwo", id="newline-and-tab"),
        pytest.param("a\x1b]8;;x\x07b\r", "a\u241b]8;;x\u2407b\u240d", id="terminal"),
        pytest.param("a\x00\x7f", "a\u2400\u2421", id="null-and-delete"),
        pytest.param("\x9b31m", "\u2039U+009B\u203a31m", id="c1"),
        pytest.param("a\u202eb", "a\u2039U+202E\u203ab", id="override"),
        pytest.param("a\u2028b", "a\u2039U+2028\u203ab", id="line-separator"),
        pytest.param("a\ud800b", "a\u2039U+D800\u203ab", id="half-a-surrogate-pair"),
        pytest.param("\U000e0041", "\u2039U+E0041\u203a", id="tag"),
        pytest.param("\u2764\ufe0f \u05d0\u200f", "\u2764\ufe0f \u05d0\u200f", id="what-belongs"),
    ],
)
def test_what_cannot_be_seen_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_the_caller_says_which_controls_stay() -> None:
    assert visible("a\n\tb\r", keep="") == "a\u240a\u2409b\u240d"
    assert visible("a\n\tb\r", keep="\n\r") == "a\n\u2409b\r"


@given(TEXTS)
@example("a\ufe0f\u200d\U0001f525")
def test_what_is_shown_hides_nothing(text: str) -> None:
    shown = visible(text)
    assert hidden_characters(shown) == []
    assert visible(shown) == shown
    assert not any(
        unicodedata.category(char) in {"Cc", "Cs"} for char in shown if char not in "\n\t"
    )


@every(
    "text, shown",
    [
        pytest.param(f"a{' ' * 80}b", f"a{' ' * 80}b", id="a row of spaces"),
        pytest.param(f"a{' ' * 81}b", "a\u203981 spaces\u203ab", id="more than a row"),
        pytest.param(f"a{chr(0x3000) * 81}b", "a\u203981 spaces\u203ab", id="wide spaces"),
        pytest.param("a" + "\n" * 20 + "b", "a" + "\n" * 20 + "b", id="a window of lines"),
        pytest.param("a" + "\n" * 2_001 + "b", "a\n\u20392,000 empty lines\u203a\nb", id="more"),
        pytest.param(
            "a" + " \n" * 30 + "  b", "a \n\u203929 empty lines\u203a\n  b", id="lines of spaces"
        ),
        pytest.param(
            f"a{' ' * 90}\n{' ' * 99}b",
            "a\u203990 spaces\u203a\n\u203999 spaces\u203ab",
            id="two rows",
        ),
        pytest.param("a\r\x08b", "a\u240d\u2408b", id="controls"),
    ],
)
def test_what_stands_behind_much_white_space_is_seen(text: str, shown: str) -> None:
    assert on_screen(text) == shown
    assert on_screen(shown) == shown


@given(TEXTS | st.text(st.sampled_from(" \n\t\u3000a"), max_size=9).map(lambda text: text * 40))
def test_no_screen_hides_or_loses_a_letter(text: str) -> None:
    shown = on_screen(text)
    assert hidden_characters(shown) == []
    assert on_screen(shown) == shown
    kept = iter(shown)
    assert all(char in kept for char in visible(text) if not char.isspace())


@given(TEXTS)
def test_the_offsets_are_in_order_and_inside(text: str) -> None:
    offsets = [offset for offset, _ in hidden_characters(text)]
    assert offsets == sorted(set(offsets))
    assert all(f"U+{ord(text[offset]):04X}" in name for offset, name in hidden_characters(text))


@pytest.mark.slow
@pytest.mark.parametrize(
    "filler",
    ["a", "\n", "\x1b", "\u200b", "\U0001f600\u200d", "\U0001f3f4\U000e0067", "\u0645\u200c"],
)
def test_a_long_text_is_read_to_its_end(filler: str) -> None:
    text = filler * (100_000 // len(filler))
    assert hidden_characters(visible(text)) == []


@pytest.mark.parametrize(
    "data, found",
    [
        ("- Use uv".encode("utf-16"), True),
        ("- Use uv".encode("utf-16-le"), True),
        ("日本".encode("utf-16"), True),
        ("日本".encode(), False),
        (b"", False),
        (b"\0", False),
        (b"one stray \0 zero", False),
    ],
)
def test_utf_16_is_told_by_its_mark_or_its_zeros(data: bytes, *, found: bool) -> None:
    assert is_utf16(data.decode("utf-8", "surrogateescape")) is found
