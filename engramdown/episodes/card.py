"""The card of a session: what it was about, at a glance.

It is computed from the lines, without a model; a model may fill it in (a line of JSON in
``gists/<session>.jsonl``), and what a person writes on the page ``gists/<session>.card.md`` wins,
field by field. Lines that were excluded or redacted leave nothing on it, and what a model said
before lines were taken back no longer counts. Any text is a valid page, and we never write to a
page that exists.

The fields that need judgement are extracts: the title is how the user began, the paragraph is how
the user began and what the assistant said last. There are no decisions until a model or a person
writes them down.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from engramdown.journal.working_notes import without_versions
from engramdown.language.terms import words
from engramdown.language.words import STOP_WORDS
from engramdown.lazy import texts
from engramdown.storage.disk import Disk
from engramdown.storage.locks import FolderLock
from engramdown.transcripts.episode import Episode, stamp_of
from engramdown.transcripts.sessions import Transcript
from engramdown.transcripts.summary_log import FOLDER, GistLog, record_of, without_gists_of
from engramdown.transcripts.visibility import visible

# The kind of a session in which nothing was said that counts.
EMPTY: Final = "empty"

_CASUAL: Final = "casual"
_WORK: Final = "work"
_TITLE: Final = 60
_LINE: Final = 100
_BEGUN: Final = 200
_ENDED: Final = 300
_LONGEST_PATH: Final = 300
_TAGS: Final = 7
_SHORT: Final = 3
_LONGEST_TAG: Final = 30
_READ: Final = 20_000
_ASKED: Final = 20
_DETAILS: Final = "## Details"
_ELLIPSIS: Final = "…"
_WORD: Final = re.compile(r"[a-z]+")
# A sentence ends where white space or nothing follows; in Chinese and Japanese nothing needs to.
_SENTENCE: Final = re.compile(r".+?(?:[.!?]+(?=\s|\Z)|[\u3002\uff01\uff1f]|\n|\Z)", re.DOTALL)
# The input of a tool may be cut in the middle: it is not JSON then, but still useful.
_PATH: Final = re.compile(
    r'"(?:path|file|file_?[pP]ath|file_?[nN]ame|notebook_path|source|target|destination)"\s*:\s*'
    r'("(?:[^"\\]|\\.)*+")'
)
_KEY: Final = re.compile(r"([a-z_]+):[ \t]*(.*)")
_COUNT: Final = re.compile(r"[0-9]{1,9}")
_FENCE: Final = "---"


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What is known of a session at a glance.

    Attributes:
        session: Its id.
        title: What to call it, or ``""``.
        one_liner: What it was about, in one line.
        paragraph: The same in some more.
        kind: One of ``card.txt``, ``casual``, ``work``, :data:`EMPTY`, or what a person says.
        tags: A few words under which it is looked for.
        detailed: What happened, in some lines: what was asked, and how it ended.
        decisions: What was decided, if somebody wrote it down.
        participants: Who spoke, in the order in which they began.
        tools: How often each tool was called, the most used first.
        files: The files that tools were given, in the order in which they came up.
        models: The models that spoke.
        filled_by: The model that said some of this, or ``""``.
        edited: Whether a person's page has its part in this.
        stale: Whether there is such a page that is left out, because it is older than a redaction.
    """

    session: str
    title: str = ""
    one_liner: str = ""
    paragraph: str = ""
    kind: str = EMPTY
    tags: tuple[str, ...] = ()
    detailed: str = ""
    decisions: tuple[str, ...] = ()
    participants: tuple[str, ...] = ()
    tools: Mapping[str, int] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    filled_by: str = ""
    edited: bool = False
    stale: bool = False


def compute(session: str, episodes: Sequence[Episode]) -> Card:
    """Return the card of a session, given all its lines."""
    shown = visible(episodes)
    asked = [each.text for each in shown if each.role == "user"]
    answers = [each.text for each in shown if each.role == "assistant"]
    said = [each for each in shown if each.role in ("user", "assistant")]
    if not said:
        return Card(session=session)
    first = (asked or answers)[0]
    paragraph = [cut_at_word(text, _BEGUN) for text in asked[:1]]
    paragraph += [cut_at_word(text, _ENDED) for text in answers[-1:]]
    calls = [each for each in shown if each.role == "tool_call"]
    tools = Counter(each.name or "tool" for each in calls)
    word_counts = Counter(word for text in asked for word in _WORD.findall(text.lower()))
    cues = texts(__file__)
    counts = {kind: sum(word_counts[cue] for cue in cues[kind].split("|")) for kind in cues}
    kind = max(counts, key=lambda kind: counts[kind])
    return Card(
        session=session,
        title=cut_at_word(given_title(episodes), _LINE) or cut_at_word(first, _TITLE),
        one_liner=cut_at_word(_sentence(first), _LINE),
        paragraph=f" {_ELLIPSIS} ".join(paragraph),
        kind=kind if counts[kind] else _WORK if calls else _CASUAL,
        tags=_tags(each.text for each in said),
        detailed=_detailed(asked, answers),
        participants=tuple(dict.fromkeys(each.name or each.role for each in said)),
        tools=dict(sorted(tools.items(), key=lambda item: (-item[1], item[0]))),
        files=tuple(dict.fromkeys(path for call in calls for path in _paths(call.text))),
        models=tuple(dict.fromkeys(each.model for each in shown if each.model)),
    )


def given_title(episodes: Sequence[Episode]) -> str:
    """Return what a session was called when it began, or ``""``."""
    title = episodes[0].more.get("title") if episodes and episodes[0].event == "start" else None
    return title if isinstance(title, str) else ""


def cut_at_word(text: str, limit: int) -> str:
    """Return ``text`` in one line of at most ``limit`` code points, cut between words.

    >>> cut_at_word("Why is the build red again?", 20), cut_at_word("Donaudampfschiff", 8)
    ('Why is the build…', 'Donauda…')
    """
    flat = one_line(text)
    if len(flat) <= limit:
        return flat
    head = flat[: limit - 1]
    if flat[limit - 1] != " ":
        head = head.rpartition(" ")[0] or head
    return head.rstrip(" ,;:") + _ELLIPSIS


# ---- what is computed ----


def _sentence(text: str) -> str:
    found = _SENTENCE.match(text.strip())
    return found[0] if found else ""


def _tags(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the content words that were said most often.

    Of those that were said as often the longer ones come first: they say more.
    """
    found = Counter(
        word
        for text in texts
        for word in words(text[:_READ])
        if _SHORT <= len(word) <= _LONGEST_TAG and word.isalpha() and word not in STOP_WORDS
    )
    often = sorted(found.items(), key=lambda each: (-each[1], -len(each[0]), each[0]))
    return tuple(word for word, _ in often[:_TAGS])


def _detailed(asked: Sequence[str], answers: Sequence[str]) -> str:
    """Return what was asked, a line each, and what was answered last."""
    lines = [f"- {cut_at_word(_sentence(text), _BEGUN)}" for text in asked if text.strip()]
    left = len(lines) - _ASKED
    if left > 0:
        lines[_ASKED // 2 : -_ASKED // 2] = [f"- {_ELLIPSIS} {left} more"]
    if answers:
        lines += ["", cut_at_word(answers[-1], _ENDED)]
    return "\n".join(lines).strip()


def _paths(text: str) -> Iterator[str]:
    for found in _PATH.finditer(text):
        try:
            value = json.loads(found[1])
        except ValueError:
            continue
        if 0 < len(value) <= _LONGEST_PATH and "\n" not in value and "://" not in value:
            yield value


# ---- the page ----


_WORDS: Final = ("title", "one_liner", "kind")
_LISTS: Final = ("tags", "decisions", "participants", "files", "models")


def as_page(card: Card) -> str:
    """Return a card as a page of markdown that a person may edit; see :func:`apply_page`."""
    front = [_FENCE]
    for name in (item.name for item in fields(card)):
        value = getattr(card, name)
        if name in ("session", *_WORDS):
            front.append(f"{name}: {one_line(value)}")
        elif name in (*_LISTS, "tools"):
            items = [f"{tool}: {n}" for tool, n in value.items()] if name == "tools" else value
            front += [f"{name}:", *(f"- {one_line(item)}" for item in items)]
    details = [_DETAILS, "", card.detailed, ""] if card.detailed else []
    return "\n".join([*front, _FENCE, "", card.paragraph, "", *details])


def apply_page(card: Card, page: str) -> Card:
    r"""Return a card with what a person's page says instead of what was computed.

    Between two lines of ``---`` at the top stand ``key: value`` and lists of ``- item``; what comes
    after them is the paragraph, and below ``## Details`` what happened. What is not there stays as
    computed; unknown keys are let be.

    >>> apply_page(Card(session="s", kind="work"), "---\ntitle: Mine\n---\n").title
    'Mine'
    """
    lines = [line.rstrip("\r") for line in page.removeprefix("\ufeff").split("\n")]
    fences = [at for at, line in enumerate(lines) if line.rstrip() == _FENCE]
    has_head = len(fences) > 1 and fences[0] == 0
    said: dict[str, Any] = {}
    for key, value, items in _fields(lines[1 : fences[1]] if has_head else ()):
        if key in _WORDS:
            said[key] = value
        elif key in _LISTS:
            said[key] = tuple(items or [item.strip() for item in value.split(",") if item.strip()])
        elif key == "tools":
            said[key] = {}
            for item in items:
                name, _, count = item.rpartition(":")
                known = _COUNT.fullmatch(count.strip())
                said[key] |= {name.strip(): int(known[0])} if name and known else {item: 1}
    body = lines[fences[1] + 1 :] if has_head else lines
    at = next((at for at, line in enumerate(body) if line.rstrip() == _DETAILS), len(body))
    for key, rows in (("paragraph", body[:at]), ("detailed", body[at + 1 :])):
        if text := "\n".join(rows).strip():
            said[key] = text
    return replace(card, **said, edited=True)


def _fields(head: Iterable[str]) -> list[tuple[str, str, list[str]]]:
    """Return each key with its value and the items of its list."""
    found: list[tuple[str, str, list[str]]] = []
    for line in head:
        key = _KEY.match(line)
        if key:
            found.append((key[1], key[2].strip(), []))
        elif found and line.lstrip().startswith("- "):
            found[-1][2].append(line.lstrip()[2:].strip())
    return found


def one_line(text: str) -> str:
    """Return a text in one line."""
    return " ".join(text.split())


_KIND: Final = "card"
_TAKING_BACK: Final = frozenset({"exclude", "include", "redact"})
_TEXTS: Final = ("title", "one_liner", "paragraph", "detailed")
_SAID_LISTS: Final = ("decisions", "tags")


class ModelCard(NamedTuple):
    """What a model said of a session.

    Attributes:
        ts: When.
        model: Which.
        marks: How many times lines had been taken back, or brought back, until then.
        title: What to call it, or ``""``.
        one_liner: What it was about, in one line.
        paragraph: The same in some more.
        decisions: What was decided.
        tags: A few words under which it is looked for.
        detailed: What happened, in some paragraphs.
    """

    ts: str
    model: str
    marks: int = 0
    title: str = ""
    one_liner: str = ""
    paragraph: str = ""
    decisions: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    detailed: str = ""


def write_filled(said: ModelCard) -> bytes:
    """Return the line of ``said``."""
    return json.dumps({"kind": _KIND, **said._asdict()}).encode() + b"\n"


def read_filled(data: bytes) -> ModelCard | None:
    r"""Return the newest card of a model in a log, or ``None``.

    >>> read_filled(b'torn\n' + write_filled(ModelCard("2026", "m", title="Mending CI"))).title
    'Mending CI'
    """
    return next(filter(None, map(_read, reversed(data.split(b"\n")))), None)


def without_filled(data: bytes) -> bytes:
    """Return a log without the cards of models."""
    return b"\n".join(line for line in data.split(b"\n") if _read(line) is None)


def taken_back(episodes: Iterable[Episode]) -> int:
    """Return how many times lines of a session were taken back, or brought back."""
    return sum(each.event in _TAKING_BACK for each in episodes)


def filled_in(card: Card, said: ModelCard, episodes: Sequence[Episode]) -> Card:
    """Return a computed card with what a model said; a title that was given stays."""
    kept: dict[str, Any] = {
        name: getattr(said, name) for name in (*_TEXTS, "tags") if getattr(said, name)
    }
    if given_title(episodes):
        kept.pop("title", None)
    return replace(card, **kept, decisions=said.decisions, filled_by=said.model)


def _read(line: bytes) -> ModelCard | None:
    value = record_of(line, _KIND)
    if value is None:
        return None
    said = {name: value.get(name, "") for name in ("ts", "model", *_TEXTS)}
    marks, lists = value.get("marks", 0), [value.get(name, []) for name in _SAID_LISTS]
    texts_fit = all(isinstance(text, str) for text in said.values())
    if not (texts_fit and isinstance(marks, int) and all(isinstance(x, list) for x in lists)):
        return None
    decisions, tags = (tuple(each for each in x if isinstance(each, str)) for x in lists)
    return ModelCard(**said, marks=marks, decisions=decisions, tags=tags)


class CardFiles:
    """The pages of one scope."""

    def __init__(self, root: Path, disk: Disk) -> None:
        """Read the pages in the scope's folder ``root``; none needs to be there."""
        self.folder = root / FOLDER
        self._disk = disk

    def path(self, session: str) -> Path:
        """Return the file of a session's page."""
        return self.folder / f"{session}.card.md"

    def filled_path(self, session: str) -> Path:
        """Return the file of what models said of a session."""
        return self.folder / f"{session}.jsonl"

    def card(self, transcript: Transcript) -> Card:
        """Return the card of a session as a model filled it in and a person corrected it.

        A page that is older than a redaction may hold what was redacted: it is left out until the
        person has saved it again, and the card is *stale*.
        """
        path, episodes = self.path(transcript.id), transcript.episodes
        found, data = self._disk.find(path), self._disk.load(path)
        redacted = max((each.ts for each in episodes if each.event == "redact"), default="")
        stale = found is not None and stamp_of(found.st_mtime_ns) < redacted
        card = compute(transcript.id, episodes)
        said = self.filled(transcript)
        if said is not None:
            card = filled_in(card, said, episodes)
        if data is None or stale:
            return replace(card, stale=stale)
        return apply_page(card, data.decode("utf-8", "replace"))

    def filled(self, transcript: Transcript) -> ModelCard | None:
        """Return what a model said of a session, unless lines were taken back since."""
        data = self._disk.load(self.filled_path(transcript.id))
        said = read_filled(data) if data else None
        is_so = said is not None and said.marks == taken_back(transcript.episodes)
        return said if is_so else None

    def fill(
        self,
        transcript: Transcript,
        said: ModelCard,
        lock: FolderLock,
        read: Callable[[str], Transcript],
    ) -> bool:
        """Keep what a model said of a session; ``False`` if lines were taken back meanwhile.

        Args:
            transcript: The session as the model was shown it.
            said: What it said.
            lock: That of the writers of transcripts.
            read: Reads a session as it is now.

        Raises:
            SessionNotFoundError: If the session was purged meanwhile.
            LockTimeoutError: If somebody else held the lock for too long.
            OSError: If it could not be written.
        """

        def line() -> list[bytes]:
            # Under the lock that a redaction holds, too: it removes what was said before it.
            marks = taken_back(read(transcript.id).episodes)
            is_so = marks == taken_back(transcript.episodes)
            return [write_filled(said._replace(marks=marks))] if is_so else []

        log = GistLog(self.folder.parent, self._disk, lock)
        return bool(log.append(transcript.id, None, line))

    def unfill(self, session: str, seqs: Collection[int]) -> None:
        """Remove the filled card of a session and summaries of these lines; with the lock held.

        Earlier notes go as well: what they quote is not known.
        """
        path = self.filled_path(session)
        data = self._disk.load(path)
        if data is None:
            return
        left = without_versions(without_filled(without_gists_of(data, seqs)))
        if left.strip():
            self._disk.save(path, left, durable=True, replace=True)
        else:
            self._disk.unlink(path)
        self._disk.sync_folder(self.folder)

    def create(self, session: str, page: str) -> bool:
        """Write the first page of a session; ``False`` if there is one already."""
        self._disk.make_plain_folder(self.folder, durable=True)
        data = page.encode("utf-8", "replace")
        made = self._disk.save(self.path(session), data, durable=True)
        self._disk.sync_folder(self.folder)
        return made
