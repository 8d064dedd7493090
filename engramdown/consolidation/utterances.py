"""Utterances: what the writer of a message says, and what is only shown.

Code, quotations, logs and pasted text are shown. A masked text is as long as the text, line by line
and character by character, so that offsets agree; what is shown is blank in it. Any string may be
passed; linear time. Where it cannot be told whether somebody says a thing or shows it, it counts as
shown, and nothing is learned from it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from engramdown import lazy
from engramdown.language.characters import BLANK

# A sentence that is longer, in characters, is not an order that somebody gives.
LONGEST: Final = 600

# From so many characters on a message is a text that somebody pasted, with his words around it.
_DOCUMENT: Final = 4000
# The shortest line that may be one of a paragraph that was wrapped by a program.
_WRAPPED: Final = 40
_CURLY: Final = str.maketrans("\u2018\u2019\u02bc\u00b4", "''''")


def slips(word: str) -> str:
    """Return a pattern for a word and its slips of the pen behind the first letter.

    A letter is left out, or two that differ have changed places.

    >>> slips("keep")
    '(?:keep|kep|kee|kepe)'
    """
    places = range(1, len(word))
    shorter = [word[:at] + word[at + 1 :] for at in places]
    swapped = [word[:at] + word[at : at + 2][::-1] + word[at + 2 :] for at in places]
    return f"(?:{'|'.join(dict.fromkeys([word, *shorter, *swapped]))})"


@cache
def entries(name: str) -> tuple[tuple[str, str], ...]:
    """Return the entries of ``languages/<name>.txt``: what stands before the colon, and the text.

    Its lines are put together as they stand. ``{NAME}`` stands for the text of an entry, also of
    the English table, ``{word~}`` for a word and its slips of the pen.
    """
    texts = {"BLANK": BLANK}
    found: list[tuple[str, str]] = []
    for head, lines in lazy.entries(Path(__file__).parent / "languages" / f"{name}.txt"):
        text = re.sub(r"\{([a-z]+)~\}", lambda it: slips(it[1]), "".join(lines))
        texts[head] = re.sub(r"\{(_?[A-Z][A-Z_]*)\}", lambda it: _text(it[1], texts), text)
        found.append((head, texts[head]))
    return tuple(found)


def _text(name: str, known: Mapping[str, str]) -> str:
    # The English table is long, and read only by tables that use it.
    return known[name] if name in known else dict(entries("english"))[name]


@cache
def _texts() -> dict[str, str]:
    return dict(entries("messages"))


class Sentence(NamedTuple):
    """A sentence of a message.

    Attributes:
        start: The offset of its first character.
        end: The offset after its last one, without the mark.
        mark: What ends it: ``.``, ``!``, ``?`` or nothing.
    """

    start: int
    end: int
    mark: str


def mask_shown(text: str) -> str:
    r"""Return ``text`` with what its writer only shows made blank.

    >>> mask_shown("Why?\n> never\nSay 'no'.").replace(BLANK, "_")
    'Why?\n       \nSay ____.'
    """
    hidden = _without_tags(text)
    lines = hidden.split("\n")
    said = _said(lines)
    if len(text) > _DOCUMENT:
        said = _around(lines, said)
    kept = [line[:end] + " " * (len(line) - end) for line, end in zip(lines, said, strict=True)]
    return pattern_of("INLINE").sub(lambda found: BLANK * len(found[0]), "\n".join(kept))


def small_letters(text: str) -> str:
    """Return ``text`` in small letters and with straight apostrophes, as long as it was."""
    small = text.lower()
    if len(small) != len(text):
        small = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    return small.translate(_CURLY)


def sentences(mask: str) -> Iterator[Sentence]:
    """Yield the sentences of a masked text; those that are longer than 600 characters are left out.

    >>> mask = "Hi Dr. No! See v1.2 e.g. here. Bye"
    >>> [mask[sentence.start : sentence.end] for sentence in sentences(mask)]
    ['Hi Dr. No', 'See v1.2 e.g. here', 'Bye']
    """
    start = 0
    for found in pattern_of("END").finditer(mask):
        if found["line"] is not None and _goes_on(mask, start, found):
            continue
        if found["mark"] == "." and _is_shortened(mask, start, found.end("mark")):
            continue
        if found["mark"] and any_case("DENIES").fullmatch(mask, start, found.start()):
            continue  # What is said instead belongs to it.
        yield from _sentence(mask, start, found.start(), (found["mark"] or "")[-1:])
        start = found.end()
    yield from _sentence(mask, start, len(mask), "")


def own_words(text: str, fact: str) -> list[str]:
    """Return what of a message may bear out a fact about its writer.

    What is asked, what is supposed, and what is said of somebody else is left out; a name also
    where nobody speaks of themselves. Patterns of English and a few words of German, French and
    Spanish: what they do not know stays.

    Args:
        text: What the writer wrote.
        fact: What is taken to be true of them; one about a relative or a colleague may be borne
            out by what is said of these.

    >>> own_words("My colleague Eve uses vim, I use emacs. Is Helix good?", "Editor: vim")
    ['I use emacs']
    """
    apart = any_case("OTHERS").search(fact) is None
    named = any_case("NAMED").match(fact) is not None
    parts = any_case("SENTENCE_END").split(text)
    found: list[str] = []
    for said, mark in zip(parts[::2], [*parts[1::2], ""], strict=True):
        if said.lstrip().startswith(">"):
            continue  # Quoted from elsewhere.
        clauses = any_case("OWN_BEGINS").split(said)
        if "?" in mark or "\uff1f" in mark or any_case("ASKS").match(said):
            clauses = [each for each in clauses[:-1] if any_case("OWN_SAYS").match(each)]
        kept: list[str] = []
        for each in clauses:
            left = (_without_others(each) if apart else each).strip()
            strange = named and apart and _is_no_introduction(left)
            if left and not strange and not any_case("SUPPOSES").match(left):
                kept.append(left)
        # A negation may stand in another clause of the sentence.
        found += [", ".join(kept)] if kept else []
    return found


def _without_others(clause: str) -> str:
    """Return a clause from where its writer speaks of themselves, if it begins with another."""
    if any_case("OF_ANOTHER").match(clause):
        begins = any_case("I_SAY").search(clause)
        return clause[begins.start() :] if begins else ""
    # "I asked my colleague Eve": the name is the colleague's.
    return any_case("BESIDE").sub(r"\1", clause)


def _is_no_introduction(clause: str) -> bool:
    """Whether nobody introduces themselves: "Thanks, Eve", "Eve is my manager"."""
    if any_case("STRANGER").search(clause):
        return True
    is_latin = re.search(r"[^\W\d_\x00-\u024f]", clause) is None
    return is_latin and len(clause.split()) > _NAME_ONLY and not any_case("ONESELF").search(clause)


# ---- whose words they are ----

# So many words may be nothing but a name, the answer to who somebody is.
_NAME_ONLY: Final = 3


# ---- where a sentence ends ----


def _is_shortened(mask: str, start: int, end: int) -> bool:
    """Whether a full stop belongs to a word like "Dr."."""
    return pattern_of("SHORTENED").search(mask, max(start, end - 8), end) is not None


def _goes_on(mask: str, start: int, found: re.Match[str]) -> bool:
    """Whether the line was wrapped, so that the sentence goes on behind its end."""
    at = found.start()
    long = at - max(mask.rfind("\n", 0, at) + 1, start) >= _WRAPPED
    return long and mask[found.end() : found.end() + 1].islower()


def _sentence(mask: str, start: int, end: int, mark: str) -> Iterator[Sentence]:
    if start < end and (lead := pattern_of("LEAD").match(mask, start, end)):
        start = lead.end()
    if 0 < end - start <= LONGEST:
        yield Sentence(start, end, mark)


@cache
def pattern_of(name: str) -> re.Pattern[str]:
    """Return a pattern of ``languages/messages.txt``, compiled when first needed."""
    return re.compile(_texts()[name])


@cache
def any_case(name: str) -> re.Pattern[str]:
    """Return a pattern of ``languages/messages.txt`` for any case, compiled when first needed."""
    return re.compile(_texts()[name], re.IGNORECASE)


# ---- tags and comments ----

_COMMENT: Final = "-->"


def _without_tags(text: str) -> str:
    """Return ``text`` with comments and whatever stands between two tags made blank."""
    if "<" not in text:
        return text
    found = list(pattern_of("TAG").finditer(text))
    closing = {_COMMENT: [end.end() for end in re.finditer(_COMMENT, text)]}
    for tag in found:
        if tag[1]:
            closing.setdefault(tag[2], []).append(tag.end())
    parts, done = [], 0
    for tag in found:
        if tag.start() >= done:
            end = _end_of(tag, closing)
            blank = re.sub(r"[^\n]", BLANK, text[tag.start() : end])
            parts += [text[done : tag.start()], blank]
            done = end
    return "".join(parts) + text[done:]


def _end_of(tag: re.Match[str], closing: dict[str, list[int]]) -> int:
    """Return where what begins with ``tag`` ends: at its partner, or with the tag itself."""
    ends = closing.get(tag[2] or _COMMENT, [])
    at = bisect_left(ends, tag.end())
    return tag.end() if tag[1] or at == len(ends) else ends[at]


# ---- lines that are shown ----


def _said(lines: list[str]) -> list[int]:
    """Return for each line how much of it is said; the rest is shown."""
    said = [0] * len(lines)
    fence, console, block, pasted = "", False, True, False
    is_diff = any(line.startswith(("diff --git", "@@ ")) for line in lines)
    own = _own_from(lines)
    for at, line in enumerate(lines[own:], own):
        if (mark := pattern_of("FENCE").match(line)) and fence in ("", mark[1]):
            fence = "" if fence else mark[1]
            continue
        empty = not line.strip()
        console = not empty and (console or bool(pattern_of("CONSOLE").match(line)))
        indented = bool(pattern_of("BLOCK").match(line)) and not pattern_of("BULLET").match(line)
        block = empty or (block and indented)
        patch = is_diff and line.startswith(("+", "-", " "))
        code = bool(pattern_of("LINE").match(line))
        if not (fence or console or pasted or (indented and block) or patch or code):
            begins = _pasted_from(lines, at)
            pasted = begins >= 0
            said[at] = begins if pasted else len(line)
    return said


def _around(lines: list[str], said: list[int]) -> list[int]:
    """Return how much of each line is said if only the first and the last paragraph are.

    Where no line is empty, that is the first and the last line.
    """
    full = [at for at, line in enumerate(lines) if line.strip()]
    empty = [at for at in range(full[0], full[-1]) if not lines[at].strip()] if full else []
    first, last = (empty[0], empty[-1]) if empty else (1, len(lines) - 2)
    return [end if at < first or at > last else 0 for at, end in enumerate(said)]


# ---- texts that are pasted ----


def _own_from(lines: list[str]) -> int:
    """Return the first line of what is asked about a text above it, which somebody else wrote."""
    last = next((at for at in range(len(lines) - 1, -1, -1) if lines[at].strip()), 0)
    asks = last > 1 and not lines[last - 1].strip() and len(lines[last]) <= LONGEST
    return last if asks and any_case("ASKED_ABOUT").search(lines[last]) else 0


def _pasted_from(lines: list[str], at: int) -> int:
    """Return where in a line somebody else's text begins, which goes on to the end, or -1.

    In a fence or a quotation it ends with these, and is known for what it is.
    """
    line = lines[at]
    found = any_case("WORK_ON").match(line) or any_case("INTRODUCES").match(line)
    if found is None and lines[at + 1 : at + 2] == [""]:
        found = any_case("ABOVE").match(line)
    if found is None or any_case("OWN_LIST").search(line):
        return -1
    after = next((lines[to] for to in range(at + 1, len(lines)) if lines[to].strip()), "")
    shown = pattern_of("LINE").match(after) and not pattern_of("HEADING").match(after)
    fenced = pattern_of("FENCE").match(after) or shown
    rest = line[found.end() :]
    # "Could you translate this? And I prefer British English." is not a text to work on.
    own = found[0].rstrip()[-1:] in ".?" and any_case("OWN_VOICE").match(rest)
    return -1 if own or (fenced and not rest.strip()) else found.end()


# ---- quotations and code within a line ----
