"""Transcripts of other programs to import, and a folder to import them into."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from engramdown.importers.importer import Importer, Report, sources
from engramdown.importers.inputs import find_inputs
from engramdown.settings import EpisodeSettings
from engramdown.storage.disk import Disk
from engramdown.transcripts.episode import Episode
from engramdown.transcripts.sessions import Sessions

__all__ = ["Shop", "claude_line", "write_lines"]


def claude_line(
    number: int, text: str, *, uuid: str = "", ts: object = None, **more: object
) -> dict[str, Any]:
    """Return a line of Claude Code."""
    return {
        "type": "user",
        "uuid": uuid or f"u{number}",
        "sessionId": "s1",
        "isSidechain": False,
        "timestamp": ts or f"2026-02-27T10:{number // 60:02}:{number % 60:02}.123Z",
        "message": {"role": "user", "content": text},
        **more,
    }


def write_lines(path: Path, values: Iterable[Any], *, mode: str = "w") -> Path:
    """Write JSONL."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open(mode, encoding="utf-8", newline="\n") as file:
        file.writelines(json.dumps(value) + "\n" for value in values)
    return path


class Shop:
    """A folder of transcripts, and one of files to import."""

    def __init__(self, root: Path) -> None:
        """Keep both in ``root``."""
        self.folder = root / "episodes"
        self.inbox = root / "inbox"
        self.inbox.mkdir(parents=True)

    def bring(self, *paths: Path, source: str = "", dry: bool = False, **settings: Any) -> Report:  # noqa: ANN401 - settings
        """Import files, by default everything in the inbox."""
        importer = Importer(self.folder, EpisodeSettings(**settings), dry=dry)
        chosen = sources()[source] if source else None
        return importer.run(find_inputs(paths or [self.inbox]), chosen)

    def files(self) -> dict[str, bytes]:
        """Return everything that is there, but for locks."""
        return {
            path.relative_to(self.folder).as_posix(): path.read_bytes()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and path.name != ".lock"
        }

    def sessions(self) -> dict[str, tuple[Episode, ...]]:
        """Return the episodes of every session."""
        found = Sessions(self.folder, Disk())
        return {name: found.read(name).episodes for name in found.ids()}

    def texts(self) -> list[list[str]]:
        """Return what was said in every session."""
        return [
            [episode.text for episode in episodes if episode.role != "event"]
            for episodes in self.sessions().values()
        ]
