"""Which lines a person took out of recall, and brought back. No I/O."""

from __future__ import annotations

from engramdown.episodes.episode import Episode

__all__ = ["marked"]

_LARGEST = 0xFFFFFFFF


def marked(event: Episode) -> tuple[bool | None, list[int] | None]:
    """Read an event.

    Returns:
        Whether it takes out (``True``), brings back (``False``) or neither (``None``); and the
        numbers of the lines it speaks of, ``None`` for the whole session.

    >>> marked(Episode(seq=9, ts="", id="", role="event", event="exclude", more={"of": [3, 4]}))
    (True, [3, 4])
    """
    if event.event not in ("exclude", "include"):
        return None, None
    of = event.more.get("of")
    if of is None:
        return event.event == "exclude", None
    seqs = [seq for seq in of if type(seq) is int] if isinstance(of, list) else []
    return event.event == "exclude", [seq for seq in seqs if 0 <= seq <= _LARGEST]
