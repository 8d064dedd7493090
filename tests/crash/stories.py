"""Sequences of two or three operations on a scope, made up by dice.

Promises: whatever there is to do to a scope comes up, in one process and in several, one of which
may be killed, with a person who edits in between, on file systems that can exchange names and on
those that cannot.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import partial
from typing import Final

from engramdown.engram import Engram
from engramdown.hippocampus.changeset import Revision
from engramdown.hippocampus.store import Hippocampus
from tests.crash.mounted import Mount
from tests.crash.recordings import Act, Recorder, memory_files
from tests.crash.volume import Image

_TOPICS: Final = ("", "", "ci", "new")


def story(mount: Mount, image: Image, dice: random.Random) -> Recorder:
    """Record two or three operations on ``image``."""
    mount.exchanges, mount.links = dice.choice(
        ((True, True), (True, True), (False, True), (False, False))
    )
    recorder, known = Recorder(mount, image), acts(dice)
    for _ in range(dice.choice((2, 2, 3))):
        name = dice.choice(list(known))
        chance = dice.random()
        if chance < 0.15:
            recorder.kill(name, known[name], dice.randrange(1, 40))
        elif chance < 0.4:
            _edit(recorder, dice)
        else:
            recorder.act(name, known[name], anew=dice.random() < 0.5)
    return recorder


def acts(dice: random.Random) -> Mapping[str, Act]:
    """Return what can be done to any scope; what it is done to is chosen by dice."""
    return {
        "lesson": lambda store: store.encode_lesson(_words(dice), topic=dice.choice(_TOPICS)),
        "rule": lambda store: store.encode_rule(_words(dice), dice.choice(("always", "never"))),
        "facts": lambda store: store.rewrite_identity([f"Editor: {_words(dice)}", "Name: Bob"]),
        "batch": partial(_batch, dice),
        "start": lambda store: store.start(),
        "forget": lambda store: store.forget(dice.choice(store.entries()).id),
        "restore": lambda store: store.restore(dice.choice(store.archived()).entry.id),
        "update": lambda store: store.update(dice.choice(store.entries()).id, _words(dice)),
        "undo": lambda store: store.undo(),
        "compact": partial(_compact, dice),
        "notice": lambda store: store.notice(),
    }


def _words(dice: random.Random) -> str:
    return f"What was learned the {dice.randrange(30)}th time"


def _batch(dice: random.Random, store: Hippocampus) -> object:
    lessons = [Engram(_words(dice), "lesson", "project", topic=dice.choice(_TOPICS)) for _ in "ab"]
    return store.encode([*lessons, Engram(_words(dice), "when", "project")])


def _compact(dice: random.Random, store: Hippocampus) -> object:
    first, second = dice.sample(store.entries(), 2)
    merged = first._replace(text=_words(dice))
    return store.apply([Revision((first, second), "merged", comes=merged)])


def _edit(recorder: Recorder, dice: random.Random) -> None:
    files = sorted(memory_files(recorder.volume.image()))
    if files:
        path, data = dice.choice(files)
        text = _edited(data.decode(), dice)
        synced, renames = dice.random() < 0.5, dice.random() < 0.5
        recorder.edit(path, path, text, synced=synced, renames=renames)


def _edited(text: str, dice: random.Random) -> str:
    """Take a line out, reword one, add one: any of that."""
    lines = text.split("\n")
    entries = [at for at, line in enumerate(lines) if line.startswith("- ")]
    if entries and dice.random() < 0.5:
        at = dice.choice(entries)
        lines[at] = lines[at].replace(" <!--", " by hand <!--")
    if entries and dice.random() < 0.5:
        del lines[dice.choice(entries)]
    if dice.random() < 0.7 or lines == text.split("\n"):
        lines.insert(len(lines) - 1, f"- {_words(dice)}, by hand")
    return "\n".join(lines)
