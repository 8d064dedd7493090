"""Conversations with questions and the episodes that answer them, to measure recall on.

The data is no part of the project: docs/recall.md says where it comes from and what form it has.
Each line of a file is a conversation; each becomes a store of its own, and :func:`pooled` makes one
large store of all.
"""

from __future__ import annotations

import ast
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

__all__ = ["ASSISTANT", "Question", "Said", "Store", "pooled", "read_stores"]

# Those who are roles and no names.
ASSISTANT: Final = frozenset({"user", "assistant"})
# Of conversations that nobody asks about; drawn for the speakers of the pooled store's noise.
NAMES: Final = (
    *("Ada", "Ben", "Cleo", "Dev", "Ella", "Finn", "Gus", "Hana", "Ivo", "Jude"),
    *("Kai", "Lena", "Milo", "Nora", "Omar", "Pia", "Quinn", "Rosa", "Sven", "Tara"),
)
CHANGED: Final = 0.5


class Said(NamedTuple):
    """One episode.

    Attributes:
        session: The name of its session.
        at: When it was said.
        speaker: A person's name, or the role in a conversation with an assistant.
        text: What was said, with the caption of a picture in brackets.
    """

    session: str
    at: datetime
    speaker: str
    text: str


class Question(NamedTuple):
    """A question and the places of the episodes that answer it."""

    text: str
    category: str
    answers: frozenset[int]


@dataclass(frozen=True)
class Store:
    """A conversation, or several.

    Attributes:
        name: What it is called.
        said: Its episodes, session by session, each in order.
        questions: What is asked of it.
        people: The names of its speakers.
    """

    name: str
    said: Sequence[Said]
    questions: Sequence[Question]
    people: Sequence[str] = field(default=())


def read_stores(path: Path) -> list[Store]:
    """Read a file of conversations, one a line."""
    with path.open(encoding="utf-8") as lines:
        return [_store(json.loads(line)) for line in lines]


def pooled(stores: Sequence[Store], size: int, seed: int = 7) -> Store:
    """Return one store of ``size`` episodes: all of ``stores``, and noise in their image.

    The noise is sessions of theirs in which half of the words are exchanged for words drawn from
    all of them, spoken by people with other names on another day.
    """
    said: list[Said] = []
    questions: list[Question] = []
    for store in stores:
        start = len(said)
        said += [one._replace(session=f"{store.name}-{one.session}") for one in store.said]
        questions += [
            asked._replace(answers=frozenset(start + place for place in asked.answers))
            for asked in store.questions
        ]
    noise = _noise(said, random.Random(seed))
    said += [next(noise) for _ in range(size - len(said))]
    people = dict.fromkeys(name for store in stores for name in store.people)
    return Store(f"pooled {size:,}", said, questions, [*people, *NAMES])


def _noise(said: Sequence[Said], dice: random.Random) -> Iterator[Said]:
    words = [word for one in said for word in one.text.split()]
    sessions: dict[str, list[Said]] = {}
    for one in said:
        sessions.setdefault(one.session, []).append(one)
    for number in range(10**9):
        session = dice.choice(list(sessions.values()))
        shift = timedelta(days=dice.randrange(-200, 200))
        others = dict(
            zip(sorted({one.speaker for one in session}), dice.sample(NAMES, 2), strict=False)
        )
        for one in session:
            text = " ".join(
                dice.choice(words) if dice.random() < CHANGED else word for word in one.text.split()
            )
            speaker = one.speaker if one.speaker in ASSISTANT else others[one.speaker]
            yield Said(f"noise-{number}", one.at + shift, speaker, text)


def _store(raw: Mapping[str, Any]) -> Store:
    places = {episode["id"]: place for place, episode in enumerate(raw["episodes"])}
    questions = []
    for asked in raw["questions"]:
        evidence = asked["evidence"]
        ids = ast.literal_eval(evidence) if isinstance(evidence, str) else evidence
        answers = frozenset(places[name] for name in ids if name in places)
        if answers:
            questions.append(Question(asked["text"], asked["category"], answers))
    people = [name for name in raw["speakers"] if name not in ASSISTANT]
    return Store(raw["memory"], [_said(episode) for episode in raw["episodes"]], questions, people)


def _said(raw: Mapping[str, Any]) -> Said:
    caption = f" [{raw['caption']}]" if raw["caption"] else ""
    at = datetime.fromisoformat(raw["when"]).replace(tzinfo=UTC)
    return Said(str(raw["session"]), at, raw["speaker"], raw["text"] + caption)
