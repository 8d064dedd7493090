"""What notes for an assistant state: a page of markdown, taken apart into single statements.

Pure, any text, never an error; the cost grows with the length of the text. A statement says by
itself what it says on its page. Its kind comes from the nearest label, sign, lead or heading that
tells one (*Do not*, *Code style*, *Gotchas*), else from the reader of sentences. Links, tables of
contents, struck-through words, dates of change, code, quotations and blocks that this program wrote
state nothing; each is named with its line and the reason. The words that tell something stand in
``languages/notes.txt``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import combinations, pairwise
from typing import Final, NamedTuple, cast

from engramdown.consolidation.sentences import (
    is_order,
    kind_of,
    language_of,
    pattern,
    statements,
    verb_of,
)
from engramdown.consolidation.utterances import entries, mask_shown, sentences, small_letters
from engramdown.engram import Kind
from engramdown.language.characters import is_encodable
from engramdown.markdown import Block, FrontMatter, Metadata, parse_front_matter
from engramdown.secrets import find_secrets

_LONGEST: Final = 2_000
_LONGEST_CONTEXT: Final = 100
_SHORTEST: Final = 3
_FEW: Final = 3  # spaces in a few words
_TITLE_WORDS: Final = 8
_MOST_CLAUSES: Final = 8
_MOST_SENTENCES: Final = 40
_MOST_NOTES: Final = 5_000  # of one page; to read them takes some seconds
_CODE_INDENT: Final = 4
_NO_STATEMENT: Final = "is contents, history or work to do"
_WRAPPED: Final = 60  # a line that is shorter was not wrapped by a program


class Note(NamedTuple):
    """A statement of a page.

    Attributes:
        text: What it says, in its context.
        bare: The same without the context.
        whole: The item or paragraph in which it stands, in its context.
        kind: Its kind.
        line: Where it begins, from 1.
        titles: The headings above it, each with its level, the outermost first.
        meta: The metadata in its comment.
        is_ruled: Whether a heading or a lead says that it is a rule of its kind.
    """

    text: str
    bare: str
    whole: str
    kind: Kind
    line: int
    titles: tuple[tuple[int, str], ...]
    meta: Metadata
    is_ruled: bool

    @property
    def in_words(self) -> str:
        """Its text, with a word for what a heading forbids: "never push to main"."""
        if self.kind not in ("never", "when") or _begins("DENIES", self.text):
            return self.text
        first = self.text[0] if self.text[1:2].isupper() else self.text[0].lower()
        return f"{'never ' if self.kind == 'never' else ''}{first}{self.text[1:]}"

    @property
    def keys(self) -> tuple[str, ...]:
        """The forms in which it may stand elsewhere: whole first, then parts of it.

        Marks, case, and the words that only say that it is a rule make no difference.
        """
        parts = _BOUNDARY.split(self.bare)
        # Without its case a statement would say something else.
        has_parts = self.kind != "when" and len(parts) <= _MOST_CLAUSES
        spans = combinations(range(len(parts) + 1), 2) if has_parts else ()
        said = [self.text, *(" ".join(parts[start:end]) for start, end in spans)]
        return tuple(dict.fromkeys(_key(each, self.kind) for each in said))


class Omission(NamedTuple):
    """A part of a page that is no statement: the line where it begins, from 1, and why."""

    line: int
    reason: str


class Page(NamedTuple):
    """A page: its statements and what is left out, in its order, and its front matter."""

    notes: tuple[Note, ...]
    passed: tuple[Omission, ...]
    front: FrontMatter


def read_notes(text: str, *, by_line: bool = False) -> Page:
    r"""Return what a page states.

    Args:
        text: The page.
        by_line: Whether each plain line stands for itself, as in ``.cursorrules``.

    >>> [(each.kind, each.text) for each in read_notes("## Do not\n- Push\n- **Tag**\n").notes]
    [('never', 'Push'), ('never', 'Tag')]
    """
    front = parse_front_matter(text)
    lines = [each.rstrip("\r").expandtabs(4) for each in text.removeprefix("\ufeff").split("\n")]
    walker = _Walker(lines, front.body_line - 1, by_line=by_line)
    notes: list[Note] = []
    for piece in walker.run():
        if len(notes) >= _MOST_NOTES:
            reason = (
                f"what follows is too much: {_MOST_NOTES:,} statements are read; split the file"
            )
            walker.passed.append(Omission(piece.line, reason))
            break
        if reason := _refusal(piece):
            walker.passed.append(Omission(piece.line, reason))
        else:
            parts = [*_parts(piece)]
            made = [_note(piece, each) for each in parts if not _begins("TODO", each)]
            if len(made) < len(parts):
                walker.passed.append(Omission(piece.line, _NO_STATEMENT))
            # A sentence of others may be struck through, or a mark.
            notes += [each for each in made if re.search(r"\w", each.bare)]
    return Page(tuple(notes), tuple(sorted(walker.passed)), front)


@cache
def _named(name: str) -> re.Pattern[str]:
    return pattern(dict(entries("notes"))[name])


def _begins(name: str, text: str) -> bool:
    return _named(name).match(_small(text)) is not None


def _small(text: str) -> str:
    return small_letters(text).strip(" *_`\"'")


# ---- the lines of a page ----

_OURS: Final = re.compile(r"\s*<!--\s*engramdown:(begin|end)\b")
_FENCE: Final = re.compile(r"(?:[-*+][ \t]+)*(`{3,}+(?!.*`)|~{3,}+)[ \t]*(\S*)")
_SHELLS: Final = frozenset({"sh", "bash", "shell", "zsh", "fish", "console", "powershell", "pwsh"})
_HEADING: Final = re.compile(r"(#{1,6})(?:[ \t]+(.*))?$")
_BOLD_LINE: Final = re.compile(r"(\*\*|__)([^*_]+?):?\1:?$")
_UNDERLINE: Final = re.compile(r"(?:=+|-+)$")
_BREAK: Final = re.compile(r"(?:-[ \t]*){3,}$|(?:\*[ \t]*){3,}$|(?:_[ \t]*){3,}$")
_ITEM: Final = re.compile(r"(?:[-*+\u2022](?:[ \t]+|$)|([0-9]{1,9})[.)][ \t]+)(.*)$")
_ALERT: Final = re.compile(
    r"\s*>\s*(?:\[![A-Za-z]+\]|(?=\W{0,4}(?:note|tip|important|warning|caution|achtung|hinweis"
    r"|wichtig|attention|nota|importante?|let op)\b\W{0,4}(?::|\Z)))\s*",
    re.IGNORECASE,
)
_QUOTED: Final = re.compile(r"\s*>\s?")
_TABLE_RULE: Final = re.compile(r"\|?[ :]*-[-| :]*")
_NUMBERING: Final = re.compile(r"\W*|n[or]\.?|id", re.IGNORECASE)
_CELL_END: Final = re.compile(r"(?<!\\)\|")
_IMPORT: Final = re.compile(r"(?:[-*+] +)*@([\w~./\\][^\s]*)$")
_APART: Final = (
    (re.compile(r"</?[A-Za-z!?]"), "HTML"),
    (re.compile(r"\[[^\]]{1,200}\]:\s"), "the target of a link"),
)
_ENDS: Final = (":", "\uff1a")


@dataclass(slots=True)
class _Piece:
    """A list item, a paragraph, a row of a table or a command.

    Attributes:
        line: Where it begins, from 1.
        shape: ``item``, ``step``, ``line``, ``text``, ``row`` or ``command``; a ``lead`` only
            introduces what follows.
        text: Its words.
        titles: The headings above it.
        above: The items above it, and the paragraph that leads to the list.
        indent: How far an item is indented; -1 for anything else.
        meta: The metadata in its comment.
        has_below: Whether something stands below it.
    """

    line: int
    shape: str
    text: str
    titles: tuple[tuple[int, str], ...] = ()
    above: tuple[_Piece, ...] = ()
    indent: int = -1
    meta: Metadata = field(default_factory=Metadata)
    has_below: bool = False


class _Walker:
    """One pass over the lines of a page."""

    def __init__(self, lines: list[str], at: int, *, by_line: bool) -> None:
        self.at = at
        self.lines = lines
        self.by_line = by_line
        self.pieces: list[_Piece] = []
        self.passed: list[Omission] = []
        self.titles: tuple[tuple[int, str], ...] = ()
        self.above: tuple[_Piece, ...] = ()
        self.open: _Piece | None = None
        self.open_lines: list[str] = []
        self.after_blank = False
        self.last_passed = -1
        marks = ("-->", "engramdown:end")
        self.last = {mark: at for at, line in enumerate(lines) for mark in marks if mark in line}

    def run(self) -> list[_Piece]:
        while self.at < len(self.lines):
            line = self.lines[self.at]
            self.at += 1
            said = line.strip()
            if not said:
                self.after_blank = True
            elif not self._is_apart(said, line):
                self._say(said, len(line) - len(line.lstrip()))
                self.after_blank = False
        self._close()
        return self.pieces

    # ---- what stands apart ----

    def _is_apart(self, said: str, line: str) -> bool:
        """Take a block that begins here, or a single line that is no statement."""
        is_deep = line.startswith(" " * _CODE_INDENT)
        if fence := _FENCE.match(said):
            self._code(fence[1], fence[2].lower(), len(line) - len(line.lstrip()))
        elif said.startswith("<!--"):
            self._comment(said)
        elif said.startswith("|"):
            self._table()
        elif _ALERT.match(line):
            self._open_quotation()
        elif is_deep and not self._goes_on():
            self._pass("code")
        elif not is_deep and self._is_heading(said):
            return True
        elif match := _IMPORT.match(said):
            self._pass(f"names another file; `engramdown migrate {match[1]}` brings what it says")
        elif said.startswith(">"):
            self._pass("a quotation")
        elif reason := next((reason for each, reason in _APART if each.match(said)), ""):
            self._pass(reason)
        else:
            return False
        return True

    def _pass(self, reason: str) -> None:
        self._close()
        goes_on = self.last_passed == self.at - 1 and self.passed[-1].reason == reason
        if not goes_on:
            self.passed.append(Omission(self.at, reason))
        self.last_passed = self.at

    def _skip_to(self, is_end: Callable[[str], bool]) -> list[str]:
        """Go on behind the line that ends a block, and return the lines before it."""
        start = self.at
        while self.at < len(self.lines):
            self.at += 1
            if is_end(self.lines[self.at - 1]):
                return self.lines[start : self.at - 1]
        return self.lines[start:]

    def _comment(self, said: str) -> None:
        """Skip a comment, or a block of our own; one that is never closed is a single line."""
        ours = _OURS.match(said)
        is_block = ours is not None and self.last.get("engramdown:end", -1) >= self.at
        self._pass("written by engramdown" if is_block else "a comment")
        mark = "engramdown:end" if is_block else "-->"
        if (is_block or mark not in said) and self.last.get(mark, -1) >= self.at:
            self._skip_to(lambda line: mark in line)

    def _code(self, fence: str, language: str, indent: int) -> None:
        """Take commands of which a comment says what they do; other code states nothing."""

        def closes(line: str) -> bool:
            bare = line.strip()
            is_near = len(line) - len(line.lstrip()) < indent + _CODE_INDENT
            return is_near and len(bare) >= len(fence) and bare == fence[0] * len(bare)

        self._pass("code")
        begin, about, count = self.at + 1, "", len(self.pieces)
        for at, line in enumerate(self._skip_to(closes) if language in _SHELLS else (), begin):
            command, _, does = line.strip().removeprefix("$ ").partition(" # ")
            says = command[:1] not in ("", "#") and "`" not in command and command[-1] != "\\"
            if says and (does or about):
                self._add(at, "command", f"`{command.strip()}`: {(does or about).strip('# ')}")
            about = command.strip("# ") if command[:1] == "#" else ""
        if language not in _SHELLS:
            self._skip_to(closes)
        if len(self.pieces) > count:
            self.passed.pop()

    def _open_quotation(self) -> None:
        """Let what a person wants noticed be read like any other text."""
        self._close()
        at = self.at = self.at - 1
        self.lines[at] = f">{_ALERT.sub('', self.lines[at], count=1)}"
        while at < len(self.lines) and (quoted := _QUOTED.match(self.lines[at])):
            self.lines[at] = self.lines[at][quoted.end() :]
            at += 1

    def _table(self) -> None:
        """Take the rows of a table: what they forbid or demand, rules with reasons, or facts."""
        self._close()
        start = self.at - 1
        while self.at < len(self.lines) and "|" in self.lines[self.at]:
            self.at += 1
        head, rule, *rows = [*self.lines[start : self.at], "", ""]
        if not rows[:-2] or not _TABLE_RULE.fullmatch(rule.strip()):
            self.passed.append(Omission(start + 1, "a table"))
            return
        for at, row in enumerate(rows[:-2], start + 3):
            cells = zip(_cells(head), _cells(row), strict=False)
            said = [each for each in cells if each[1] and not _NUMBERING.fullmatch(each[0])]
            signed = [each for each in said if _tells(each[0])[0] in ("always", "never")]
            for title, cell in signed:
                self._add(at, "row", cell, title)
            if said and not signed:
                rules = [title for title, _ in said if _tells(title)[0] == "rules"]
                self._add(at, "row", _row(said), *rules)

    def _add(self, line: int, shape: str, text: str, *leads: str) -> None:
        above = tuple(_Piece(line, "lead", each) for each in leads[:1])
        self.pieces.append(_Piece(line, shape, text, self.titles, above))

    # ---- headings ----

    def _goes_on(self) -> bool:
        """Whether an indented line can belong to the text above it."""
        in_list = any(each.indent >= 0 for each in self.above)
        is_open = self.open is not None and (self.open.indent >= 0 or not self.after_blank)
        return in_list or is_open

    def _in_paragraph(self) -> bool:
        return self.open is not None and self.open.indent < 0 and not self.after_blank

    def _is_heading(self, said: str) -> bool:
        if match := _HEADING.match(said):
            self._head(len(match[1]), (match[2] or "").rstrip("# \t"))
        elif _UNDERLINE.match(said) and self._in_paragraph():
            self.open = None
            self._head(1 if said[0] == "=" else 2, " ".join(self.open_lines))
        elif _BREAK.match(said):
            self._close()
            self.above = ()
        elif title := self._title(said):
            self._head(7, title)
        else:
            return False
        return True

    def _title(self, said: str) -> str:
        """Return the words of a line that is used as a heading: in bold, or before plain lines."""
        bold = _BOLD_LINE.match(said)
        marked = said.endswith(_ENDS) or said.isupper() or said[0] + said[-1] == "[]"
        below = _ITEM.match("".join(self.lines[self.at : self.at + 1]))
        leads = below and below[1] in (None, "1") and said.count(" ") <= _FEW and said[0].isalpha()
        is_plain = marked if self.by_line and marked else leads and not said.endswith(_ENDS)
        title = bold[2] if bold else said.strip("[]=#:\uff1a ") if is_plain else ""
        is_long = title.count(" ") >= _TITLE_WORDS or title.endswith((".", "!", "?"))
        if is_long or (self._in_paragraph() and not self.by_line) or _ITEM.match(said):
            return ""
        return title if _tells(title)[0] or kind_of(title) == "lesson" else ""

    def _head(self, level: int, title: str) -> None:
        self._close()
        kept = (each for each in self.titles if each[0] < level)
        self.titles = (*kept, (level, Block(title, "paragraph").text.strip(" :*_\uff1a")))
        self.above = ()

    # ---- items and paragraphs ----

    def _say(self, said: str, indent: int) -> None:
        item = _ITEM.match(said)
        # A line of a paragraph may begin with a number; as in CommonMark, only 1 begins a list.
        if item and (item[1] in (None, "1") or not self._in_paragraph()):
            self._close()
            self.above = tuple(each for each in self.above if each.indent < indent)
            self._begin("step" if item[1] else "item", item[2], indent)
            return
        if self.open is not None and self._takes(said, indent):
            self.open_lines.append(said)
            return
        self._close()
        self.above = self.above if indent else ()
        self._begin("line" if self.by_line else "text", said)

    def _takes(self, said: str, indent: int) -> bool:
        """Whether a plain line belongs to the open piece."""
        if self.open and indent > self.open.indent >= 0:
            return True
        is_wrapped = said[0].islower() and len(self.open_lines[-1]) >= _WRAPPED
        return not self.after_blank and (is_wrapped or not self.by_line)

    def _begin(self, shape: str, said: str, indent: int = -1) -> None:
        self.open = _Piece(self.at, shape, "", self.titles, self.above, indent)
        self.open_lines = [said]

    def _close(self) -> None:
        """Add the open piece."""
        piece, self.open = self.open, None
        if piece is None:
            return
        block = Block(_joined(self.open_lines), "paragraph")
        piece.text, piece.meta = block.text, block.meta or piece.meta
        for each in piece.above:
            each.has_below = True
        if piece.text.endswith(_ENDS):
            piece.shape = "lead"
        if piece.indent >= 0 or piece.shape == "lead":
            self.above = (*self.above, piece)
        if piece.text:
            self.pieces.append(piece)


def _cells(line: str) -> list[str]:
    cells = [each.strip().replace("\\|", "|") for each in _CELL_END.split(line.strip())]
    return cells[cells[:1] == [""] :]


def _row(cells: Sequence[tuple[str, str]]) -> str:
    """Return what a row says: "Controllers stay thin (easy to test)", "`make`: builds"."""
    (title, first), *others = cells
    is_named = len(others) > 1
    rest = ", ".join(
        f"{name} {cell}" if is_bare or find_secrets(f"{name} {cell}") else cell
        for name, cell in others
        for is_bare in [is_named and " " not in cell]
    )
    if rest and _tells(title)[0] == "rules":
        return f"{first.rstrip('.')} ({rest})"
    return f"{first}: {rest}" if rest else first


def _joined(lines: Sequence[str]) -> str:
    r"""Return lines as one text; a line that was not wrapped keeps its end.

    >>> _joined(["Use uv for all of it", "Never pip"]), _joined(["Use", "uv"])
    ('Use uv for all of it\nNever pip', 'Use uv')
    """
    text = lines[0]
    for before, after in pairwise(lines):
        ends = before.endswith((".", "!", "?")) or len(before) < _WRAPPED
        is_new = ends and " " in before and not after[:1].islower()
        text += ("\n" if is_new else " ") + after
    return text


# ---- what headings tell ----


@lru_cache(maxsize=1_024)
def _tells(title: str) -> tuple[str, bool]:
    """Return what a heading, a lead or a label tells, and whether it says nothing else.

    It tells a kind of rules, that there are rules or facts below it or what somebody is, or that it
    is to be left out.

    >>> [_tells(each) for each in ("Don'ts", "Nicht anfassen", "Code style", "Gotchas", "Backend")]
    [('never', True), ('never', False), ('rules', True), ('facts', True), ('', False)]
    """
    words = re.sub(r"\W+\Z|\A[^\w@]+", "", _small(title[: _LONGEST_CONTEXT + 1]))
    if len(title) > _LONGEST_CONTEXT or re.match(r"dos? (?:and|&|und) don'?t", words):
        return "", False
    for name in ("NEVER", "ALWAYS", "PROFILE", "SKIPPED"):
        if re.fullmatch(_named(name).pattern + _named("GENERIC").pattern, words):
            return name.lower(), True
    for name, told in _BY_PART.items():
        if _named(name).search(words):
            return told, told == "when" and " " not in words
    last = max(
        _SOFT, key=lambda told: max([*map(re.Match.end, _named(told.upper()).finditer(words)), 0])
    )
    return (last, True) if _named(last.upper()).search(words) else ("", False)


_BY_PART: Final = {"CASE_TITLE": "when", "TIME_TITLE": "rules", "FORBIDS": "never"}
_SOFT: Final = ("rules", "facts")


def _told(piece: _Piece, label: str) -> str:
    """Return what the nearest of label, lead and heading tells."""
    above = [each for each in piece.above if each.shape == "lead" or each.text.count(" ") < _FEW]
    # The title of a file says little.
    titles = [title for level, title in piece.titles if level > 1 or _tells(title)[0] != "facts"]
    words = [label, *reversed([*titles, *(each.text for each in above)])]
    told = [told for each in words if (told := _tells(each)[0])]
    # "Git" below "Never" is about what is forbidden.
    return next((each for each in told if each not in _SOFT), "".join(told[:1]))


def _context(piece: _Piece, text: str, kind: Kind) -> str:
    """Return the words that belong before a statement: of items and leads, or of a heading."""
    if piece.above:
        said = [each for each in piece.above if not _tells(each.text)[1]]
        words = ": ".join(_plain(each.text).rstrip(" :\uff1a.") for each in said)
        return words if len(words) <= _LONGEST_CONTEXT else ""
    title = next((title for _, title in reversed(piece.titles) if _tells(title)[0]), "")
    told, is_all = _tells(title)
    is_step = told == "rules" and piece.shape == "step"
    is_thing = told == kind == "never" and piece.shape in ("item", "line")
    is_thing = is_thing and not (verb_of(_small(text)) or is_order(_small(text)))
    if is_all or not (told == "when" or is_step or is_thing) or not is_encodable(title):
        return ""
    return title if len(title) <= _LONGEST else ""


# ---- what is no statement ----

_STRUCK: Final = re.compile(r"~~[^~\n]{1,2000}~~[ \t]*(?:(?:->|=>|\u2192)[ \t]*)?")
_BOLD: Final = re.compile(r"(\*\*|__)(?=\S)([^\n]+?)(?<=\S)\1")
_ITALIC: Final = re.compile(r"(?<![\w*_`])([*_])(?=[^\s*_])([^*_`\n]+?)(?<=\S)\1(?![\w*_`])")
_TASK: Final = re.compile(r"\[[ xX-]\](?:\s|$)")
_IMAGE: Final = re.compile(r"!\[[^\]\n]{0,200}\]\([^)\s]{0,500}\)")
_LINK: Final = r"(?:\[[^\]\n]{0,200}\]\([^)\n]{1,500}\)|<?https?://\S+>?)"
_ONLY_LINKS: Final = re.compile(rf"\W*(?:{_LINK}\W*)+")
_POINTER: Final = re.compile(
    r"\W*\[[^\]\n]{0,200}\]\((?!https?:)[^)\n]{1,500}\)(?:\*\*|__)?\s*(?:[-\u2013\u2014:(].*|(?:\S+\s*){0,3})"
)


def _plain(text: str) -> str:
    """Return words without what is struck through, without boxes and without marks of emphasis.

    >>> _plain("[ ] **Use** ~~yarn~~ `pnpm`")
    'Use `pnpm`'
    """
    text = _STRUCK.sub("", _TASK.sub("", _IMAGE.sub("", text).lstrip(), count=1))
    return _ITALIC.sub(r"\2", _BOLD.sub(r"\2", text)).strip()


def _refusal(piece: _Piece) -> str:
    """Return why a piece is no statement, or ``""``."""
    if len(piece.text) > _LONGEST and is_encodable(piece.text):
        return f"is longer than {_LONGEST:,} characters"
    text, plain = piece.text, _plain(piece.text[:_LONGEST])
    small = _small(plain)
    is_short = piece.has_below and plain.count(" ") < _FEW
    is_label = is_short and not any(each.is_sure for each in statements(plain))
    is_struck = _STRUCK.search(text) and not re.search(r"\w", re.sub(r"\([^)]*\)", "", plain))
    links = (_ONLY_LINKS.fullmatch(plain), _POINTER.fullmatch(plain))
    is_link = any((*links, _named("POINTS").fullmatch(small), plain != text and not small))
    is_stamp = _named("ABOUT_FILE").match(small) or _named("STAMP").fullmatch(small)
    is_little = sum(map(str.isalnum, plain)) < _SHORTEST or not re.search(r"[^\W\d_]", plain)
    reasons = {
        "holds bytes that are not UTF-8": not all(
            map(is_encodable, [text, *(each.text for each in piece.above)])
        ),
        "only introduces what follows": piece.shape == "lead" or is_label,
        _NO_STATEMENT: "skipped" in [_tells(each)[0] for _, each in piece.titles],
        "is struck through": is_struck,
        "only links": is_link,
        "is about the file itself": is_stamp,
        "says too little": is_little,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


# ---- statements ----

_SIGN: Final = re.compile(r"[^\w\s`\"'({\[<@#./~$&*!-]+\ufe0f?\s*")
_LABEL: Final = re.compile(
    r"(?:(\*\*|__)([^*_\n]{1,60}?)(?:[.:!]\1|\1[.:])|([^\s`:][^`:\n]{0,40}):)\s+(?=\S)"
)
_BOUNDARY: Final = re.compile(
    r"[.;,!]\s+(?!except|unless|but|only|if|when|au\xdfer|sauf|salvo)|\s+[-\u2013\u2014]\s+"
    r"|\s+and\s+(?=i |we |never |always |don't |do not )|\s*[()]\s*",
    re.IGNORECASE,
)


def _parts(piece: _Piece) -> Iterator[str]:
    """Yield the sentences of a piece that stand by themselves.

    Those of a paragraph all do. Of an item a rule does behind what is none, and a ban behind a
    demand: the rest explains what stands before it.
    """
    if piece.meta.fields:
        # Another program wrote it, as one memory.
        yield piece.text
        return
    label = _LABEL.match(piece.text)
    held = last = ""
    said = [each for line in piece.text.split("\n") for each in _sentences(line)]
    secret = _with_secrets(piece.text, said)
    for each in said:
        is_list = "," in each and not _has_verb(_small(each))
        is_fragment = is_list and _kind(piece, each)[0] == "lesson"
        goes_on = is_fragment or _begins("GOES_ON", each) or each.count(" ") < _FEW - 1
        if not held or (label and held == piece.text[: label.end()].rstrip()):
            held = f"{held} {each}".lstrip()
        elif each in secret or last in secret:
            yield held
            held = each
        elif named := _with_subject(last, each):
            yield held
            held = named
        elif goes_on or (piece.shape != "text" and not _begins_anew(piece, held, each)):
            held = f"{held} {each}"
        else:
            yield held
            held = each
        last = each
    yield held


def _with_secrets(text: str, said: Sequence[str]) -> set[str]:
    """Return the sentences of a text that hold its secrets, if each of these is in one alone.

    A memory that holds a secret is held back, and nothing else is to be held back with it.
    """
    count = len(find_secrets(text))
    found = {each: len(find_secrets(each)) for each in said} if count else {}
    return {each for each in found if found[each]} if sum(found.values()) == count else set()


def _sentences(line: str) -> Iterator[str]:
    """Yield the sentences of a line; what is in code or quoted ends none."""
    starts = [start for start, _, _ in sentences(mask_shown(line))] if len(line) < _LONGEST else []
    edges = [0, *(starts[1:] if len(starts) <= _MOST_SENTENCES else ()), len(line)]
    for start, end in pairwise(edges):
        if said := line[start:end].strip():
            yield said


def _with_subject(before: str, after: str) -> str:
    """Return a sentence in which the subject of the one before stands for "it", or ``""``."""
    small = _small(before)
    pronoun, verb = _named("PRONOUN").match(_small(after)), verb_of(small)
    foreign = _named("SUBJECT").match(small)
    if not pronoun or not (verb or foreign) or is_order(small) or _LABEL.match(before):
        return ""
    end = foreign.end() if foreign else verb.start() if verb else 0
    subject = before[: before.lower().find(small) + end].strip()
    is_one = subject.count(" ") < _FEW and subject.endswith("s") >= (pronoun[0] == "they")
    return f"{subject}{after[pronoun.end() :]}" if is_one else ""


def _begins_anew(piece: _Piece, before: str, after: str) -> bool:
    first, second = _kind(piece, before)[0], _kind(piece, after)[0]
    facts = ("lesson", "profile")
    return second not in facts and (first in facts or (second == "never" != first))


def _note(piece: _Piece, said: str) -> Note:
    kind, told = _kind(piece, said)
    bare, context = said, ""
    if not piece.meta.fields:
        rest, label = _without_label(said)
        plain = _SIGN.sub("", _plain(rest), count=1) if _SIGN.match(_plain(rest)) else _plain(rest)
        bare = f"{label}: {plain}" if label and not _tells(label)[1] else plain
        if kind == "never":
            # Below *Never* "Don't push" would say the opposite.
            small = small_letters(bare)
            if dont := _named("DONT").match(small):
                bare = f"Never {bare[dont.end() :]}"
            elif avoids := _named("AVOIDS").match(small):
                bare = bare[avoids.end()].upper() + bare[avoids.end() + 1 :]
        elif kind == "profile" and bare.count(" ") <= _FEW + 1:
            keyed = [each.text for each in statements(bare)]
            bare = keyed[0] if len(keyed) == 1 and ": " in keyed[0] else bare
        context = _context(piece, bare, kind)
    before = f"{context}: " if context else ""
    is_ruled = told in ("always", "never", "when")
    text, whole = f"{before}{bare}", f"{before}{piece.text}"
    return Note(text, bare, whole, kind, piece.line, piece.titles, piece.meta, is_ruled)


def _without_label(text: str) -> tuple[str, str]:
    """Return words behind a label, and the label: "**Tests:** use pytest", "Never: push"."""
    label = _LABEL.match(text)
    words = (label[2] or label[3]).strip(" *_") if label else ""
    is_label = label and (label[2] or _tells(words)[0] in ("always", "never"))
    return (text[label.end() :], words) if label and is_label else (text, "")


def _kind(piece: _Piece, said: str) -> tuple[Kind, str]:
    """Return the kind of a statement, and what stands above it tells."""
    rest, label = _without_label(said)
    plain = _plain(rest)
    told = _told(piece, label)
    if sign := _SIGN.match(plain):
        plain = plain[sign.end() :]
        if _named("SIGNS").search(sign[0]):
            told = "never" if _named("FORBIDDING_SIGN").search(sign[0]) else "always"
    small = _small(plain)
    return _kind_below(told, _kind_by_words(plain, small), small, piece.shape), told


def _kind_below(told: str, kind: Kind, small: str, shape: str) -> Kind:
    """Return the kind of a statement of which the words say ``kind``, below what tells a thing."""
    is_plain = kind == "lesson"
    is_listed = shape in ("item", "step", "line")
    firm = _named("FIRM").search(small) if is_listed else None
    is_ban = _named("NOTHING").match(small) and not verb_of(small)
    is_fragment = ":" not in small and small[:1].isalpha() and not _has_verb(small)
    is_demand = firm and not _named("NEVERS").search(firm[0])
    if told in ("always", "when"):
        return "never" if kind == "never" else cast("Kind", told)
    if told == "never" and not _named("DEMANDS").match(small):
        return "lesson" if is_plain and shape == "text" and verb_of(small) else "never"
    names = shape == "row" or _named("NAMES_COMMAND").fullmatch(small)
    if told == "facts" or shape == "command" or (names and not told):
        return kind if kind != "always" or firm else "lesson"
    is_told = kind == "always" and not (firm or is_order(small))
    if not is_plain or told == "profile":
        return "profile" if told == "profile" and (is_plain or is_told) else kind
    is_rule = told == "rules" and not (shape == "text" and _has_verb(small))
    if is_rule or (is_listed and (is_fragment or is_ban or is_demand)):
        return "never" if _named("NOTHING").match(small) else "always"
    return kind


def _kind_by_words(plain: str, small: str) -> Kind:
    """Return what the reader of sentences takes a statement for, or an order in the infinitive."""
    label = _LABEL.match(plain)
    kinds = map(kind_of, dict.fromkeys([*_sentences(plain), plain]))
    kind: Kind = next((each for each in kinds if each != "lesson"), "lesson")
    if kind == "lesson" and label:
        kind = kind_of(plain[label.end() :])
    if kind == "when" and not _named("CASE").match(small):
        return "always"
    if _named("AVOIDS").match(small) or _named("REMINDS").match(small):
        return "never" if _named("AVOIDS").match(small) else "always"
    if kind != "lesson" or _named("USER").match(small):
        return kind if kind != "lesson" else "profile"
    is_foreign = language_of(small) != "english"
    if is_foreign and _named("NOT_INFINITIVE").fullmatch(plain):
        return "never"
    if _named("ORDER").fullmatch(small) or (is_foreign and _named("INFINITIVE").fullmatch(plain)):
        return "when" if _named("CASE").match(small) else "always"
    return kind


def _has_verb(small: str) -> bool:
    """Whether a statement may be a whole sentence."""
    is_foreign = language_of(small) != "english"
    return verb_of(small) is not None or (is_foreign and _begins("SENTENCE", small))


def _key(text: str, kind: Kind) -> str:
    words = " ".join(re.sub(r"[^\w#+./-]+", " ", small_letters(text)).split())
    before = _named("BEFORE_BAN" if kind == "never" else "BEFORE_ORDER").pattern
    return f"{kind == 'never'} {re.sub(before, '', words, count=1).strip(' .')}"
