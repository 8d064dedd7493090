"""Finds characters that a person does not see, and shows them.

A character is judged by its neighbours: an emoji keeps its joiners, Persian and Hindi keep theirs,
the flag of England its tags. The result of :func:`visible` has nothing left that
:func:`hidden_characters` names, and calling it twice changes nothing. Every text for a screen
passes :func:`on_screen`. No I/O.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from engramdown.lazy import compiled


def hidden_characters(text: str) -> list[tuple[int, str]]:
    """Return the offset and the name of each character of ``text`` that cannot be seen.

    These are control characters (but for tab, newline, carriage return, form feed and next
    line), characters without a shape, and those that turn the direction of the text around.

    >>> hidden_characters("pay" + chr(0x200B) + "ment"), hidden_characters("I \u2764\ufe0f it")
    ([(3, 'zero width space U+200B')], [])
    """
    return [(offset, _name(text[offset])) for offset in _hidden(text)]


def is_utf16(text: str) -> bool:
    r"""Whether a text that was read as UTF-8, with surrogates for other bytes, is UTF-16.

    >>> is_utf16("- Use uv".encode("utf-16").decode("utf-8", "surrogateescape"))
    True
    """
    marked = text.startswith(("\udcff\udcfe", "\udcfe\udcff"))
    # Latin text in UTF-16 is half zeros; a stray NUL is not.
    return marked or (len(text) > 1 and text.count("\0") > len(text) * _ZEROS)


# Letters and quotes that look like plain Latin ones: Cyrillic, Greek, dotless i, curly quotes.
LOOKALIKES: Final = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0445\u0443\u0456\u0458\u0455\u04bb\u0501\u051b\u051d"
    "\u03bf\u03b1\u03b5\u03b9\u03bd\u03c1\u0131\u2018\u2019\u201c\u201d",
    "aeopcxyijshdqwoaeivpi''\"\"",
)


def is_encodable(text: str) -> bool:
    r"""Whether a text can be written as UTF-8: bytes that were not leave halves of surrogate pairs.

    >>> is_encodable("caf\u00e9"), is_encodable(b"caf\xe9".decode("utf-8", "surrogateescape"))
    (True, False)
    """
    return text.isascii() or not compiled("[\ud800-\udfff]").search(text)


def visible(text: str, *, keep: str = "\n\t") -> str:
    r"""Return ``text`` with its control and hidden characters in a form that can be seen.

    Args:
        text: Any text, also one with half surrogate pairs.
        keep: The characters that stay as they are, by default newline and tab.

    >>> visible("\x1b[31mred"), ascii(visible(chr(0x202E)))
    ('␛[31mred', "'\\u2039U+202E\\u203a'")
    """
    if text.isascii() and text.isprintable():
        return text
    hidden = set(_hidden(text))
    parts: list[str] = []
    done = 0
    for match in compiled(f"{_UNSAFE}|{_SUSPECT}").finditer(text):
        offset, char = match.start(), match[0]
        if char not in keep and (offset in hidden or compiled(_UNSAFE).match(char)):
            parts += [text[done:offset], _picture(char)]
            done = offset + 1
    return "".join(parts) + text[done:]


def on_screen(text: str) -> str:
    r"""Return ``text`` as a person should see it on any screen.

    It is :func:`visible`, and a number replaces a run of spaces that is longer than a row, or of
    empty lines that is higher than a window, so that nothing is pushed out of sight.

    >>> ascii(on_screen("Keep tests green" + " " * 4000 + "or not"))
    "'Keep tests green\\u20394,000 spaces\\u203aor not'"
    """
    return compiled(_LONG_RUN).sub(_counted, visible(text))


def _counted(run: re.Match[str]) -> str:
    """Return the number of spaces, or empty lines, of a run that is too long to look at."""
    text = run[0]
    lines = text.count("\n")
    if lines > _MOST_LINES:
        first, last = text.find("\n"), text.rfind("\n")
        inside = f"\n\u2039{lines - 1:,} empty lines\u203a\n"
        return _counted_spaces(text[:first]) + inside + _counted_spaces(text[last + 1 :])
    return "\n".join(map(_counted_spaces, text.split("\n")))


def _counted_spaces(run: str) -> str:
    return f"\u2039{len(run):,} spaces\u203a" if len(run) > _MOST_SPACES else run


# Replaces each character of a quotation or of code within a sentence; it counts as a letter.
BLANK: Final = "\ue000"
# More than a row of most windows, and about as many rows as most have.
_MOST_SPACES: Final = 80
_MOST_LINES: Final = 20
_SPACE: Final = "[ \t\n\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]"
# Looked at once each: what follows a space does not begin a run.
_LONG_RUN: Final = f"(?<!{_SPACE}){_SPACE}{{{_MOST_LINES},}}+"


_ZEROS: Final = 0.25


# Characters that are hidden unless one of the patterns below matches them in their place.
_SUSPECT: Final = (
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f"  # controls
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U00013430-\U00013438\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
# Characters that break a line or a terminal: C0, C1, the separators, and half surrogate pairs,
# which cannot be written at all.
_UNSAFE: Final = "[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]"
# Left-to-right mark, right-to-left mark and Arabic letter mark: usual where a text has letters
# that run from right to left.
_MARKS: Final = "\u200e\u200f\u061c"
_RIGHT_TO_LEFT: Final = "[\u05d0-\u05f2\u0620-\u064a\u0671-\u06d3\u0710-\u07ff\u0840-\u08ff]"

_EMOJI: Final = (
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf"
    "\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_EMOJI_END: Final = "[\ufe0e\ufe0f]?[\U0001f3fb-\U0001f3ff]?"
# Scripts in which a joiner chooses the shape of a letter, from Arabic to Sinhala and beyond.
_JOINING: Final = (
    "[\u0600-\u061b\u061d-\u074f\u0750-\u077f\u07c0-\u07ff\u0840-\u0dff\u0f00-\u109f"
    "\u1780-\u17b3\u17b6-\u180a\u1810-\u18af\u1a00-\u1cff\ua800-\ua9ff\uaa60-\uaaff\uabc0-\uabff"
    "\ufb50-\ufdff\ufe70-\ufefc\U00010a00-\U00011fff\U0001e900-\U0001e95f]"
)
_CHINESE: Final = "[\u3000-\u303f\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
_FINE: Final = "|".join(
    [
        "\\A\ufeff",  # a byte order mark
        # The flags of England, Scotland and Wales are spelt in tags; no others are drawn.
        *(
            "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in name) + "\U000e007f"
            for name in ("gbeng", "gbsct", "gbwls")
        ),
        "[\U00013000-\U0001342f][\U00013430-\U00013438](?=[\U00013000-\U0001342f])",
        f"{_EMOJI}{_EMOJI_END}(?:\u200d{_EMOJI}{_EMOJI_END})*+",
        "[0-9#*]\ufe0f\u20e3",  # keycaps
        f"{_JOINING}[\u200c\u200d]",
        "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17b3\u17b6-\u17ff]\u200b",  # where words may part
        "[\u1820-\u18aa][\u180b-\u180f]",  # variants of Mongolian letters
        "[\u2200-\u22ff\u2a00-\u2aff]\ufe00",  # of signs of mathematics
        f"{_CHINESE}[\ufe00-\ufe02\U000e0100-\U000e01ef]",  # and of Chinese characters
        "[\u1100-\u115e]\u1160|\u115f(?:[\u1161-\u11a7]|\u1160[\u11a8-\u11ff])",  # Old Korean
        "[\u2801-\u28ff]\u2800",  # a space in Braille
    ]
)


def _hidden(text: str) -> Iterator[int]:
    """Yield the offsets of the hidden characters of ``text``."""
    if text.isascii() and text.isprintable():
        return
    marks = _MARKS if compiled(_RIGHT_TO_LEFT).search(text) else ""
    for match in compiled(f"{_FINE}|({_SUSPECT})").finditer(text):
        if match[1] and match[1] not in marks:
            yield match.start()


_DELETE: Final = "\x7f"
# The pictures of the control characters are in their order, from the picture of NUL.
_PICTURES: Final = 0x2400


def _picture(char: str) -> str:
    if char < " ":
        return chr(_PICTURES + ord(char))
    return "\u2421" if char == _DELETE else f"\u2039U+{ord(char):04X}\u203a"


def _name(char: str) -> str:
    if char == "\x1b":
        name = "escape"
    elif unicodedata.category(char) == "Cc":
        name = "control character"
    else:
        name = unicodedata.name(char, "invisible character").lower()
    return f"{name} U+{ord(char):04X}"
