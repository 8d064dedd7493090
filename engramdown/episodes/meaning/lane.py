"""Recall by meaning beside recall by words: the optional embedding lane.

Promises: a question waits for it no longer than its time-out; whatever goes wrong with it, the
words alone answer, exactly as they do without it, and a note says why; no text is embedded twice.
What was excluded is not sent to a model, and secrets in what is sent are hidden.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Final

from engramdown.episodes.disk import EpisodeDisk
from engramdown.episodes.episode import ROLES
from engramdown.episodes.meaning.nearness import fused, nearness, packed
from engramdown.episodes.meaning.spoken import Spoken, Utterance, digest_of, shown_to_model
from engramdown.episodes.meaning.vectors import Vectors
from engramdown.episodes.recall import Context, Hit, Hits, Mode, Recall
from engramdown.episodes.search.surroundings import Limits
from engramdown.errors import EngramdownError
from engramdown.language.snippets import snippet
from engramdown.models.embedders import Embedder, LaneError, open_embedder
from engramdown.recall.filters import Wanted
from engramdown.recall.query import nameless
from engramdown.secrets.redaction import redact

__all__ = ["POOL", "Lane", "forget_unsaid"]

POOL: Final = 100
"""How many hits each of the two rankings gives at least."""
_BATCH: Final = 64
"""Texts that are embedded at once."""
_BLOCK: Final = 2_048
"""Vectors that are compared at once."""
_SHOWN: Final = 200
_SPEAKERS: Final = ("user", "assistant")


class Lane:
    """Recall by words and by meaning."""

    def __init__(
        self,
        words: Recall,
        cache: Path,
        disk: EpisodeDisk,
        embedder: Embedder | str,
        seconds: float,
    ) -> None:
        """Add meaning to the answers of ``words``.

        Args:
            words: Recall by words.
            cache: The folder for the vectors.
            disk: What transcripts are read with.
            embedder: What makes the vectors, or the setting that names it.
            seconds: How long a question may wait for them.
        """
        self._words = words
        self._embedder = embedder
        self._seconds = seconds
        self._spoken = Spoken(words.folder, disk)
        self._vectors = Vectors(cache, disk)
        self._working: threading.Thread | None = None
        self._until = 0.0
        self._left = 0

    def __call__(self, query: str, limit: int, mode: Mode, wanted: Wanted) -> Hits:
        """Return at most ``limit`` hits, as :class:`Recall` does; ``exact`` is for words alone."""
        if mode == "exact" or limit <= 0 or not query.strip():
            return self._words(query, limit, mode, wanted)
        hits = self._words(query, max(limit, POOL), mode, wanted)
        try:
            # A speaker's name draws what others say to them, and stands in nothing of their own.
            asked = nameless(query, {hit.name for hit in hits if hit.role in _SPEAKERS})
            near = self._in_time(lambda: self._near(asked, wanted))
        except LaneError as error:
            found = Hits(hits[:limit])
            reason = " ".join(redact(str(error)).split())[:_SHOWN]
            found.notes = (f"embeddings are off for this recall: {reason}",)
            return found
        return Hits(self._fused(hits, near)[:limit])

    def around(self, hits: Sequence[Hit], limits: Limits) -> list[Context]:
        """Return what was said around each of ``hits``."""
        return self._words.around(hits, limits)

    def messages(self, limit: int, wanted: Wanted) -> list[Hit]:
        """Return what :meth:`Recall.messages` does: no words, no meaning."""
        return self._words.messages(limit, wanted)

    def sessions(self, wanted: Wanted) -> list[str]:
        """Return what :meth:`Recall.sessions` does."""
        return self._words.sessions(wanted)

    def keep_up(self) -> None:
        """Take what was said into the index of words; for what it means there is a question."""
        self._words.keep_up()

    def close(self) -> None:
        """Let go of the index."""
        self._words.close()

    # ---- two rankings ----

    def _fused(self, hits: Sequence[Hit], near: Sequence[Utterance]) -> list[Hit]:
        by_words = {(hit.session, hit.seq): hit for hit in hits}
        by_meaning = {(each.session, each.seq): each for each in near}
        scores = fused(list(by_words), list(by_meaning))
        found = []
        for place, score in scores.items():
            hit = by_words.get(place) or self._hit(by_meaning[place])
            if hit is not None:
                found.append(hit._replace(score=score))
        # Each key in turn, as sorting is stable: by place, the newest first, the best first.
        found.sort(key=lambda hit: (hit.session, hit.seq))
        found.sort(key=lambda hit: hit.time, reverse=True)
        return sorted(found, key=lambda hit: -hit.score)

    def _hit(self, utterance: Utterance) -> Hit | None:
        episode = self._spoken.episode(utterance)
        if episode is None:
            return None
        said = (episode.seq, episode.ts, ROLES[utterance.role], episode.name, episode.text)
        return Hit(utterance.session, *said, snippet(episode.text, 0, 0), 0.0)

    # ---- in time ----

    def _in_time(self, job: Callable[[], list[Utterance]]) -> list[Utterance]:
        """Return what ``job`` returns, on a thread that can be left behind.

        Raises:
            LaneError: If it fails, or takes too long; a model cannot be interrupted.
        """
        if self._working is not None and self._working.is_alive():
            raise LaneError("they are still busy with the question before")
        self._until, self._left = time.monotonic() + self._seconds, 0
        done: Future[list[Utterance]] = Future()
        self._working = threading.Thread(target=_settle, args=(done, job), daemon=True)
        self._working.start()
        try:
            return done.result(self._seconds)
        except TimeoutError:
            raise self._too_slow() from None
        except (OSError, EngramdownError) as error:
            raise LaneError(str(error)) from error

    def _tick(self) -> None:
        """Stop when the time is up."""
        if time.monotonic() > self._until:
            raise self._too_slow()

    def _too_slow(self) -> LaneError:
        left = f"; {self._left:,} texts have no vector yet" if self._left else ""
        return LaneError(f"they take longer than {self._seconds:g} seconds{left}")

    # ---- on the thread ----

    def _near(self, query: str, wanted: Wanted) -> list[Utterance]:
        """Return what is nearest to ``query``, the nearest first."""
        if isinstance(self._embedder, str):
            self._embedder = open_embedder(self._embedder, self._seconds)
        question = self._question(self._embedder, query)
        said = self._spoken.all(self._tick)
        asked = [each for each in said if not each.hidden and _is_wanted(each, wanted)]
        scores = self._known(self._embedder.name, question, {each.digest for each in said})
        scores |= self._made(self._embedder, question, asked, scores)
        asked.sort(key=lambda each: (-scores[each.digest], -each.ts, each.session, each.seq))
        return asked[:POOL]

    def _question(self, embedder: Embedder, query: str) -> bytes:
        digest = digest_of(query)
        known = self._vectors.question(embedder.name, digest)
        if known is not None:
            return known
        (made,) = _embed(embedder, [shown_to_model(query)])
        self._vectors.keep_question(embedder.name, digest, made)
        return made

    def _known(self, model: str, question: bytes, said: set[bytes]) -> dict[bytes, float]:
        """Return how near what has its vector is, by digest, and let go of what nobody said."""
        scores: dict[bytes, float] = {}
        stale: list[tuple[str, bytes]] = []

        def take(rows: Iterator[tuple[str, bytes, bytes]]) -> None:
            kept: list[tuple[bytes, bytes]] = []
            for name, digest, vector in rows:
                if digest not in said:
                    stale.append((name, digest))
                elif name == model and len(vector) == len(question):
                    kept.append((digest, vector))
                    if len(kept) == _BLOCK:
                        self._tick()
                        scores.update(_scored(question, kept))
                        kept = []
            scores.update(_scored(question, kept))

        self._vectors.each(take)
        self._vectors.drop(stale)
        return scores

    def _made(
        self,
        embedder: Embedder,
        question: bytes,
        asked: Iterable[Utterance],
        known: dict[bytes, float],
    ) -> dict[bytes, float]:
        """Return how near what had no vector is; it has one now."""
        missing = {each.digest: each for each in asked if each.digest not in known}
        newest = sorted(missing.values(), key=lambda each: -each.ts)
        scores: dict[bytes, float] = {}
        for first in range(0, len(newest), _BATCH):
            self._left = len(newest) - first
            self._tick()
            texts = [(each.digest, self._text(each)) for each in newest[first : first + _BATCH]]
            made = _embed(embedder, [text for _, text in texts])
            pairs = [(digest, vector) for (digest, _), vector in zip(texts, made, strict=True)]
            self._vectors.keep(embedder.name, pairs)
            if len(made[0]) != len(question):
                # The next question is embedded anew, and then everything else of another length.
                self._vectors.drop_questions(embedder.name)
                raise LaneError("the vectors of the model have another length than before")
            scores |= _scored(question, pairs)
        return scores

    def _text(self, utterance: Utterance) -> str:
        episode = self._spoken.episode(utterance)
        if episode is None:
            raise LaneError("a transcript changed meanwhile")
        return shown_to_model(episode.text)


def forget_unsaid(folder: Path, cache: Path, disk: EpisodeDisk) -> None:
    """Let go of the vectors of what stands in no transcript any more, and of all questions.

    A vector tells much of its text. Where they cannot be told apart, all go.
    """
    vectors = Vectors(cache, disk)
    try:
        said = {each.digest for each in Spoken(folder, disk).all(lambda: None)}
        vectors.keep_only(said)
    except (LaneError, OSError, EngramdownError):
        vectors.remove()


def _settle(done: Future[list[Utterance]], job: Callable[[], list[Utterance]]) -> None:
    try:
        done.set_result(job())
    except BaseException as error:  # noqa: BLE001 - it is raised again by whoever waits
        done.set_exception(error)


def _embed(embedder: Embedder, texts: Sequence[str]) -> list[bytes]:
    """Return the vectors of ``texts``.

    Raises:
        LaneError: If the embedder does not give one each.
    """
    try:
        made = [packed(vector) for vector in embedder.embed([redact(text) for text in texts])]
    except LaneError:
        raise
    except Exception as error:  # code of others: whatever it raises is told
        raise LaneError(f"{type(error).__name__}: {error}") from error
    if len(made) != len(texts):
        raise LaneError(f"the embedder gave {len(made)} vectors for {len(texts)} texts")
    if len(set(map(len, made))) != 1:
        raise LaneError("the embedder gave vectors of different lengths")
    return made


def _scored(question: bytes, pairs: Sequence[tuple[bytes, bytes]]) -> dict[bytes, float]:
    if not pairs:
        return {}
    found = nearness(question, [vector for _, vector in pairs])
    return {digest: score for (digest, _), score in zip(pairs, found, strict=True)}


def _is_wanted(said: Utterance, wanted: Wanted) -> bool:
    in_session = not wanted.session or said.session == wanted.session
    return in_session and wanted.takes(said.role, said.ts)
