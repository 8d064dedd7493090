"""The lines that an import writes, made of what a reader found.

Promises: the same conversation gives the same lines with the same ids, whenever and on whatever
machine it is read; a text is redacted and cut as the settings say for what is recorded here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from engramdown.episodes.episode import VERSION, Episode, encode, stamp
from engramdown.episodes.ids import episode_id
from engramdown.episodes.payloads import digest
from engramdown.episodes.showing import hidden, shown
from engramdown.importers.records import Kept, Said
from engramdown.importers.records import digest as digest_of
from engramdown.settings import EpisodeSettings

__all__ = ["Encoder", "NewLine"]

_BITS: Final = 30
_FIELDS: Final = tuple(name for name in Episode._fields if name not in ("seq", "more"))
_MS_PER_SECOND: Final = 1_000
_US_PER_MS: Final = 1_000


class NewLine(NamedTuple):
    """A line to be appended.

    Attributes:
        id: The id of the episode.
        at: Its time.
        line: What :func:`engramdown.episodes.episode.encode` returned.
        mark: What two lines share only if one of them is superfluous.
        event: Which event it is, or ``""``.
        payload: The digest of its whole text and the text, if that is to be kept.
    """

    id: str
    at: datetime
    line: bytes
    mark: str
    event: str = ""
    payload: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Encoder:
    """Makes lines as the settings say."""

    settings: EpisodeSettings

    def start(self, at: datetime, told: Mapping[str, str], meta: Mapping[str, Any]) -> NewLine:
        """Return the event that begins a session; ``told`` are its fields."""
        more = {"v": VERSION} | {key: value for key, value in told.items() if value}
        return _event("start", at, more, meta)

    def end(self, at: datetime, after: str) -> NewLine:
        """Return the event that ends a session behind the episode with the id ``after``."""
        return _event("end", at, {"reason": "import"}, {}, after)

    def said(self, said: Said, at: datetime) -> NewLine:
        """Return the line of something that was said at ``at``."""
        identity = digest_of(said.origin, said.role, said.name, said.call, said.text)
        text, length, payload = shown(said.role, said.text, self.settings)
        known: dict[str, Any] = {
            "ts": stamp(at),
            "id": _id(at, identity),
            "role": said.role,
            "text": text,
            "name": said.name,
            "call": said.call,
            "ms": said.ms,
            "error": said.error,
            "model": said.model,
            "turn": said.turn,
            "cut": length,
            "payload": payload and payload[0],
            "meta": said.meta,
        }
        return NewLine(known["id"], at, encode(known, {}), identity, payload=payload)

    def kept(self, kept: Kept) -> NewLine:
        """Return the line of an episode of ours as it was, but for secrets that are hidden here."""
        episode, whole = kept.episode, kept.whole
        if whole is not None and digest(whole) != episode.payload:
            # Kept under a name that is not its own, it would be taken for another text.
            whole = None
        payload = None if whole is None else (episode.payload, whole)
        text = episode.text if whole is None else whole
        if hidden(episode.role, text, self.settings) != text:
            text, length, payload = shown(episode.role, text, self.settings)
            name = payload[0] if payload else ""
            episode = episode._replace(text=text, cut=length or episode.cut, payload=name)
        told = {name: getattr(episode, name) for name in _FIELDS}
        line, mark = encode(told, episode.more), f"{episode.seq} {episode.id}"
        event = "event" if episode.role == "event" else ""
        return NewLine(episode.id, episode.at, line, mark, episode.event or event, payload)


def _event(
    event: str, at: datetime, more: Mapping[str, Any], meta: Mapping[str, Any], salt: str = ""
) -> NewLine:
    identity = digest_of(event, salt, str(more.get("session", "")))
    known = {
        "ts": stamp(at),
        "id": _id(at, identity),
        "role": "event",
        "text": "",
        "meta": meta,
        "event": event,
    }
    return NewLine(str(known["id"]), at, encode(known, more), identity, event)


def _id(at: datetime, identity: str) -> str:
    milliseconds = int(at.timestamp()) * _MS_PER_SECOND + at.microsecond // _US_PER_MS
    return episode_id(milliseconds, int(identity, 16) & ((1 << _BITS) - 1))
