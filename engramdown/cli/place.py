"""Where memory is, as the options of the program say. No option is parsed here."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Place(NamedTuple):
    """Where memory is, as the options of the program say.

    Attributes:
        project: The folder to look for a project in, or ``None`` for the working directory.
        home: The folder of the global scope, or ``None`` for the one of the environment.
        mode: The mode of the gate, or ``None`` for the one of the settings.
    """

    project: Path | None = None
    home: Path | None = None
    mode: str | None = None
