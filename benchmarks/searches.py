"""Ways to search a store: ours, with any ingredient left out, and what there is besides.

Promises: every search gets the same texts and returns places in the store, the best first.
:func:`recalled` writes transcripts and asks for them as a user would; :func:`ours` gets the same
evidence from lists held in memory, so that an ingredient can be left out.
"""

from __future__ import annotations

import atexit
import importlib
import shutil
import sqlite3
import tempfile
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from benchmarks.conversations import ASSISTANT, Said, Store
from engramdown.episodes.memory import EpisodicMemory
from engramdown.language.terms import Term, stem, stems, words
from engramdown.language.words import STOP_WORDS
from engramdown.models.embedders import Embedder, EmbeddingError
from engramdown.recall.lines import CHUNK
from engramdown.recall.query import Query, read_query
from engramdown.recall.ranking import (
    BESIDE,
    MOST,
    REREAD,
    STEPS,
    WEIGHTS,
    Evidence,
    Mark,
    Ranked,
    Weights,
    rank,
    reread,
    worths,
)
from engramdown.settings import EpisodeSettings
from engramdown.transcripts.episode import Episode, Role, stamp, write_line

__all__ = ["DEPTH", "PATIENCE", "SEARCHES", "Recipe", "Search", "ours", "recalled"]

Search = Callable[[str], Sequence[int]]

# How many episodes a search returns.
DEPTH: Final = 50
# Seconds for the vectors of a store: quality is measured, not time.
PATIENCE: Final = 86_400.0
SESSION: Final = 24
ABOVE_ALL: Final = 1e6
THEN: Final = 96


@dataclass(frozen=True)
class Recipe:
    """Ours, or ours without something.

    Attributes:
        weights: What counts how much.
        stemmed: Whether forms of a word are one.
        irregular: Whether *went* is a form of *go*.
        light: Whether words of asking count less.
        named: Whether the names of speakers are taken out of the question.
        beside: How many candidates bring their neighbours along.
        there: Whether sessions come first in which somebody speaks who is named.
        then: Whether lines of a time that is named are candidates without a word of the question.
        again: How many texts are read again.
    """

    weights: Weights = WEIGHTS
    stemmed: bool = True
    irregular: bool = True
    light: bool = True
    named: bool = True
    beside: int = BESIDE
    there: bool = True
    then: bool = True
    again: int = REREAD


def ours(store: Store, recipe: Recipe | None = None) -> Search:
    """Return our search of ``store``."""
    return _Ours(store, recipe or Recipe())


class _Ours:
    def __init__(self, store: Store, recipe: Recipe) -> None:
        self._people = store.people
        self._recipe = recipe
        self._texts: dict[int, str] = {}
        self._marks: dict[int, Mark] = {}
        self._holders: dict[str, dict[int, None]] = {}
        self._places: dict[int, int] = {}
        self._chunks: dict[str, set[int]] = {}
        place = 0
        for number, (_, session) in enumerate(groupby(store.said, key=lambda one: one.session)):
            for seq, one in enumerate(session, 1):
                self._add(number << SESSION | seq, one, place)
                place += 1

    def __call__(self, question: str) -> list[int]:
        recipe = self._recipe
        query = self._query(question)
        forms = [term.stems if recipe.stemmed else term.words for term in query.terms]
        keys = [{key for form in any_ for key in self._holders.get(form, ())} for any_ in forms]
        evidence = Evidence(keys, [len(held) for held in keys], len(self._texts), self._marks)
        ranked = rank(query, evidence, self._candidates(query, evidence), recipe.weights)
        texts = {one.key: self._texts[one.key] for one in ranked[: recipe.again]}
        best: Sequence[Ranked] = reread(query, ranked, texts, recipe.weights)
        return [self._places[one.key] for one in best[:DEPTH]]

    def _add(self, key: int, one: Said, place: int) -> None:
        found = stems(one.text) if self._recipe.stemmed else words(one.text)
        for form in found:
            self._holders.setdefault(form, {})[key] = None
        own = one.speaker == "user"
        self._texts[key] = one.text
        self._marks[key] = Mark(one.at.timestamp(), one.speaker.lower(), own, len(found))
        self._places[key] = place
        self._chunks.setdefault(one.speaker.lower(), set()).add(key // CHUNK)

    def _query(self, question: str) -> Query:
        recipe = self._recipe
        query = read_query(question, self._people)
        if not recipe.named:
            query = query._replace(terms=read_query(question).terms)
        terms = query.terms if recipe.irregular else _regular(query.terms, question)
        if not recipe.light:
            terms = tuple(term._replace(weight=1.0) for term in terms)
        return query._replace(terms=terms)

    def _candidates(self, query: Query, evidence: Evidence) -> Iterable[int]:
        weight: dict[int, float] = {}
        worth = worths(query, evidence.holders, evidence.total, self._recipe.weights)
        for keys, one in zip(evidence.keys, worth, strict=True):
            for key in keys:
                weight[key] = weight.get(key, 0.0) + one
        if self._recipe.there:
            there = set().union(*(self._chunks[name] for name in query.names))
            for key in weight:
                weight[key] += ABOVE_ALL * (key // CHUNK in there)
        order = sorted(weight, key=lambda key: (-weight[key], -self._marks[key].at, key))
        chosen = dict.fromkeys(order[:MOST])
        for key in order[: self._recipe.beside]:
            near = (key + step for step in STEPS)
            chosen.update(dict.fromkeys(one for one in near if one in self._texts))
        # By the index the times of chunks are known; here those of every line are.
        if self._recipe.then and query.dates:
            then = (key for key, mark in self._marks.items() if query.dates.is_then(mark.at))
            chosen.update(dict.fromkeys(nlargest(THEN, then)))
        return chosen


def _regular(terms: Iterable[Term], question: str) -> tuple[Term, ...]:
    asked = words(question)
    kept = (next(word for word in asked if stem(word) in term.stems) for term in terms)
    return tuple(Term((word,), (stem(word),)) for word in kept)


def recalled(store: Store, embedder: Embedder | None = None) -> Search:
    """What a user gets, with the lane of embeddings if there is an embedder.

    Raises:
        EmbeddingError: By the search, if the lane is off: words alone would be measured otherwise.
    """
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    places = _write(store, folder / "episodes")
    memory = EpisodicMemory(folder, EpisodeSettings(embedder_timeout=PATIENCE), embedder=embedder)
    atexit.register(memory.close)

    def search(question: str) -> list[int]:
        hits = memory.recall(question, limit=DEPTH)
        if hits.notes:
            raise EmbeddingError("; ".join(hits.notes))
        return [places[hit.session, hit.seq] for hit in hits]

    return search


def _write(store: Store, folder: Path) -> dict[tuple[str, int], int]:
    """Write transcripts; return the place of each line by its session and number."""
    folder.mkdir()
    (folder.parent / "cache").mkdir()
    places: dict[tuple[str, int], int] = {}
    place = 0
    sessions = groupby(store.said, key=lambda one: one.session)
    for number, (_, session) in enumerate(sessions):
        name = f"s{number:06}"
        said = list(session)
        start = Episode(seq=0, ts=stamp(said[0].at), id="0" * 16, role="event", event="start")
        lines = [write_line(start)]
        for seq, one in enumerate(said, 1):
            role: Role = "assistant" if one.speaker == "assistant" else "user"
            person = "" if one.speaker in ASSISTANT else one.speaker
            episode = Episode(
                seq=seq, ts=stamp(one.at), id=f"{place:016}", role=role, text=one.text, name=person
            )
            lines.append(write_line(episode))
            places[name, seq] = place
            place += 1
        (folder / f"{name}.jsonl").write_bytes(b"".join(lines))
    return places


def _whole_substring(store: Store) -> Search:
    """The question as it stands, newest first: what a simple tool does."""
    newest = _newest_first(store)
    return lambda question: [
        place for place, text in newest if question.strip(" ?.!").lower() in text
    ][:DEPTH]


def _any_substring(store: Store) -> Search:
    """Any of its words, newest first."""
    newest = _newest_first(store)

    def search(question: str) -> list[int]:
        asked = [word for word in words(question) if len(word) > 1]
        return [place for place, text in newest if any(word in text for word in asked)][:DEPTH]

    return search


def _newest_first(store: Store) -> list[tuple[int, str]]:
    texts = [(place, one.text.lower()) for place, one in enumerate(store.said)]
    return sorted(texts, key=lambda pair: (store.said[pair[0]].at, pair[0]), reverse=True)


def _full_text(store: Store) -> Search:
    """Any telling word, by the BM25 of SQLite's FTS5 with Porter's stemmer; speakers are words."""
    base = sqlite3.connect(":memory:")
    base.execute("CREATE VIRTUAL TABLE t USING fts5(text, tokenize='porter unicode61')")
    rows = ((place, f"{one.speaker}: {one.text}") for place, one in enumerate(store.said))
    base.executemany("INSERT INTO t(rowid, text) VALUES (?, ?)", rows)

    def search(question: str) -> list[int]:
        asked = words(question)
        telling = [word for word in asked if word not in STOP_WORDS] or asked
        match = " OR ".join(f'"{word}"' for word in telling)
        sql = "SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?"
        return [place for (place,) in base.execute(sql, (match, DEPTH))] if match else []

    weakref.finalize(search, base.close)
    return search


def _bm25s(store: Store) -> Search:
    """The package bm25s with its defaults and English stop words."""
    bm25s: Any = importlib.import_module("bm25s")
    index = bm25s.BM25()
    texts = [one.text for one in store.said]
    index.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)
    depth = min(DEPTH, len(texts))

    def search(question: str) -> list[int]:
        asked = bm25s.tokenize([question], stopwords="en", show_progress=False)
        places, scores = index.retrieve(asked, k=depth, show_progress=False)
        return [int(place) for place, score in zip(places[0], scores[0], strict=True) if score > 0]

    return search


def _tantivy(store: Store) -> Search:
    """The package tantivy with English stems."""
    tantivy: Any = importlib.import_module("tantivy")
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", tokenizer_name="en_stem")
    builder.add_integer_field("place", stored=True)
    index = tantivy.Index(builder.build())
    writer = index.writer()
    for place, one in enumerate(store.said):
        writer.add_document(tantivy.Document(text=one.text, place=place))
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def search(question: str) -> list[int]:
        query = index.parse_query(" ".join(words(question)), ["text"])
        return [
            searcher.doc(address)["place"][0] for _, address in searcher.search(query, DEPTH).hits
        ]

    return search


# By name; one whose package is not installed raises ImportError.
SEARCHES: Final[Mapping[str, Callable[[Store], Search]]] = {
    "whole question, substring": _whole_substring,
    "any word, substring": _any_substring,
    "FTS5 porter": _full_text,
    "bm25s": _bm25s,
    "tantivy": _tantivy,
    "engramdown": recalled,
}
