"""Laws of what is read in texts: secrets, orders, statements, older layouts, settings, arguments.

Promises: any bytes may come in, as text with bytes that are no UTF-8 kept.
"""

from __future__ import annotations

import atexit
import json
import tempfile
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final, get_args

from engramdown.consolidation.corrections import MOST, extract
from engramdown.consolidation.sentences import LONGEST
from engramdown.cortex.cortex import Cortex
from engramdown.cortex.tools import use
from engramdown.engram import SCOPES, Engram, slug
from engramdown.errors import InvalidEngramError, SettingsError
from engramdown.gate.gate import kind_of
from engramdown.gate.injection import find_instruction
from engramdown.importers.migration import File, Layout, links, read, topics
from engramdown.language.characters import hidden_characters, visible
from engramdown.language.meaning import contradict
from engramdown.language.similarity import (
    differs_in_substance,
    is_rewording,
    similarity_of,
)
from engramdown.secrets.redaction import find_secrets, redact
from engramdown.settings import load
from tests import laws
from tests.fuzz.pages import fields, text_of

__all__ = ["arguments", "layouts", "likeness", "orders", "secrets", "settings", "statements"]

_CONTROLS: Final = frozenset(map(chr, (*range(9), *range(11, 32), *range(0x7F, 0xA0))))


def secrets(data: bytes) -> None:
    """What is hidden stays hidden, and is not looked at twice."""
    text = text_of(data)
    found = find_secrets(text)
    assert all(0 <= secret.start < secret.end <= len(text) for secret in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
    hidden = redact(text)
    assert find_secrets(hidden) == []
    assert redact(hidden) == hidden
    assert bool(found) == (hidden != text)


def orders(data: bytes) -> None:
    """What cannot be seen is shown, and no reason quotes what it is about."""
    text = text_of(data)
    reason = find_instruction(text)
    assert len(reason) < 80
    assert reason.isprintable()
    shown = visible(text)
    assert not hidden_characters(shown)
    assert _CONTROLS.isdisjoint(shown)
    assert visible(shown) == shown


def statements(data: bytes) -> None:
    """What is learned of a message is short, can be written, and comes in no other order."""
    text = text_of(data)
    found = extract(text)
    assert len(found) <= MOST
    assert all(0 < len(engram.text) <= LONGEST for engram in found)
    assert found == extract(text)
    assert extract(text, via="tool") == []
    kind_of(text)
    try:
        name = slug(text)
    except InvalidEngramError:
        return
    laws.slug_is_a_safe_name(name)


def layouts(data: bytes) -> None:
    """A file of another assistant gives memories and what was passed over, with their lines."""
    text = text_of(data)
    lines = text.count("\n") + 1
    for layout in get_args(Layout):
        file = File("notes/2026-02-27.md", text, layout, folder="api")
        for scope in SCOPES:
            found = read(file, scope)
            places = [each.line for each in found.memories] + [each.line for each in found.passed]
            assert all(1 <= line <= lines for line in places)
            assert all(each.reason for each in found.passed)
    links(text)
    topics(text)


def likeness(data: bytes) -> None:
    """Two texts are compared from either side with the same result; a text is like itself."""
    one, other = fields(data, 2)
    assert is_rewording(one, one)
    assert not contradict(one, one)
    assert is_rewording(one, other) == is_rewording(other, one)
    assert contradict(one, other) == contradict(other, one)
    assert bool(differs_in_substance(one, other)) == bool(differs_in_substance(other, one))
    assert similarity_of(one, other) == similarity_of(other, one)


def settings(data: bytes) -> None:
    """A configuration is read, or refused with the file that is wrong."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        home, project = Path(folder, "g"), Path(folder, "p")
        for place in (home, project):
            place.mkdir()
            (place / "config.toml").write_bytes(data)
            refusal = _refusal(home, project)
            if refusal:
                assert refusal.startswith(str(place))
                return


def _refusal(home: Path, project: Path) -> str:
    try:
        load(home, project)
    except SettingsError as error:
        return str(error)
    return ""


def arguments(data: bytes) -> None:
    """Whatever a model gives a tool, it gets an answer in characters that can be written."""
    text = text_of(data)
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        given = {"query": text}
    for arguments in (text, given):
        answer = use(_cortex(), "recall", arguments)
        assert answer.text
        answer.text.encode()


@cache
def _cortex() -> Cortex:
    """Return a cortex with a memory, for as long as the process runs."""
    folder = tempfile.TemporaryDirectory(prefix="fuzz-")
    atexit.register(folder.cleanup)
    cortex = Cortex.open(Path(folder.name, "p"), home=Path(folder.name, "g"), mode="autopilot")
    cortex.encode([Engram("Use uv, never pip: it's the boat", "always", "project")])
    return cortex
