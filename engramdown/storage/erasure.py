r"""What a person wants erased for good: its words in any writing, and the note of an erasure.

Words are found however they are wrapped, spaced, spelt in capitals or escaped (JSON,
percent, HTML, markdown); half of a text in a row counts as the text, and shorter runs, of at least
:data:`PIECE` characters, are found as well; the note is for the user alone, exists only while an
erasure is under way, and is ignored if others could have written it.
"""

from __future__ import annotations

import html
import json
import os
import re
import stat
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import unquote_plus

from engramdown.errors import MALFORMED, StoreError
from engramdown.forks import cached_property
from engramdown.secrets.prefilter import Places, Reading
from engramdown.storage.disk import ERASING as NOTE
from engramdown.storage.disk import UNFINISHED, Disk, named_errors

# Of fewer characters in a row nobody can say where they are from.
PIECE: Final = 12
# What is in the place of erased words that had others around them.
GONE: Final = "[erased]"

# A row of dashes or spaces is nobody's words.
_LETTERS: Final = 4
# Of a shorter text only lines that say it and nothing else are found.
_SHORTEST: Final = 4
# How much of the words of a text another one shares that says the same.
_SAME: Final = 0.9
# Where white space is many characters that are read as one, fewer are enough; but so many.
_FEWEST: Final = 8
_OTHERS: Final = 0o077
# JSON in JSON in JSON: what a tool gave back, in a transcript, quoted by another tool.
_DEEPEST: Final = 4

_INVISIBLE: Final = re.compile("[\xad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]")
# White space, with the marks of quotations, lists and comments that a new line may begin with.
_MARKS: Final = ">#*|/-"
_ENDS: Final = f"{_MARKS} "
_GAP: Final = re.compile(r"[>#*|/-]*\s[\s>#*|/-]*")
_FOREIGN: Final = re.compile(r"[^\x00-\x7f]")
_CAPITAL: Final = re.compile(r"[^\x00-@\[-\x7f]")
_VISIBLE: Final = re.compile(r"[^\n]")
_JSON: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\[nrtbf\"\\/]"
)
_PERCENT: Final = re.compile(r"(?:%[0-9A-Fa-f]{2})+|\+")
_ENTITY: Final = re.compile(r"&(?:[a-zA-Z]{2,8}|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});")
_MARKDOWN: Final = re.compile(r"\\[!-/:-@\[-`{-~]")


class Erasure(NamedTuple):
    """What is being erased.

    Attributes:
        step: The id of the step in the journal, also the name of the erasure.
        ids: The ids of the memories.
        texts: Everything that they said, in every version.
        tokens: What can be made of the texts, and would let a guess be tested: addresses, digests.
        pieces: Whether lines go, too, that share a shorter run with a text than half of it.
        roots: The folders of the scopes, that of the first note first.
    """

    step: str
    ids: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    tokens: tuple[str, ...] = ()
    pieces: bool = False
    roots: tuple[str, ...] = ()

    def words(self) -> Words:
        """Return what to look for."""
        return Words(self.texts, self.tokens, pieces=self.pieces)


# ---- the note ----


def begin(root: Path, erasure: Erasure, disk: Disk) -> None:
    """Note in the folder of a scope what is being erased.

    Raises:
        StoreError: If it cannot be written.
    """
    with named_errors(root / NOTE, "written"):
        disk.create(root / NOTE, json.dumps(erasure._asdict()).encode() + b"\n")
        disk.sync_folder(root)


def end(root: Path, disk: Disk) -> None:
    """Take the note away: it is done.

    Raises:
        StoreError: If it cannot be removed.
    """
    with named_errors(root / NOTE, "removed"):
        disk.unlink(root / f"{NOTE}{UNFINISHED}")
        disk.unlink(root / NOTE)
        disk.sync_folder(root)


def unfinished(root: Path, disk: Disk) -> Erasure | None:
    """Return what is being erased in the scope at ``root``, if anything is.

    Git gives no file to its user alone, as ours is: a note that came with a clone says nothing.
    """
    path = root / NOTE
    try:
        status = path.lstat()
    except OSError:
        return None
    is_mine = not hasattr(os, "getuid") or status.st_uid == os.getuid()
    is_shared = hasattr(os, "getuid") and status.st_mode & _OTHERS
    if not stat.S_ISREG(status.st_mode) or not is_mine or is_shared:
        return None
    try:
        note = json.loads(disk.read(path) or b"")
        names = ("ids", "texts", "tokens", "roots")
        lists = {name: tuple(map(str, note[name])) for name in names}
        return Erasure(step=str(note["step"]), pieces=bool(note.get("pieces")), **lists)
    except (OSError, StoreError, *MALFORMED):
        return None


# ---- the words ----


class _Run(NamedTuple):
    """Characters in a row that a plain text shares with one of those that are looked for.

    Attributes:
        start: Where it begins in the plain text.
        end: Where it ends there.
        number: Which of the texts it is from.
        place: Where it begins in that.
    """

    start: int
    end: int
    number: int
    place: int

    @property
    def span(self) -> tuple[int, int]:
        return self.start, self.end

    @property
    def size(self) -> int:
        return self.end - self.start


class Words:
    r"""The words of texts, to be found wherever they stand.

    >>> words = Words(["The door code is 4711-blue"])
    >>> words.holds('{"said": "they wrote \\"the door\\u0020code is\\n4711\\" to me"}')
    True
    >>> words.cut("Mind that the door code is 4711-blue, Ada")
    'Mind that [erased], Ada'
    """

    def __init__(
        self, texts: Iterable[str], tokens: Iterable[str] = (), *, pieces: bool = False
    ) -> None:
        """Look for ``texts``, and for ``tokens`` as they are.

        Args:
            texts: The texts.
            tokens: Digests and addresses, which occur nowhere by accident.
            pieces: Take a shorter run for words of a text, too; otherwise it is half of the text,
                or all of a short one, or most of it with a few words between.
        """
        plains = {plain: text for text in texts if (plain := _plain(text))}
        self._texts = [*plains]
        self._least = [_least(text, plain) for plain, text in plains.items()]
        self._said = [*plains.values()]
        self._tokens = [token for token in dict.fromkeys(tokens) if token]
        self._pieces = pieces

    @cached_property
    def _grams(self) -> dict[str, list[tuple[int, int]]]:
        """What each text is looked up by: any piece of it holds one of these whole."""
        grams: dict[str, list[tuple[int, int]]] = {}
        for number, text in enumerate(self._texts):
            size = (self._least[number] + 1) // 2
            for at in range(0, len(text) - size + 1, size) if len(text) >= PIECE else ():
                grams.setdefault(text[at : at + size], []).append((number, at))
        return grams

    @cached_property
    def _written(self) -> list[tuple[str, Places]]:
        """Each text on one line, and where each character of the plain one is in it."""
        lines = []
        for plain, text in zip(self._texts, self._said, strict=True):
            flat = " ".join(text.split())
            reading = _mapped(flat)
            is_same = reading.text == plain
            lines.append((flat, reading.places) if is_same else (plain, Reading(plain).places))
        return lines

    @cached_property
    def _short(self) -> list[re.Pattern[str]]:
        short = [text for text in self._texts if _SHORTEST <= len(text) < PIECE]
        return [re.compile(rf"(?<!\w){re.escape(text)}(?!\w)") for text in short]

    def is_like(self, text: str) -> bool:
        """Whether most of what ``text`` says is one of the texts, and most of that is there."""
        plain = _plain(text)
        for number, wanted in enumerate(self._texts):
            spans = [run.span for run in self._runs(plain) if run.number == number]
            shared = sum(end - start for start, end in _merged(spans))
            if shared >= _SAME * max(len(wanted), len(plain), 1):
                return True
        return False

    def is_whole(self, text: str) -> bool:
        """Whether ``text`` holds one of the texts, or most of it."""
        for reading in _readings(text):
            plain = _plain(reading.text)
            if any(wanted in plain for wanted in self._texts if len(wanted) >= PIECE):
                return True
            if any(pattern.search(plain) for pattern in self._short):
                return True
            if any(run.size >= _SAME * len(self._texts[run.number]) for run in self._runs(plain)):
                return True
        return False

    def holds(self, text: str) -> bool:
        """Whether ``text`` holds words of one of the texts, in whatever writing."""
        return self._stand(text, pieces=self._pieces)

    def shares(self, text: str) -> bool:
        """Whether ``text`` shares a run with the texts, even one too short to count as them."""
        return self._stand(text, pieces=True)

    def shared_lines(self, text: str, *, untouched: bool = False) -> list[int]:
        """Return the numbers of the lines of ``text`` with runs that stay.

        Args:
            text: The text.
            untouched: Whether all of it stays, not only runs too short to count as the words.
        """
        if not self.shares(text):
            return []
        left = text
        for start, end in () if untouched else self._spans(text, pieces=self._pieces):
            left = left[:start] + _VISIBLE.sub("\0", left[start:end]) + left[end:]
        numbers: dict[int, None] = {}
        for start, end in self._spans(left, pieces=True):
            first = text.count("\n", 0, start) + 1
            lines = left[start:end].split("\n")
            numbers |= dict.fromkeys(first + at for at, line in enumerate(lines) if line.strip())
        return [*numbers]

    def cut(self, text: str, *, pieces: bool = False) -> str:
        """Return ``text`` with :data:`GONE` in the place of the words; shorter ``pieces``, too."""
        for start, end in reversed(self._spans(text, pieces=pieces or self._pieces)):
            text = text[:start] + GONE + text[end:]
        return text

    def mask(self, data: bytes) -> bytes:
        """Return bytes of the same length in which the words cannot be read."""
        text = data.decode("utf-8", "surrogateescape")
        for start, end in reversed(self._spans(text, pieces=self._pieces)):
            size = len(text[start:end].encode("utf-8", "surrogateescape"))
            text = text[:start] + "x" * size + text[end:]
        return text.encode("utf-8", "surrogateescape")

    def _stand(self, text: str, *, pieces: bool) -> bool:
        if any(token in text for token in self._tokens):
            return True
        plains = (_plain(reading.text) for reading in _readings(text))
        return any(self._found(plain, pieces=pieces) for plain in plains)

    def _spans(self, text: str, *, pieces: bool) -> list[tuple[int, int]]:
        """Return where the words, or pieces of them, begin and end in ``text``."""
        spans = [
            match.span() for token in self._tokens for match in re.finditer(re.escape(token), text)
        ]
        for reading in _readings(text):
            if not self._found(_plain(reading.text), pieces=pieces):
                continue
            plain = _mapped(reading.text)
            for start, end in self._found(plain.text, pieces=pieces):
                spans.append(reading.place(*plain.place(start, end)))
        return _merged(spans)

    def _found(self, plain: str, *, pieces: bool) -> list[tuple[int, int]]:
        """Return where the words begin and end in a text that is plain already."""
        runs = self._runs(plain)
        spans = [run.span for run in runs if pieces or self._is_half(plain, run)]
        spans += self._reworded(runs)
        spans += [match.span() for pattern in self._short for match in pattern.finditer(plain)]
        return _merged(spans)

    def _runs(self, plain: str) -> list[_Run]:
        """Return the runs that ``plain`` shares with texts, in order."""
        runs: set[_Run] = set()
        for gram, places in self._grams.items():
            at = plain.find(gram)
            while at >= 0:
                for number, place in places:
                    run = _run(plain, at, (number, self._texts[number]), place, len(gram))
                    if run.size >= self._least[number] and _is_said(plain[run.start : run.end]):
                        runs.add(run)
                at = plain.find(gram, at + 1)
        return sorted(runs)

    def _is_half(self, plain: str, run: _Run) -> bool:
        """Whether a run is half of its text, or all of a short one, as that was written."""
        flat, (starts, ends) = self._written[run.number]
        first, last = starts[run.place], ends[run.place + run.size - 1]
        # Marks and spaces at the ends of a line are read as none.
        if plain[: run.start][-1:] in ("", " "):
            first = len(flat[:first].rstrip(_ENDS))
        if plain[run.end :][:1] in ("", " "):
            last = len(flat) - len(flat[last:].lstrip(_ENDS))
        return last - first >= (len(flat) // 2 if len(flat) >= 2 * PIECE else len(flat))

    def _reworded(self, runs: Sequence[_Run]) -> Iterator[tuple[int, int]]:
        """Yield the runs that together are most of a text, with little between them."""
        for first, run in enumerate(runs):
            wanted = len(self._texts[run.number])
            near: list[_Run] = []
            places: set[int] = set()
            for each in islice(runs, first, None) if wanted >= 2 * PIECE else ():
                if each.start - run.start > wanted:
                    break
                if each.number == run.number:
                    near.append(each)
                    places.update(range(each.place, each.place + each.size))
                    if len(places) >= _SAME * max(wanted, each.end - run.start):
                        yield from (part.span for part in near)


def _is_said(text: str) -> bool:
    return sum(map(str.isalnum, text)) >= _LETTERS


def _least(text: str, plain: str) -> int:
    """Return how long a piece of a text is at least, as it is compared."""
    if len(plain) < PIECE:
        return len(plain)
    starts, ends = _mapped(text).places
    shortest = PIECE
    for first, start in enumerate(starts):
        last = bisect_right(ends, start + PIECE) - 1
        if start + PIECE <= len(text):
            # At its ends, a character may be taken for the mark of a line.
            shortest = min(shortest, len(plain[first : last + 1].strip(_MARKS)))
    return max(shortest, _FEWEST)


def _run(plain: str, at: int, wanted: tuple[int, str], place: int, size: int) -> _Run:
    """Return the longest run around ``at`` that reads as the text ``wanted`` around ``place``."""
    number, text = wanted
    before = 0
    while before < min(at, place) and plain[at - before - 1] == text[place - before - 1]:
        before += 1
    after = size
    most = min(len(plain) - at, len(text) - place)
    while after < most and plain[at + after] == text[place + after]:
        after += 1
    return _Run(at - before, at + after, number, place - before)


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


# ---- writings ----


@lru_cache(maxsize=64)
def _plain(text: str) -> str:
    """Return a text as it is compared: no capitals, no invisible characters, one space each."""
    if not text.isascii():
        text = _normal(text)
    return _GAP.sub(" ", text).casefold().strip()


def _mapped(text: str) -> Reading:
    """Return :func:`_plain` of a text, and where each of its characters is in the text."""
    reading = Reading(text)
    if not text.isascii():
        reading = reading.decoded(_FOREIGN, _normal)
    return reading.decoded(_GAP, lambda _: " ").decoded(_CAPITAL, str.casefold).stripped()


def _normal(text: str) -> str:
    return _INVISIBLE.sub("", unicodedata.normalize("NFKD", text))


def _readings(text: str) -> Iterator[Reading]:
    """Yield the ways in which ``text`` may have to be read, first as it is."""
    reading = Reading(text)
    for _ in range(_DEEPEST):
        yield reading
        if "%" in reading.text or "+" in reading.text:
            yield reading.decoded(_PERCENT, unquote_plus)
        if "&" in reading.text:
            yield reading.decoded(_ENTITY, html.unescape)
        if "\\" not in reading.text:
            return
        yield reading.decoded(_MARKDOWN, lambda escape: escape[1:])
        reading = reading.decoded(_JSON, _unescaped)
    yield reading


def _unescaped(escape: str) -> str:
    """Return what an escape of JSON means."""
    return str(json.loads(f'"{escape}"'))
