"""Recall by meaning beside recall by words, if there is an embedder.

A question waits for the embedder no longer than its time-out. If anything goes wrong with it, the
words alone answer, exactly as without it, and a note says why. What was excluded is not sent to a
model, and secrets in what is sent are hidden. No text is embedded twice: its vector is in
``cache/vectors.sqlite`` by model and digest of the text, for any number of processes, until the
text is in no transcript any more; a file that we did not write is replaced. Vectors may have
any length, and only those of one length are compared; the order is the same with numpy and without.
"""

from __future__ import annotations

import contextlib
import importlib
import sqlite3
import time
from array import array
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing
from hashlib import sha256
from itertools import pairwise
from math import isfinite, sqrt
from operator import mul
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from engramdown.errors import EngramdownError, StoreError
from engramdown.forks import in_thread, unforked
from engramdown.language.snippets import snippet
from engramdown.models.embedders import Embedder, EmbeddingError, open_embedder
from engramdown.recall.episodes import Recall
from engramdown.recall.lines import SPEAKERS, Line, read_lines
from engramdown.recall.query import Hit, Hits, Mode, Wanted, nameless
from engramdown.secrets.redaction import redact
from engramdown.settings import EpisodeSettings
from engramdown.storage.disk import Disk
from engramdown.transcripts import changes
from engramdown.transcripts.episode import ROLES, Episode, read_line
from engramdown.transcripts.visibility import excluded

# What the first of a ranking is worth, and how slowly the next are worth less; docs/recall.md.
_BY_WORDS: Final = (1.0, 5)
_BY_MEANING: Final = (0.7, 15)
# Of a nearness; beyond them it depends on who adds up.
_DIGITS: Final = 5

_T = TypeVar("_T", bound=Hashable)


def packed(vector: Sequence[float]) -> bytes:
    """Return a vector of length 1 in the same direction, four bytes a number.

    Raises:
        ValueError: If it is empty, or a number is not finite.
    """
    numbers = [float(one) for one in vector]
    if not numbers or not all(map(isfinite, numbers)):
        raise ValueError("an embedding is empty, or has a value that is not a finite number")
    largest = max(map(abs, numbers)) or 1.0
    small = [one / largest for one in numbers]
    length = sqrt(sum(map(mul, small, small))) or 1.0
    return array("f", [one / length for one in small]).tobytes()


def nearness(question: bytes, vectors: Sequence[bytes]) -> list[float]:
    """Return how near each of ``vectors`` is to ``question``, from -1 to 1.

    Args:
        question: As :func:`packed` returned it.
        vectors: The same, of the same length.
    """
    try:
        # By name, since it is optional.
        numpy = importlib.import_module("numpy")
    except ImportError:
        asked = array("f", question)
        found = [sum(map(mul, asked, array("f", vector))) for vector in vectors]
    else:
        table = numpy.frombuffer(b"".join(vectors), dtype=numpy.float32)
        rows = table.reshape(len(vectors), -1).astype(numpy.float64)
        found = (rows @ numpy.frombuffer(question, dtype=numpy.float32)).tolist()
    return [round(one, _DIGITS) for one in found]


def fused(by_words: Sequence[_T], by_meaning: Sequence[_T]) -> dict[_T, float]:
    """Return the score of everything that is in a ranking: by its ranks alone.

    >>> scores = fused(["a", "b"], ["b", "c"])
    >>> sorted(scores, key=scores.__getitem__, reverse=True)
    ['b', 'a', 'c']
    """
    scores: dict[_T, float] = {}
    for ranking, (worth, slowly) in ((by_words, _BY_WORDS), (by_meaning, _BY_MEANING)):
        for rank, item in enumerate(ranking, 1):
            scores[item] = scores.get(item, 0.0) + worth / (slowly + rank)
    return scores


# Characters of a text that are embedded; models read no more than a page.
LONGEST: Final = 2_000


class Utterance(NamedTuple):
    """A line that somebody said.

    Attributes:
        session: The id of its session.
        seq: Its number there.
        ts: When, in microseconds since 1970.
        role: The place of its role among ``ROLES``.
        start: Where its line begins in the file.
        end: Where its line ends.
        digest: Of its text, as a model is shown it.
        hidden: Whether a person took it out of recall.
    """

    session: str
    seq: int
    ts: int
    role: int
    start: int
    end: int
    digest: bytes
    hidden: bool


class Spoken:
    """What was said in the transcripts of a folder."""

    def __init__(self, folder: Path, disk: Disk) -> None:
        """Read the transcripts in ``folder`` when they are asked for."""
        self._folder = folder
        self._disk = disk
        self._files: dict[str, tuple[changes.FileState, list[Utterance]]] = {}

    def all(self, tick: Callable[[], None]) -> list[Utterance]:
        """Return everything that was said.

        Args:
            tick: Called before each file; may raise to stop.

        Raises:
            OSError: If a transcript cannot be read.
            StoreError: If one is not a regular file.
        """
        files: dict[str, tuple[changes.FileState, list[Utterance]]] = {}
        for name in sorted(changes.listing(self._folder)):
            tick()
            seen, known = changes.file_state(self._folder, name), self._files.get(name)
            if known is not None and known[0] == seen:
                files[name] = known
            elif seen is not None:
                files[name] = (seen, list(self._read(name)))
        self._files = files
        return [each for _, found in files.values() for each in found]

    def episode(self, utterance: Utterance) -> Episode | None:
        """Return the line itself, or ``None`` if it is another one by now."""
        path = self._folder / f"{utterance.session}{changes.SUFFIX}"
        try:
            with self._disk.opened(path) as file:
                found = read_line(self._disk.read_at(file, utterance.start, utterance.end))
        except (OSError, StoreError):
            return None
        same = found is not None and digest_of(found.text) == utterance.digest
        return found if same else None

    def _read(self, name: str) -> Iterator[Utterance]:
        block = self._disk.load(self._folder / f"{name}{changes.SUFFIX}") or b""
        lines = list(read_lines(block))
        whole, seqs = excluded(line.event for line in lines if line.event is not None)
        last = Line(block.rfind(b"\n") + 1, 0, 0, 0, "", "")
        for line, after in pairwise([*lines, last]):
            if line.role in SPEAKERS and line.text.strip():
                hidden = whole or line.seq in seqs
                place = (line.seq, line.ts, line.role, line.start, after.start)
                yield Utterance(name, *place, digest_of(line.text), hidden)


def shown_to_model(text: str) -> str:
    """Return the beginning of a text that a model is shown, in valid UTF-8."""
    return text[:LONGEST].encode("utf-8", "replace").decode()


def digest_of(text: str) -> bytes:
    """Return the digest of a text, as a model is shown it."""
    return sha256(shown_to_model(text).encode()).digest()[:16]


FILE: Final = "vectors.sqlite"
OF_MEMORIES: Final = "memories.sqlite"
# Of summaries and of pages of the journal.
OF_PAGES: Final = "pages.sqlite"
_TABLES: Final = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
_PATIENCE: Final = 5.0
# How many vectors of questions are kept.
_QUESTIONS: Final = 1_000

_Answer = TypeVar("_Answer")


class Vectors:
    """The vectors of one scope: of its transcripts, or of its memories."""

    def __init__(self, cache: Path, disk: Disk, file: str = FILE) -> None:
        """Keep vectors in a file in the folder ``cache``; nothing is read yet."""
        self._path = cache / file
        self._disk = disk

    def question(self, model: str, digest: bytes) -> bytes | None:
        """Return the vector of a question, if there is one."""
        asked = "SELECT vector FROM questions WHERE model = ? AND digest = ?"
        found = self._ask(lambda file: file.execute(asked, (model, digest)).fetchone())
        return found[0] if found else None

    def keep_question(self, model: str, digest: bytes, vector: bytes) -> None:
        """Keep the vector of a question, and of no more than the last thousand."""
        keep = "INSERT OR REPLACE INTO questions(model, digest, vector) VALUES(?, ?, ?)"
        drop = "DELETE FROM questions WHERE number <= (SELECT max(number) FROM questions) - ?"
        self._change((keep, [(model, digest, vector)]), (drop, [(_QUESTIONS,)]))

    def drop_questions(self, model: str) -> None:
        """Remove the vectors of all questions of a model."""
        self._change(("DELETE FROM questions WHERE model = ?", [(model,)]))

    def each(self, take: Callable[[Iterator[tuple[str, bytes, bytes]]], _Answer]) -> _Answer:
        """Return what ``take`` makes of all vectors: model, digest, vector."""
        asked = "SELECT model, digest, vector FROM vectors"
        return self._ask(lambda file: take(iter(file.execute(asked))))

    def keep(self, model: str, vectors: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep vectors, given with the digests of their texts."""
        rows = [(model, *each) for each in vectors]
        self._change(("INSERT OR REPLACE INTO vectors VALUES(?, ?, ?)", rows))

    def keep_only(self, digests: Collection[bytes]) -> None:
        """Remove all questions, and the vectors of every model whose digest is another."""
        gone = self.each(lambda rows: {digest for _, digest, _ in rows}.difference(digests))
        drop = "DELETE FROM vectors WHERE digest = ?"
        self._change((drop, [(each,) for each in gone]), ("DELETE FROM questions", [()]))

    def drop(self, stale: Iterable[tuple[str, bytes]]) -> None:
        """Remove vectors, given by model and digest."""
        if rows := list(stale):
            self._change(("DELETE FROM vectors WHERE model = ? AND digest = ?", rows))

    def remove(self) -> None:
        """Remove the file; it may be gone."""
        for name in (self._path.name, f"{self._path.name}-journal"):
            self._disk.unlink(self._path.with_name(name))

    def _change(self, *statements: tuple[str, Iterable[tuple[object, ...]]]) -> None:
        """Carry out statements, each with its rows, all of them or none."""

        def change(file: sqlite3.Connection) -> None:
            for statement, rows in statements:
                file.executemany(statement, rows)

        self._ask(change)

    def _ask(self, act: Callable[[sqlite3.Connection], _Answer]) -> _Answer:
        """Return what ``act`` does with the file, which is made if need be.

        Raises:
            EmbeddingError: If it cannot be read or written: without it every vector is paid again.
        """
        try:
            try:
                return self._with_file(act)
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError:
                # It is not ours, or damaged; what it held can be made again.
                self._disk.unlink(self._path)
                return self._with_file(act)
        except (OSError, sqlite3.Error) as error:
            raise EmbeddingError(f"{self._path}: {error}") from error

    def _with_file(self, act: Callable[[sqlite3.Connection], _Answer]) -> _Answer:
        self._disk.make_plain_folder(self._path.parent, durable=False)
        if self._path.is_symlink():
            # We make none; one that came with a project may lead anywhere.
            self._disk.unlink(self._path)
        if self._disk.find(self._path) is None:
            with contextlib.suppress(FileExistsError):
                # For the user alone, as the transcripts are.
                self._disk.close(self._disk.open(self._path, write=True, new=True))
        with unforked(), closing(sqlite3.connect(self._path, timeout=_PATIENCE)) as file, file:
            # What is deleted is overwritten, too.
            file.execute("PRAGMA secure_delete = ON")
            file.executescript(_TABLES)
            return act(file)


# How many hits each of the two rankings gives at least.
POOL: Final = 100
# Texts that are embedded at once.
_BATCH: Final = 64
# Vectors that are compared at once.
_BLOCK: Final = 2_048
_SHOWN: Final = 200


_Text = TypeVar("_Text")
# Returns the digests of all texts, and the texts that are asked, each behind its digest; it calls
# what it is given now and then, which raises when the time is up.
_Look = Callable[[Callable[[], None]], tuple[Collection[bytes], Sequence[tuple[bytes, _Text]]]]
_Reader = Callable[[Sequence[_Text]], Sequence[str]]


class Lane:
    """What finds texts by meaning: an embedder, and the vectors that it made so far."""

    def __init__(self, vectors: Vectors, embedder: Embedder | str, seconds: float) -> None:
        """Keep vectors in a file.

        Args:
            vectors: The file.
            embedder: What makes the vectors, or the setting that names it.
            seconds: How long a question may wait for them.
        """
        self._vectors = vectors
        self._embedder = embedder
        self._seconds = seconds
        self._working: Future[Any] | None = None
        self._until = 0.0
        self._left = 0

    def nearness(
        self, query: str, look: _Look[_Text], read: _Reader[_Text]
    ) -> tuple[Sequence[tuple[bytes, _Text]], dict[bytes, float]]:
        """Return the texts that are asked, and how near each is to ``query``, by its digest.

        It is done on a thread that can be left behind.

        Args:
            query: The question.
            look: Returns the digests of all texts there are, of which others lose their vectors,
                and the texts that are asked, those first that get a vector first. It is given
                what to call now and then; that raises when the time is up.
            read: Returns what such texts say.

        Raises:
            EmbeddingError: If it fails, or takes too long; a model cannot be interrupted.
        """
        if self._working is not None and not self._working.done():
            raise EmbeddingError("they are still busy with the previous question")
        self._until, self._left = time.monotonic() + self._seconds, 0
        working = in_thread(lambda: self._near(query, look, read))
        self._working = working
        try:
            return working.result(self._seconds)
        except TimeoutError:
            raise self._too_slow() from None
        except (OSError, EngramdownError) as error:
            raise EmbeddingError(str(error)) from error

    def _tick(self) -> None:
        """Stop when the time is up."""
        if time.monotonic() > self._until:
            raise self._too_slow()

    def _too_slow(self) -> EmbeddingError:
        left = f"; {self._left:,} texts have no vector yet" if self._left else ""
        return EmbeddingError(f"they take longer than {self._seconds:g} seconds{left}")

    # ---- on the thread ----

    def _near(
        self, query: str, look: _Look[_Text], read: _Reader[_Text]
    ) -> tuple[Sequence[tuple[bytes, _Text]], dict[bytes, float]]:
        if isinstance(self._embedder, str):
            self._embedder = open_embedder(self._embedder, self._seconds)
        embedder = self._embedder
        question = self._vectors.question(embedder.name, digest_of(query))
        if question is None:
            (question,) = _embed(embedder, [shown_to_model(query)])
            self._vectors.keep_question(embedder.name, digest_of(query), question)
        digests, asked = look(self._tick)
        scores = self._known(embedder.name, question, digests)
        return asked, scores | self._made(embedder, question, asked, scores, read)

    def _known(self, model: str, question: bytes, said: Collection[bytes]) -> dict[bytes, float]:
        """Return the scores of texts with a vector, by digest; drop vectors of unsaid texts."""
        scores: dict[bytes, float] = {}
        stale: list[tuple[str, bytes]] = []
        kept: list[tuple[bytes, bytes]] = []

        def take(rows: Iterator[tuple[str, bytes, bytes]]) -> None:
            for name, digest, vector in rows:
                if digest not in said:
                    stale.append((name, digest))
                elif name == model and len(vector) == len(question):
                    kept.append((digest, vector))
                    if len(kept) == _BLOCK:
                        self._tick()
                        scores.update(_scored(question, kept))
                        kept.clear()

        self._vectors.each(take)
        scores.update(_scored(question, kept))
        self._vectors.drop(stale)
        return scores

    def _made(
        self,
        embedder: Embedder,
        question: bytes,
        asked: Iterable[tuple[bytes, _Text]],
        known: dict[bytes, float],
        read: _Reader[_Text],
    ) -> dict[bytes, float]:
        """Return the scores of the texts that had no vector, and keep their vectors."""
        missing = list({digest: text for digest, text in asked if digest not in known}.items())
        scores: dict[bytes, float] = {}
        for first in range(0, len(missing), _BATCH):
            self._left = len(missing) - first
            self._tick()
            batch = missing[first : first + _BATCH]
            texts = read([text for _, text in batch])
            made = _embed(embedder, [shown_to_model(text) for text in texts])
            pairs = [(digest, vector) for (digest, _), vector in zip(batch, made, strict=True)]
            self._vectors.keep(embedder.name, pairs)
            if len(made[0]) != len(question):
                # The next question is embedded anew, and then everything else of another length.
                self._vectors.drop_questions(embedder.name)
                raise EmbeddingError("the vectors of the model have another length than before")
            scores |= _scored(question, pairs)
        return scores


def reason_of(error: EmbeddingError) -> str:
    """Return the note about why embeddings were not used."""
    reason = " ".join(redact(str(error)).split())[:_SHOWN]
    return f"embeddings are off for this recall: {reason}"


class VectorRecall(Recall):
    """Recall by words and by meaning."""

    def __init__(
        self, folder: Path, cache: Path, disk: Disk, embedder: Embedder | str, seconds: float
    ) -> None:
        """Look in ``folder``, with an index and vectors in ``cache``.

        Args:
            folder: Where the transcripts are.
            cache: Where what can be made again is kept.
            disk: What transcripts are read with.
            embedder: What makes the vectors, or the setting that names it.
            seconds: How long a question may wait for them.
        """
        super().__init__(folder, cache, disk)
        self._spoken = Spoken(folder, disk)
        self._lane = Lane(Vectors(cache, disk), embedder, seconds)

    def __call__(self, query: str, limit: int, mode: Mode, wanted: Wanted) -> Hits:
        """Return at most ``limit`` hits, as :class:`Recall` does; ``exact`` is for words alone."""
        if mode == "exact" or limit <= 0 or not query.strip():
            return super().__call__(query, limit, mode, wanted)
        hits = super().__call__(query, max(limit, POOL), mode, wanted)
        try:
            # A speaker's name is in what others say to them, and hardly ever in their own words.
            asked = nameless(query, {hit.name for hit in hits if hit.role in ("user", "assistant")})
            near = [each for each, _ in self._near(asked, wanted)[:POOL]]
        except EmbeddingError as error:
            found = Hits(hits[:limit])
            found.notes = (reason_of(error),)
            return found
        by_words = {(hit.session, hit.seq): hit for hit in hits}
        by_meaning = {(each.session, each.seq): each for each in near}
        both = Hits()
        for place, score in fused(list(by_words), list(by_meaning)).items():
            hit = by_words.get(place) or self._hit(by_meaning[place])
            if hit is not None:
                both.append(hit._replace(score=score))
        # Each key in turn, as sorting is stable: by place, the newest first, the best first.
        both.sort(key=lambda hit: (hit.session, hit.seq))
        both.sort(key=lambda hit: hit.time, reverse=True)
        both.sort(key=lambda hit: hit.score, reverse=True)
        return Hits(both[:limit])

    def nearest(self, query: str, limit: int, wanted: Wanted) -> list[Hit]:
        """Return what is nearest to ``query`` by meaning alone; scores are from 0 to 1.

        Raises:
            EmbeddingError: If embeddings cannot be used for this question.
        """
        near = self._near(query, wanted)[:limit]
        found = [(self._hit(each), score) for each, score in near]
        return [hit._replace(score=max(score, 0.0)) for hit, score in found if hit is not None]

    def _hit(self, utterance: Utterance) -> Hit | None:
        episode = self._spoken.episode(utterance)
        if episode is None:
            return None
        said = (episode.seq, episode.ts, ROLES[utterance.role], episode.name, episode.text)
        return Hit(utterance.session, *said, snippet(episode.text, 0, 0), 0.0)

    def _near(self, query: str, wanted: Wanted) -> list[tuple[Utterance, float]]:
        """Return what was said and how near it is to ``query``, the nearest first."""

        def look(tick: Callable[[], None]) -> tuple[set[bytes], list[tuple[bytes, Utterance]]]:
            said = self._spoken.all(tick)
            asked = [
                each
                for each in said
                if not each.hidden and wanted.session in {"", each.session}
                if wanted.takes(each.role, each.ts)
            ]
            asked.sort(key=lambda each: -each.ts)
            return {each.digest for each in said}, [(each.digest, each) for each in asked]

        asked, scores = self._lane.nearness(query, look, self._texts)
        near = [each for _, each in asked]
        near.sort(key=lambda each: (-scores[each.digest], -each.ts, each.session, each.seq))
        return [(each, scores[each.digest]) for each in near]

    def _texts(self, batch: Sequence[Utterance]) -> list[str]:
        """Return what lines say.

        Raises:
            EmbeddingError: If one is another line by now.
        """
        episodes = [self._spoken.episode(each) for each in batch]
        if None in episodes:
            raise EmbeddingError("a transcript changed meanwhile")
        return [episode.text for episode in episodes if episode is not None]


class MemoryLane:
    """Finds the memories of one scope, or what else it has few of, by their meaning."""

    def __init__(
        self,
        root: Path,
        settings: EpisodeSettings,
        embedder: Embedder | None = None,
        file: str = OF_MEMORIES,
    ) -> None:
        """Keep vectors in the ``cache`` of the scope's folder ``root``.

        Args:
            root: The folder.
            settings: What names the embedder, and how long it may take.
            embedder: What makes the vectors instead of what is named.
            file: The name of the file with the vectors.
        """
        vectors = Vectors(root / changes.CACHE, Disk(durable=False), file)
        self._lane = Lane(vectors, embedder or settings.embedder, settings.embedder_timeout)

    def near(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return how near each of ``texts``, which are all that there are, is to ``query``.

        Raises:
            EmbeddingError: If embeddings cannot be used for this question.
        """
        told = [(digest_of(text), text) for text in texts]
        _, scores = self._lane.nearness(query, lambda _: ({*dict(told)}, told), lambda batch: batch)
        return [scores[digest] for digest, _ in told]


def forget_unsaid(folder: Path, cache: Path, disk: Disk) -> None:
    """Remove the vectors of texts that are in no transcript any more, and of all questions.

    A vector reveals much of its text. Where it is unknown which ones to remove, all go.
    """
    vectors = Vectors(cache, disk)
    try:
        said = {each.digest for each in Spoken(folder, disk).all(lambda: None)}
        vectors.keep_only(said)
    except (EmbeddingError, OSError, EngramdownError):
        vectors.remove()


def _embed(embedder: Embedder, texts: Sequence[str]) -> list[bytes]:
    """Return the vectors of ``texts``.

    Raises:
        EmbeddingError: If the embedder does not give one each.
    """
    try:
        made = [packed(vector) for vector in embedder.embed([redact(text) for text in texts])]
    except EmbeddingError:
        raise
    except Exception as error:  # code of others: whatever it raises is reported
        raise EmbeddingError(f"{type(error).__name__}: {error}") from error
    if len(made) != len(texts):
        raise EmbeddingError(f"the embedder gave {len(made)} vectors for {len(texts)} texts")
    if len(set(map(len, made))) != 1:
        raise EmbeddingError("the embedder gave vectors of different lengths")
    return made


def _scored(question: bytes, pairs: Sequence[tuple[bytes, bytes]]) -> dict[bytes, float]:
    if not pairs:
        return {}
    found = nearness(question, [vector for _, vector in pairs])
    return {digest: score for (digest, _), score in zip(pairs, found, strict=True)}
