"""Inspects and tidies the transcripts of a scope.

Inspecting only reads and takes no lock. A finding quotes no transcript.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from engramdown.doctor.findings import Finding, find
from engramdown.engram import Scope
from engramdown.episodes.forget import Forgotten
from engramdown.episodes.memory import EpisodicMemory
from engramdown.episodes.recorder import find_trouble
from engramdown.errors import EngramdownError, SessionNotFoundError, StoreError
from engramdown.hippocampus import entry as placement
from engramdown.hippocampus.citations import Citations
from engramdown.hippocampus.snapshot import Reader
from engramdown.kinds import ARCHIVE
from engramdown.recall.lines import BROKEN, read_lines, usual
from engramdown.settings import EpisodeSettings
from engramdown.storage.disk import Disk
from engramdown.transcripts.changes import CACHE, FOLDER
from engramdown.transcripts.episode import Pointer, read_line
from engramdown.transcripts.payloads import PAYLOADS, TOOL_ROLES, Payloads
from engramdown.transcripts.sessions import SessionInfo, Sessions, left_open
from engramdown.transcripts.summary_log import FOLDER as GISTS
from engramdown.transcripts.visibility import REDACTED

_REFERS: Final = b'"payload"'
_LOOKED_AT: Final = 4 * 1024 * 1024
_DIGEST: Final = re.compile("[0-9a-f]{64}")


def count_transcripts(*roots: Path) -> dict[str, Any]:
    """Count what is recorded in the scopes at ``roots``: sessions, episodes and their bytes.

    ``degraded`` says why recording does not work, a sentence for each affected process.
    """
    found: list[SessionInfo] = []
    degraded: list[str] = []
    disk = Disk()
    for folder in (root / FOLDER for root in roots):
        try:
            found += Sessions(folder, disk).list()
            degraded += [str(trouble) for _, trouble in find_trouble(folder, disk)]
        except OSError as error:
            degraded.append(f"cannot be read: {error.strerror}")
    return {
        "sessions": len(found),
        "episodes": sum(info.lines for info in found),
        "episode_bytes": sum(info.size for info in found),
        "degraded": degraded,
    }


def inspect_transcripts(root: Path) -> list[Finding]:
    """Return the findings about the transcripts of the scope at ``root``."""
    folder, disk = root / FOLDER, Disk()
    sessions = Sessions(folder, disk)
    found = [
        find((f"../{name}", 0), "link", fixable=False, target=(root / name).readlink())
        for name in (FOLDER, f"{FOLDER}/{PAYLOADS}", GISTS, CACHE)
        if (root / name).is_symlink()
    ]
    try:
        for name, trouble in find_trouble(folder, disk):
            finding = find(_place(name), "degraded", fixable=trouble.ended, reason=str(trouble))
            found.append(finding)
        for name in disk.files(folder):
            if ".torn-" in name:
                size = (folder / name).stat().st_size
                found.append(find(_place(name), "torn-line", size=size))
        payloads = Payloads(folder / PAYLOADS, disk, durable=False)
        for session in sessions.ids():
            found += _inspect_session(sessions.path(session), disk, payloads)
        for info in left_open(sessions, disk):
            place = _place(sessions.path(info.id).name)
            found.append(find(place, "left-open", fixable=True, date=info.last[:10]))
    except OSError as error:
        found.append(find(_place("."), "cannot-read", reason=error.strerror))
    return found


def _inspect_session(path: Path, disk: Disk, payloads: Payloads) -> list[Finding]:
    name, _ = _place(path.name)
    numbers: dict[str, list[int]] = {"episode-line": [], "missing-text": []}
    number, line = 0, b""
    try:
        with os.fdopen(disk.open(path), "rb") as file:
            for number, line in enumerate(file, 1):
                if _REFERS not in line and line.isascii() and usual(line):
                    continue  # To read a line takes much longer.
                episode = next(read_lines(line), None)
                if episode is not None and episode.role == BROKEN:
                    numbers["episode-line"].append(number)
                elif episode is not None and not _has_whole(line, disk, payloads):
                    numbers["missing-text"].append(number)
        is_cut = line[-1:] not in (b"", b"\n") and not disk.is_kept(path)
    except FileNotFoundError:
        return []
    except (OSError, StoreError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return [find((name, 0), "cannot-read", reason=reason)]
    found = [
        find((name, lines[0]), code, count=len(lines)) for code, lines in numbers.items() if lines
    ]
    return found + [find((name, number), "unfinished-line", size=len(line))] * is_cut


def _has_whole(line: bytes, disk: Disk, payloads: Payloads) -> bool:
    """Whether the whole text of a cut line exists; only a digest can name one."""
    episode = read_line(line) if _REFERS in line else None
    name = episode.payload if episode is not None else ""
    if not name:
        return True
    return bool(_DIGEST.fullmatch(name)) and disk.find(payloads.path(name)) is not None


def _place(name: str) -> tuple[str, int]:
    return f"../{FOLDER}" if name == "." else f"../{FOLDER}/{name}", 0


# ---- what ``doctor --fix`` may tidy ----
#
# A session that was left open is ended with the time of its last line, and the note of a process
# about its trouble is removed after it was reported. In lines only those secrets are changed that
# the settings would hide today.


class Tidying(NamedTuple):
    """The tidying that is due in one scope.

    Attributes:
        root: The folder of the scope.
        open: The ids of the sessions to end.
        told: The files to remove, each with its text.
        telling: The ids of sessions with secrets, and the lines that hold them, each with its text
            without them.
    """

    root: Path
    open: tuple[str, ...] = ()
    told: tuple[tuple[Path, str], ...] = ()
    telling: tuple[tuple[str, tuple[tuple[int, str], ...]], ...] = ()

    def __bool__(self) -> bool:
        """Return whether anything is due."""
        return bool(self.open or self.told or self.telling)


def plan_tidying(root: Path, settings: EpisodeSettings) -> Tidying:
    """Return the tidying due in the scope at ``root``; none if nothing is recorded."""
    if not settings.enabled:
        return Tidying(root)
    folder, disk = root / FOLDER, Disk()
    left = tuple(info.id for info in left_open(Sessions(folder, disk), disk))
    troubles = [(folder / name, each) for name, each in find_trouble(folder, disk)]
    reported = tuple((path, str(trouble)) for path, trouble in troubles if trouble.ended)
    return Tidying(root, left, reported, tuple(telling_sessions(root, settings)))


def telling_sessions(
    root: Path, settings: EpisodeSettings, most: int | None = None
) -> Iterator[tuple[str, tuple[tuple[int, str], ...]]]:
    """Yield the sessions with secrets that the settings hide, newest first, and the lines.

    Args:
        root: The folder of the scope.
        settings: Its settings; if they hide nothing, nothing is yielded.
        most: How many bytes of transcripts to look at; ``None`` for all.

    Raises:
        OSError: If a transcript cannot be read.
    """
    if settings.redact == "off":
        return
    roles = None if settings.redact == "all" else TOOL_ROLES
    with closing(EpisodicMemory(root, settings)) as memory:
        forgetting = memory.forgetting()
        for info in sorted(memory.sessions(), key=lambda info: info.last, reverse=True):
            if most is not None:
                most -= info.size
                if most < 0:
                    return
            if lines := forgetting.lines_with_secrets(info.id, roles):
                yield info.id, lines


def telling_findings(root: Path, settings: EpisodeSettings) -> list[Finding]:
    """Return findings about secrets in the newest transcripts."""
    try:
        return [
            find(
                (f"../{FOLDER}/{session}.jsonl", lines[0][0] + 1),
                "transcript-secret",
                fixable=True,
                lines="1 line" if len(lines) == 1 else f"{len(lines)} lines",
            )
            for session, lines in telling_sessions(root, settings, _LOOKED_AT)
        ]
    except (OSError, EngramdownError):
        return []  # another finding names what cannot be read


def tidy(plans: Iterable[Tidying], settings: EpisodeSettings) -> None:
    """Carry out plans; what another process has done meanwhile is skipped.

    Raises:
        StoreError: If a session could not be ended.
        OSError: If a file could not be removed.
    """
    for plan in plans:
        with closing(EpisodicMemory(plan.root, settings)) as memory:
            failed = memory.close_orphans().failed if plan.open else {}
            for session, reason in failed.items():
                raise StoreError(f"{session} could not be ended: {reason}")
            for path, _ in plan.told:
                path.unlink(missing_ok=True)
            for session, lines in plan.telling:
                memory.forgetting().hide(session, [seq for seq, _ in lines])


# ---- memories, and the lines of transcripts that they were learned from ----
#
# Proposals and retired memories count as well, as they hold the same words. A memory is never
# changed because of its origin.

# A line of this length does not repeat by chance, and so many lines are enough to compare.
_LINE: Final = 24
_MOST_LINES: Final = 5_000


class Sourced(NamedTuple):
    """A memory that was learned from a line.

    Attributes:
        id: The id of the memory.
        scope: Its scope.
        file: Its file, relative to the memory folder.
        line: Its line there, from 1.
        origin: The line of the transcript.
    """

    id: str
    scope: Scope
    file: str
    line: int
    origin: Pointer


def journalled(root: Path, session: str) -> list[str]:
    """Return the sections of the journal that were written in a session, as names with lines.

    Raises:
        StoreError: If the journal cannot be read.
    """
    # Imported here: only redacting and purging need it.
    from engramdown.journal.journal import Journal

    return [
        f"{day.path.parent.name}/{day.path.name}:{section.line}"
        for day in reversed(Journal(root).days(None))
        for section in day.sections
        if section.session == session
    ]


def remaining(root: Path, session: str, said: Iterable[str]) -> list[str]:
    """Return the files, relative to ``root``, that still hold words of a redacted session.

    Args:
        root: The folder of a scope.
        session: The id of the session.
        said: The texts of its lines.

    Raises:
        StoreError: If one of them is not a file.
    """
    lines = {" ".join(line.split()) for text in said for line in text.split("\n")}
    wanted = [*sorted(line for line in lines if len(line) >= _LINE)[:_MOST_LINES], f"{session}#"]
    wanted += [json.dumps(line)[1:-1] for line in wanted]
    disk = Disk()
    names = ["history.jsonl"]
    for folder in ("working", "gists"):
        others = (name for name in disk.files(root / folder) if not name.startswith(f"{session}."))
        names += [f"{folder}/{name}" for name in others]
    found = []
    for name in names:
        text = " ".join((disk.load(root / name) or b"").decode("utf-8", "replace").split())
        if any(line in text for line in wanted):
            found.append(name)
    return found


def learned(root: Path, scope: Scope) -> Iterator[Sourced]:
    """Yield the memories of a scope that were learned from transcripts, in file order.

    Raises:
        StoreError: If a memory file cannot be read.
    """
    for entry in _entries(root, scope):
        # A merged memory has several origins.
        for origin in map(Pointer.parse, entry.origin.split(",")):
            if origin is not None:
                yield Sourced(entry.id, scope, entry.disk_file, entry.line, origin)


def _entries(root: Path, scope: Scope) -> Iterator[placement.Entry]:
    reader = Reader(root, Disk(durable=False))
    for name in reader.names():
        for placed in placement.raw_entries(name, reader.read(name).document):
            entry = placement.as_entry(name, scope, placed)
            yield entry._replace(spelled=reader.spelled(name))


def learned_from(
    root: Path, scope: Scope, session: str, seqs: Collection[int] = ()
) -> list[Sourced]:
    """Return the memories that were learned from some lines of a session, or from any of them."""
    return [
        each
        for each in learned(root, scope)
        if each.origin.session == session and (not seqs or each.origin.seq in seqs)
    ]


class Traces(NamedTuple):
    """What keeps words of lines that lose their content, or was learned from them.

    Attributes:
        learned: The memories of all scopes that were learned from them.
        journal: What an assistant wrote into the journals in the session.
        remains: Other files that keep words of them.
        problems: What could not be looked through, and why.
    """

    learned: list[Sourced]
    journal: list[str]
    remains: list[str]
    problems: list[str]


def find_traces(
    done: Forgotten, memory: EpisodicMemory, scopes: Iterable[tuple[Path, Scope]]
) -> Traces:
    """Return what is left elsewhere of lines that are redacted or purged; of others nothing is.

    What cannot be looked through is no reason to keep what is to go.

    Args:
        done: What is to be done; the lines must still be there.
        memory: The transcripts.
        scopes: The folders to look through.
    """
    traces, session = Traces([], [], [], []), done.session
    for root, scope in scopes if done.action in ("redact", "purge") else ():
        looks: Sequence[tuple[list[Any], Callable[[], Iterable[Any]]]] = (
            (traces.learned, partial(learned_from, root, scope, session, done.seqs)),
            (traces.journal, partial(journalled, root, session)),
            (traces.remains, partial(_files_with_words, root, scope, done, memory)),
        )
        for found, look in looks:
            try:
                found.extend(look())
            except (OSError, EngramdownError) as error:
                traces.problems.append(str(error))
    return traces


def _files_with_words(
    root: Path, scope: Scope, done: Forgotten, memory: EpisodicMemory
) -> list[str]:
    episodes = memory.session(done.session).episodes
    texts = [each.text for each in episodes if not done.seqs or each.seq in done.seqs]
    return [f"{scope} {name}" for name in remaining(root, done.session, texts)]


def inspect_origins(root: Path, scope: Scope) -> list[Finding]:
    """Return which memories of the scope at ``root`` were learned from lines that are gone.

    Sessions that are not here at all say nothing: they may be in another project or on another
    machine.
    """
    sessions = Sessions(root / FOLDER, Disk())
    here = frozenset(sessions.ids())
    found = []
    with suppress(OSError, StoreError):  # Another finding names the file.
        for each in learned(root, scope) if here else ():
            if each.origin.session not in here:
                continue
            with suppress(SessionNotFoundError):  # It was removed a moment ago.
                episode = sessions.episode(*each.origin)
                if episode is None or REDACTED in episode.more:
                    code = "source-gone" if episode is None else "source-redacted"
                    found.append(find((each.file, each.line), code, origin=each.origin))
    return found


def inspect_citations(root: Path) -> list[Finding]:
    """Return which memories of the project at ``root`` cite lines that changed, or are gone."""
    citations, found = Citations(root.parent), []
    with suppress(OSError, StoreError):  # Another finding names the file.
        for entry in _entries(root, "project"):
            for cited, state in citations.states(entry.cites) if entry.file != ARCHIVE else ():
                if state != "holds":
                    place, cites = (entry.disk_file, entry.line), cited.partition("@")[0]
                    found.append(find(place, f"cited-{state}", cites=cites))
    return found
