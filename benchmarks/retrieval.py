"""How well recall finds the episodes that answer a question.

    python -m benchmarks.retrieval [--data ../shared/data] [--embedder NAME] [--save]

With an embedder, such as ``fastembed:sentence-transformers/all-MiniLM-L6-v2``, recall is measured
with the lane of embeddings, too. A store is one conversation; the pooled store holds all of them
among noise. docs/recall.md says where the data comes from; without it this says so and measures
nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import log2
from pathlib import Path
from statistics import fmean
from typing import Final, NamedTuple

from benchmarks.conversations import Question, Store, pooled, read_stores
from benchmarks.measure import finish, table
from benchmarks.searches import PATIENCE, SEARCHES, Recipe, Search, ours, recalled
from engramdown.models.embedders import open_embedder
from engramdown.recall.ranking import WEIGHTS

__all__ = ["Score", "main", "score"]

DATA: Final = Path("../shared/data")
FILES: Final = {"LoCoMo": "locomo_tuning_half.jsonl", "BEAM-100K": "beam100k_tuning_half.jsonl"}
ADVERSARIAL: Final = "adversarial"
POOL: Final = 50_000
TOP: Final = 10


class Score(NamedTuple):
    """How good an answer is; the mean of many is one too.

    Attributes:
        recall5: The share of the evidence among the first 5; the next three likewise.
        recall10: ... 10.
        recall20: ... 20.
        recall50: ... 50.
        hit10: Whether any of it is among the first 10.
        mrr: One divided by the rank of the first.
        ndcg10: What the ranks of all are worth, discounted by their logarithm.
    """

    recall5: float
    recall10: float
    recall20: float
    recall50: float
    hit10: float
    mrr: float
    ndcg10: float


HEAD: Final = ("R@5", "R@10", "R@20", "R@50", "hit@10", "MRR", "nDCG@10")


def score(found: Sequence[int], answers: frozenset[int]) -> Score:
    """Judge one answer.

    >>> score([3, 1, 2], frozenset({1, 9})).recall5, score([3, 1, 2], frozenset({1, 9})).mrr
    (0.5, 0.5)
    """
    ranks = [rank for rank, place in enumerate(found, 1) if place in answers]
    top = [rank for rank in ranks if rank <= TOP]
    ideal = sum(1 / log2(1 + rank) for rank in range(1, min(TOP, len(answers)) + 1))
    recall = {depth: sum(rank <= depth for rank in ranks) / len(answers) for depth in (5, 20, 50)}
    return Score(
        recall5=recall[5],
        recall10=len(top) / len(answers),
        recall20=recall[20],
        recall50=recall[50],
        hit10=float(bool(top)),
        mrr=1 / ranks[0] if ranks else 0.0,
        ndcg10=sum(1 / log2(1 + rank) for rank in top) / ideal,
    )


_ABLATIONS: Final[Mapping[str, Recipe]] = {
    "everything": Recipe(),
    "no stems": Recipe(stemmed=False, irregular=False),
    "no irregular forms": Recipe(irregular=False),
    "words of asking and telling count in full": Recipe(light=False),
    "speakers' names stay in the question": Recipe(named=False),
    "no help from neighbours": Recipe(WEIGHTS._replace(near=()), beside=0),
    "turns without a word of the question left out": Recipe(beside=0),
    "who speaks where not looked at": Recipe(there=False),
    "what was said at a time not proposed": Recipe(then=False),
    "no help from the session": Recipe(WEIGHTS._replace(session=0.0)),
    "a small store's rare words count in full": Recipe(WEIGHTS._replace(small=0)),
    "long turns count in full": Recipe(WEIGHTS._replace(long=1e9)),
    "long turns helped in full": Recipe(WEIGHTS._replace(helped=1e9)),
    "speaker asked about": Recipe(WEIGHTS._replace(about=0.0)),
    "a person's own words": Recipe(WEIGHTS._replace(own=0.0)),
    "month and year": Recipe(WEIGHTS._replace(dated=0.0)),
    "day": Recipe(WEIGHTS._replace(day=0.0)),
    "texts not read again": Recipe(again=0),
    "time for *when*": Recipe(WEIGHTS._replace(time=0.0)),
    "number for *how many*": Recipe(WEIGHTS._replace(number=0.0)),
    "name for *who*": Recipe(WEIGHTS._replace(name=0.0)),
    "standing wish for advice": Recipe(WEIGHTS._replace(wish=0.0)),
    "who said it": Recipe(WEIGHTS._replace(reply=0.0)),
    "orders that stand": Recipe(WEIGHTS._replace(order=0.0)),
    "first person": Recipe(WEIGHTS._replace(first=0.0)),
    "what is told before what is asked": Recipe(WEIGHTS._replace(told=0.0)),
    "how a session opens": Recipe(WEIGHTS._replace(opens=0.0)),
    "kindred words": Recipe(WEIGHTS._replace(kin=0.0)),
    "answer after a question": Recipe(WEIGHTS._replace(answer=0.0)),
}


def main() -> None:
    """Measure every search on every store, then ours without one ingredient after another."""
    folder = _folder(sys.argv[1:])
    missing = [name for name in FILES.values() if not (folder / name).exists()]
    if missing:
        sys.exit(f"no {' and no '.join(missing)} in {folder}: docs/recall.md says where to get it")
    corpora = {name: read_stores(folder / file) for name, file in FILES.items()}
    sets = _sets(corpora)
    searches = {**SEARCHES, **_embedded(sys.argv[1:])}
    parts = [_comparison(sets, searches), _categories(corpora), _ablation(_thinned(sets))]
    finish("retrieval", "\n\n".join(parts))


def _folder(arguments: Sequence[str]) -> Path:
    if "--data" in arguments:
        return Path(arguments[arguments.index("--data") + 1])
    return DATA


def _embedded(arguments: Sequence[str]) -> dict[str, Callable[[Store], Search]]:
    """Return recall with the embedder that the command line names, if it names one."""
    if "--embedder" not in arguments:
        return {}
    name = arguments[arguments.index("--embedder") + 1]
    embedder = open_embedder(name, PATIENCE)
    return {f"engramdown, {name}": partial(recalled, embedder=embedder)}


def _sets(corpora: Mapping[str, Sequence[Store]]) -> dict[str, list[Store]]:
    """Return the stores by what is reported together."""
    told = [_only(store, lambda one: one != ADVERSARIAL) for store in corpora["LoCoMo"]]
    odd = [_only(store, lambda one: one == ADVERSARIAL) for store in corpora["LoCoMo"]]
    beam = list(corpora["BEAM-100K"])
    pool = pooled([*told, *(replace(store, questions=[]) for store in beam)], POOL)
    return {"LoCoMo": told, "adversarial": odd, "BEAM-100K": beam, pool.name: [pool]}


def _thinned(sets: Mapping[str, list[Store]]) -> dict[str, list[Store]]:
    """Leave three of four questions to the pooled store out, of which each takes its time."""
    *small, (name, pools) = sets.items()
    thinned = [replace(pool, questions=pool.questions[::4]) for pool in pools]
    return {**dict(small), f"{name}, every 4th": thinned}


def _only(store: Store, wanted: Callable[[str], bool]) -> Store:
    return replace(store, questions=[one for one in store.questions if wanted(one.category)])


def _judged(
    stores: Iterable[Store], build: Callable[[Store], Search]
) -> list[tuple[Question, Score]]:
    judged = []
    for store in stores:
        search = build(store)
        judged += [(one, score(search(one.text), one.answers)) for one in store.questions]
    return judged


def _mean(scores: Iterable[Score]) -> Score:
    return Score(*(fmean(column) for column in zip(*scores, strict=True)))


def _comparison(
    sets: Mapping[str, list[Store]], searches: Mapping[str, Callable[[Store], Search]]
) -> str:
    rows: list[tuple[str, ...]] = [("search", "store", *HEAD)]
    left_out = []
    for name, build in searches.items():
        try:
            for kind, stores in sets.items():
                mean = _mean(one for _, one in _judged(stores, build))
                rows.append((name, kind, *map(_shown, mean)))
        except ImportError:
            left_out.append(name)
    note = f"\n\nNot installed: {', '.join(left_out)}." if left_out else ""
    return table(rows) + note


def _categories(corpora: Mapping[str, Sequence[Store]]) -> str:
    rows: list[tuple[str, ...]] = [("category", "questions", *HEAD)]
    for corpus, stores in corpora.items():
        by_category: dict[str, list[Score]] = {}
        for asked, one in _judged(stores, recalled):
            by_category.setdefault(asked.category, []).append(one)
        for category, scores in sorted(by_category.items()):
            name = f"{corpus}: {category.replace('_', ' ')}"
            rows.append((name, str(len(scores)), *map(_shown, _mean(scores))))
    return table(rows)


def _ablation(sets: Mapping[str, list[Store]]) -> str:
    rows: list[tuple[str, ...]] = [("without, R@10 / MRR", *sets)]
    for name, recipe in _ABLATIONS.items():
        cells = []
        for stores in sets.values():
            mean = _mean(one for _, one in _judged(stores, partial(ours, recipe=recipe)))
            cells.append(f"{_shown(mean.recall10)} / {_shown(mean.mrr)}")
        rows.append((name, *cells))
    return table(rows)


def _shown(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


if __name__ == "__main__":
    main()
