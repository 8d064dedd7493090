"""Taking back what was recorded: out of sight, out of the file, or all of a session.

*Exclude* adds a line and changes none; *redact* empties lines and leaves everything else
of the file as it was, *hide* only hides the secrets in lines; *purge* leaves nothing of a session.
What a crash interrupts is finished by the next call, or was not begun. Writers to the session lose
no line meanwhile. What was made of the lines goes with them: payloads that no other
line has, the index, what sleep has in hand, summaries, earlier notes, and cards that were computed
or written by a model; a person's own card and the present notes are named, and left to them.

A redaction replaces the file by a copy. A writer that has the old one open sees under the lock that
it lost its name, and goes on in the new one.
"""

from __future__ import annotations

import hashlib
import json
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from engramdown.episodes.card import CardFiles
from engramdown.errors import EngramdownError, EpisodeNotFoundError
from engramdown.journal.working_notes import path_of, pieces
from engramdown.settings import LOCK_TIMEOUT
from engramdown.storage.disk import Disk
from engramdown.storage.locks import FolderLock
from engramdown.transcripts import episode as line_format
from engramdown.transcripts.changes import CACHE, FOLDER
from engramdown.transcripts.episode import Episode, Pointer, read_line
from engramdown.transcripts.payloads import PAYLOADS, Payloads, digest
from engramdown.transcripts.session_log import SessionLog
from engramdown.transcripts.sessions import Sessions
from engramdown.transcripts.summary_log import FOLDER as SUMMARIES
from engramdown.transcripts.visibility import REDACTED, excluded

# The file that says what was begun; it is there only in between.
UNFINISHED: Final = "forgetting.json"

# Returns the line of an event without its number.
EventLine = Callable[[str, Mapping[str, Any]], bytes]

# Seconds to wait for writers: a person has asked, and nobody's turn waits for this.
_DIGEST: Final = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class _Intent:
    """What is being done, as :data:`UNFINISHED` says it; it holds no content.

    Attributes:
        action: ``redact``, ``hide`` or ``purge``.
        session: The id of the session.
        seqs: The lines to redact, or to hide secrets in.
        payloads: The digests of the texts that may be left without a line.
        first: The digest of the first line: another session of the same id is not meant.
    """

    action: str
    session: str
    seqs: tuple[int, ...] = ()
    payloads: tuple[str, ...] = ()
    first: str = ""


def blank(episode: Episode) -> Episode:
    """Return an episode without what was said in it, but with the digest of that.

    >>> blank(Episode(seq=1, ts="", id="", role="user", text="hunter2")).more["redacted"]["sha256"]
    'f52fbd32b2b3b86ff88ef6c490628285f482af15ddcb29541f94bcf526a3f6c7'
    """
    more = dict(episode.more)
    title = more.pop("title", None)
    content = title if isinstance(title, str) else episode.text
    proof = {"sha256": episode.payload or digest(content)}
    return emptied(episode, {REDACTED: proof, **more})


def emptied(episode: Episode, more: Mapping[str, Any]) -> Episode:
    """Return an episode in which nothing is said, with ``more`` in the place of what it had."""
    error = bool(episode.error)
    return episode._replace(text="", cut=None, payload="", error=error, meta={}, more=more)


def hide_secrets(episode: Episode, payloads: Collection[str] = ()) -> Episode:
    """Return an episode with ``[redacted: <kind>]`` in the place of each secret in it.

    Args:
        episode: Any line.
        payloads: The digests of the whole texts that hold a secret; no line refers to them then.

    >>> hide_secrets(Episode(seq=1, ts="", id="", role="user", text="my pin is " + "4711")).text
    'my pin is [redacted: PIN]'
    """
    from engramdown.secrets.redaction import redact

    more = dict(episode.more)
    if isinstance(title := more.get("title"), str):
        more["title"] = redact(title)
    return episode._replace(
        text=redact(episode.text),
        payload="" if episode.payload in payloads else episode.payload,
        error=redact(episode.error) if isinstance(episode.error, str) else episode.error,
        more=more,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What was taken back, or would be.

    Attributes:
        action: ``exclude``, ``include``, ``redact``, ``hide`` or ``purge``.
        session: The id of the session.
        seqs: The lines; none for the whole session.
        changed: Whether there was anything to do.
        files: The files that are removed, or lose what they held.
        card: The person's own page about the session, which is not touched by a redaction.
        notes: What an agent noted on it, which is not either.
        quoted: Where a recall has shown these lines to a model, and they may stand again.
        running: Whether a program has the session open.
    """

    action: str
    session: str
    seqs: tuple[int, ...] = ()
    changed: bool = True
    files: tuple[Path, ...] = ()
    card: Path | None = None
    notes: Path | None = None
    quoted: tuple[Pointer, ...] = ()
    running: bool = False


class Forgetting:
    """Takes back what was recorded in one scope."""

    def __init__(self, episodes: Path, disk: Disk, lock: FolderLock, event: EventLine) -> None:
        """Work on the folder ``episodes`` and what was derived from it.

        Args:
            episodes: The folder of the transcripts, in that of the scope.
            disk: What it is written with.
            lock: That of its writers.
            event: Returns the line of an event without its number.
        """
        self._folder, self._disk, self._lock, self._event = episodes, disk, lock, event
        self._sessions = Sessions(episodes, disk)
        self._traces = Traces(episodes.parent, disk)
        self._unfinished = episodes / UNFINISHED

    def exclude(
        self, session: str, seqs: Iterable[int] = (), *, dry_run: bool = False
    ) -> Forgotten:
        """Keep a session, or lines of it, out of recall, cards and prompts; the file keeps them.

        Raises:
            SessionNotFoundError: If there is no such session.
            EpisodeNotFoundError: If it has no such line.
        """
        return self._mark("exclude", session, seqs, dry_run=dry_run)

    def include(
        self, session: str, seqs: Iterable[int] = (), *, dry_run: bool = False
    ) -> Forgotten:
        """Take an :meth:`exclude` back; of the whole session, that of single lines as well."""
        return self._mark("include", session, seqs, dry_run=dry_run)

    def redact(self, session: str, seqs: Iterable[int], *, dry_run: bool = False) -> Forgotten:
        """Take the content out of lines; line 0 loses the title of the session.

        Raises:
            SessionNotFoundError: If there is no such session.
            EpisodeNotFoundError: If it has no such line.
            EngramdownError: If nothing was said in one of them.
        """
        wanted = self._wanted(session, seqs)
        lines = [each for each in wanted if REDACTED not in each.more]
        for each in lines:
            if each.role == "event" and not each.more.get("title"):
                raise EngramdownError(f"{session}#{each.seq}: is an event; nothing was said in it")
        intent = _Intent("redact", session, _numbers(lines), _payloads_of(lines))
        return self._carry_out(intent, wanted, lines, dry_run=dry_run)

    def hide(self, session: str, seqs: Iterable[int], *, dry_run: bool = False) -> Forgotten:
        """Put ``[redacted: <kind>]`` in the place of each secret in lines; the rest of them stays.

        A whole text that was kept beside a line goes if it holds a secret.

        Raises:
            SessionNotFoundError: If there is no such session.
            EpisodeNotFoundError: If it has no such line.
        """
        wanted = self._wanted(session, seqs)
        payloads = self._payloads_with_secrets(wanted)
        lines = [each for each in wanted if hide_secrets(each, payloads) != each]
        intent = _Intent("hide", session, _numbers(lines), payloads)
        return self._carry_out(intent, wanted, lines, dry_run=dry_run)

    def lines_with_secrets(
        self, session: str, roles: Collection[str] | None = None
    ) -> tuple[tuple[int, str], ...]:
        """Return the lines of a session that hold a secret, and their text without it.

        A line also counts whose whole text holds one, behind where the line is cut.

        Args:
            session: The id of the session.
            roles: Whose lines to look at; ``None`` for all of them.

        Raises:
            SessionNotFoundError: If there is no such session.
        """
        found = [each for each in self._read(session) if roles is None or each.role in roles]
        hidden = [hide_secrets(each, self._payloads_with_secrets([each])) for each in found]
        pairs = zip(found, hidden, strict=True)
        return tuple((after.seq, after.text) for before, after in pairs if after != before)

    def purge(self, session: str, *, dry_run: bool = False) -> Forgotten:
        """Remove a session and everything that belongs to it alone.

        Raises:
            SessionNotFoundError: If there is no such session.
        """
        episodes = self._read(session)
        payloads = tuple(sorted(self._traces.named(session)))
        intent = _Intent("purge", session, (), payloads, self._first(session))
        return self._carry_out(intent, (), episodes, dry_run=dry_run)

    def finish(self, timeout: float = LOCK_TIMEOUT) -> bool:
        """Finish what a crash interrupted; whether there was such a thing.

        Args:
            timeout: How long to wait for writers, in seconds.
        """
        if self._disk.find(self._unfinished) is None:
            return False
        with self._held(timeout):
            return True

    # ---- what it means ----

    def _mark(self, event: str, session: str, seqs: Iterable[int], *, dry_run: bool) -> Forgotten:
        self.finish()
        of = _numbers(self._wanted(session, seqs))
        whole, lines = excluded(self._read(session))
        if event == "include":
            there = not (lines.intersection(of) if of else whole or lines)
        else:
            there = lines.issuperset(of) if of else whole
        if not there and not dry_run:
            with closing(self._log(session)) as log:
                log.append([self._event(event, {"of": [*of]} if of else {})], bytes, LOCK_TIMEOUT)
        return Forgotten(action=event, session=session, seqs=of, changed=not there)

    def _carry_out(
        self,
        intent: _Intent,
        wanted: Iterable[Episode],
        lines: Collection[Episode],
        *,
        dry_run: bool,
    ) -> Forgotten:
        """Do what is intended, unless it is only asked what that would do.

        Args:
            intent: What is intended.
            wanted: The lines that were asked for.
            lines: Those of them that are not as they should be yet, or the session to purge.
            dry_run: Whether nothing is to be changed.
        """
        if not lines and intent.action != "purge":
            seqs = _numbers(wanted)
            return Forgotten(action=intent.action, session=intent.session, seqs=seqs, changed=False)
        preview = self._preview(intent, lines)
        if not dry_run:
            self.finish()
            with self._held():
                note = {name: getattr(intent, name) for name in _Intent.__slots__}
                data = json.dumps(note).encode() + b"\n"
                self._disk.save(self._unfinished, data, durable=True, replace=True)
                self._disk.sync_folder(self._folder)
                self._traces.drop_index()
                try:
                    self._apply(intent)
                except (OSError, EngramdownError):
                    if intent.action != "purge":
                        self._disk.unlink(self._unfinished)
                    raise
                self._clean(intent)
        return preview

    def _preview(self, intent: _Intent, lines: Collection[Episode]) -> Forgotten:
        """Return what carrying out ``intent``, which is about ``lines``, does."""
        session, traces = intent.session, self._traces
        path, seqs = self._sessions.path(session), {each.seq for each in lines}
        files = [path, *traces.in_hand(session)]
        if intent.action == "purge":
            files += [*traces.pieces(session), *traces.derived(session)]
        else:
            files += traces.pieces(session, {each.id for each in lines})
        for name in set(intent.payloads) - traces.referenced(session, seqs):
            files += traces.payload(name)
        pages = (traces.cards.path(session), path_of(self._folder.parent, session))
        is_left = [intent.action != "purge" and bool(self._disk.find(page)) for page in pages]
        return Forgotten(
            action=intent.action,
            session=session,
            seqs=intent.seqs,
            files=tuple(each for each in sorted(files) if self._disk.find(each) is not None),
            card=pages[0] if is_left[0] else None,
            notes=pages[1] if is_left[1] else None,
            quoted=tuple(traces.quoting(session, seqs)),
            running=self._disk.is_kept(path),
        )

    def _read(self, session: str) -> tuple[Episode, ...]:
        return self._sessions.read(line_format.check_session_id(session)).episodes

    def _wanted(self, session: str, seqs: Iterable[int]) -> list[Episode]:
        """Return the lines of these numbers, if all of them are there."""
        numbers = set(seqs)
        found = [each for each in self._read(session) if each.seq in numbers]
        missing = sorted(numbers - {each.seq for each in found})
        if missing:
            raise EpisodeNotFoundError(session, missing)
        return found

    def _payloads_with_secrets(self, lines: Iterable[Episode]) -> tuple[str, ...]:
        from engramdown.secrets.redaction import find_secrets

        names = tuple(filter(_DIGEST.fullmatch, _payloads_of(lines)))
        texts = {name: self._disk.load(self._traces.payloads.path(name)) or b"" for name in names}
        return tuple(name for name in names if find_secrets(texts[name].decode("utf-8", "replace")))

    def _first(self, session: str) -> str:
        """Return the digest of the first line of a session, ``""`` if there is none."""
        data = self._disk.load(self._sessions.path(session))
        return hashlib.sha256(data.partition(b"\n")[0]).hexdigest() if data else ""

    def _log(self, session: str) -> SessionLog:
        return SessionLog(self._sessions.path(session), self._disk, self._lock, durable=True)

    # ---- doing it, under the lock ----

    @contextmanager
    def _held(self, timeout: float = LOCK_TIMEOUT) -> Iterator[None]:
        """Hold the lock, after what a crash left was finished."""
        with self._lock.hold(timeout):
            left = _intent(self._disk.load(self._unfinished))
            if left is not None:
                self._apply(left)
                self._traces.drop_index()
                self._clean(left)
            yield

    def _apply(self, intent: _Intent) -> None:
        """Remove the files of a session, or replace its file by one with other lines, once."""
        session, path = intent.session, self._sessions.path(intent.session)
        if intent.action == "purge":
            if self._first(session) == intent.first:
                # The transcript last: until then it says whose they are.
                for each in (*self._traces.pieces(session), *self._traces.derived(session), path):
                    self._disk.unlink(each)
        elif self._disk.find(path) is not None:
            change: Callable[[Episode], Episode] = blank
            key = "of"
            if intent.action == "hide":
                # A line that only lost its secrets is not out of recall: the event names it
                # elsewhere.
                change, key = partial(hide_secrets, payloads=intent.payloads), "hidden"
            seqs = set(intent.seqs)
            with closing(self._log(session)) as log:
                log.rewrite(
                    lambda line: _changed(line, seqs, change),
                    lambda changed: self._event("redact", {key: changed}),
                )

    def _clean(self, intent: _Intent) -> None:
        """Remove what was made of the lines beside the index, and then the note about it.

        From here on it is done: after an error the note stays, and the next call goes on.
        """
        session, traces = intent.session, self._traces
        self._disk.sync_folder(self._folder)
        gone = traces.unsaid({*intent.payloads, *digests(traces.left())})
        if intent.action != "purge":
            there = self._disk.find(self._sessions.path(session)) is not None
            episodes = self._read(session) if there else ()
            gone += traces.pieces(session, {e.id for e in episodes if e.seq in intent.seqs})
            traces.cards.unfill(session, intent.seqs)
        for path in (*gone, *traces.in_hand(session)):
            self._disk.unlink(path)
        traces.forget_unsaid()
        self._disk.unlink(self._unfinished)


def _changed(line: bytes, wanted: Collection[int], change: Callable[[Episode], Episode]) -> bytes:
    # To read a line takes twenty times as long, and all who write wait meanwhile.
    found = line_format.NUMBERED.match(line)
    sure = found and line.count(b'"seq"') == 1 and b"\\u" not in line
    if found and sure and int(found[1]) not in wanted:
        return line
    episode = read_line(line)
    if episode is None or episode.seq not in wanted or REDACTED in episode.more:
        return line
    return line_format.write_line(change(episode)).removesuffix(b"\n")


def _numbers(lines: Iterable[Episode]) -> tuple[int, ...]:
    return tuple(sorted({each.seq for each in lines}))


def _payloads_of(lines: Iterable[Episode]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.payload for each in lines if each.payload))


def _intent(data: bytes | None) -> _Intent | None:
    """Read the note about what was begun; ``None`` if it is not one of ours."""
    try:
        note: dict[str, Any] = json.loads(data or b"")
        intent = _Intent(
            **{**note, "seqs": tuple(note["seqs"]), "payloads": tuple(note["payloads"])}
        )
        good = line_format.is_session_id(intent.session)
        good = good and all(map(_DIGEST.fullmatch, intent.payloads))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return intent if good else None


# ---- what repeats the content of a line ----

# The file, in the folder of a scope, of what sleep has learned and not yet put into memory.
WORK: Final = "sleep-work.json"

_INDEX: Final = ("index.sqlite", "index.seal")
_VECTORS: Final = "vectors.sqlite"
# The vectors of summaries, which may be of such lines.
_PAGES: Final = "pages.sqlite"
_NOTE: Final = re.compile(r"([0-9a-f]{64})\.")
_NUMBER: Final = re.compile(r"[0-9]{1,12}\Z")
_PAYLOAD: Final = re.compile(rb'"payload"\s*:\s*"([0-9a-f]{64})"')


def in_hand(root: Path, disk: Disk) -> list[Path]:
    """Return the files of what sleep has in hand in the scope's folder, torn ones included."""
    return [root / name for name in disk.files(root) if name.startswith(WORK)]


def digests(left: Iterable[Path]) -> set[str]:
    """Return the digests of the texts that notes and parts are about."""
    return {found[1] for path in left if (found := _NOTE.match(path.name))}


def remove_leftovers(episodes: Path, disk: Disk, lock: FolderLock, timeout: float) -> None:
    """Remove what processes that died left half done: transcripts, texts, cards, work of sleep.

    Only an unfinished file of a process that is gone is removed, and only once it is old enough
    that no process of another machine can still be at it; a whole text goes with the note about it
    if no line refers to it. Who still wants to refer to that text looks once more under the lock.

    Args:
        episodes: The folder of the transcripts.
        disk: What they are written with.
        lock: That of their writers; it is taken only if a text was left.
        timeout: How long to wait for it, in seconds.
    """
    root = episodes.parent
    for folder in (root, root / SUMMARIES, episodes):
        disk.remove_unfinished(folder)
    traces = Traces(root, disk)
    left = traces.left(patiently=True)
    if left:
        with lock.hold(timeout):
            # The notes last: they say what to look for.
            for path in (*traces.unsaid(digests(left)), *left):
                disk.unlink(path)


class Traces:
    """What repeats the lines of a scope: other lines, whole texts, torn pieces, cards, the index.

    Attributes:
        cards: The cards of its sessions.
        payloads: The whole texts that lines show cut.
    """

    def __init__(self, root: Path, disk: Disk) -> None:
        """Look in the scope's folder ``root``."""
        self._root = root
        self._folder = root / FOLDER
        self._cache = root / CACHE
        self._disk = disk
        self._sessions = Sessions(self._folder, disk)
        self.payloads = Payloads(self._folder / PAYLOADS, disk, durable=True)
        self.cards = CardFiles(root, disk)

    # ---- lines, and whole texts ----

    def quoting(self, session: str, seqs: Collection[int]) -> Iterator[Pointer]:
        """Yield the lines in which a recall has shown some of ``seqs``."""
        wanted = sorted(seqs)
        sought = f'"{session}#'.encode()
        for other, data in self._files():
            for line in data.split(b"\n") if sought in data else ():
                episode = read_line(line) if sought in line else None
                recalled = episode.recalled if episode is not None else ()
                if episode and any(_quotes(each, session, wanted) for each in recalled):
                    yield Pointer(other, episode.seq)

    def referenced(self, session: str = "", without: Collection[int] = ()) -> set[str]:
        """Return the digests that lines refer to, but for the lines ``without`` of ``session``."""
        found: set[str] = set()
        for other, data in self._files():
            if other == session:
                episodes = filter(None, map(read_line, data.split(b"\n")))
                found.update(each.payload for each in episodes if each.seq not in without)
                continue
            # A torn last line is set aside and shows nothing.
            end = data.rfind(b"\n") + 1
            is_whole = end == len(data) or read_line(data[end:]) is not None
            found |= _named(data if is_whole else data[:end])
        return found

    def named(self, session: str) -> set[str]:
        """Return the digests that a session names anywhere, also in lines that cannot be read."""
        return _named(self._disk.load(self._sessions.path(session)) or b"")

    def _files(self) -> Iterator[tuple[str, bytes]]:
        for session in self._sessions.ids():
            yield session, self._disk.load(self._sessions.path(session)) or b""

    def payload(self, name: str) -> list[Path]:
        """Return the file of a whole text, and what was left of making it; none behind a link."""
        path = self.payloads.path(name)
        if self._is_elsewhere(path):
            return []
        return [path, *(each for each in self.left() if each.name.startswith(f"{name}."))]

    def unsaid(self, names: Collection[str]) -> list[Path]:
        """Return the files of those whole texts that no line refers to."""
        gone = set(names) - self.referenced() if names else set()
        return [path for name in sorted(gone) for path in self.payload(name)]

    def left(self, *, patiently: bool = False) -> list[Path]:
        """Return what was left of keeping whole texts: notes about some, and parts of some.

        Args:
            patiently: Whether a process that is not seen may still be there for a minute.
        """
        folder = self.payloads.folder
        found = [] if self._is_elsewhere(folder) else self._disk.unfinished(folder)
        return [each.path for each in found if each.old or (each.gone and not patiently)]

    def _is_elsewhere(self, path: Path) -> bool:
        """Whether a path leads through a link: what is there is somebody else's."""
        return any(each.is_symlink() for each in (path.parent, self.payloads.folder, self._folder))

    # ---- files of a session ----

    def pieces(self, session: str, ids: Collection[str] | None = None) -> list[Path]:
        """Return the torn lines and unfinished copies of a session; with ``ids`` those with one."""
        name = re.compile(re.escape(session) + r"\.(?:torn-[0-9]+(?:\..+\.part)?|jsonl\..+\.part)")
        found = [self._folder / n for n in self._disk.files(self._folder) if name.fullmatch(n)]
        if ids is None:
            return found
        marks = [json.dumps(each).encode() for each in ids]
        torn = ((path, self._disk.load(path) or b"") for path in found)
        return [path for path, data in torn if any(mark in data for mark in marks)]

    def derived(self, session: str) -> list[Path]:
        """Return the files beside the transcripts that are about one session."""
        notes = pieces(self._root, session, self._disk)
        return [self.cards.path(session), self.cards.filled_path(session), *notes]

    def in_hand(self, session: str) -> list[Path]:
        """Return the files in which sleep may have words of a session that it has learned from.

        Without them the next sleep learns again, from what is left of the session.
        """
        mark = session.encode()
        found = in_hand(self._root, self._disk)
        return [path for path in found if mark in (self._disk.load(path) or b"")]

    # ---- the index and vectors ----

    def drop_index(self) -> None:
        """Remove the index; the next question makes it anew."""
        for name in self._disk.files(self._cache):
            if name.startswith(_INDEX):
                self._disk.unlink(self._cache / name)

    def forget_unsaid(self) -> None:
        """Forget the vectors of texts that nobody has said, after these were taken out."""
        for name in self._disk.files(self._cache):
            if name.startswith(_PAGES):
                self._disk.unlink(self._cache / name)
        if self._disk.find(self._cache / _VECTORS) is not None:
            # Imported here: without embeddings nothing of them is needed.
            from engramdown.recall.vectors import forget_unsaid

            forget_unsaid(self._folder, self._cache, self._disk)


def _quotes(recalled: str, session: str, seqs: Sequence[int]) -> bool:
    """Whether what a recall brought is one of ``seqs``, which are sorted, or a run with one.

    >>> _quotes("a#3", "a", [3]), _quotes("a#3-9", "a", [1, 12]), _quotes("a#3-9", "a", [1, 9])
    (True, False, True)
    """
    other, _, numbers = recalled.rpartition("#")
    first, _, last = numbers.partition("-")
    if other != session or not _NUMBER.match(first) or not _NUMBER.match(last or first):
        return False
    at = bisect_left(seqs, int(first))
    return at < len(seqs) and seqs[at] <= int(last or first)


def _named(data: bytes) -> set[str]:
    return {name.decode() for name in _PAYLOAD.findall(data)}
