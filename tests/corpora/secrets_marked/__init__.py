"""Secrets in seven languages, config files, headers and disguises, and harmless look-alikes.

Promises: no line was written with an eye on the patterns. ``tuned`` and ``seen`` are two halves of
one set, split by chance, that was written before anybody looked at the patterns again: they were
changed by the first, and then by the second, of which they had found 133 of 143, with 3 false
alarms. ``held_out`` was written after that, in other words, and first run when they stood: 90 of 97
were found, with no false alarm; four of the others led to a change. ``stranger`` was written by
somebody who had not seen the patterns; first run 117 of 130, 2 alarms of 130; the patterns were
changed because of it. (The line end behind a private key is not counted as part of it.) ``unseen``
was written by another stranger: at first 100 of 120 were found, 27 of the 45 told in prose and 73
of the other 75, with 3 alarms of 120; the patterns were changed by it later. ``everyday`` was
written on 24 November 2026 by somebody who had read neither the patterns nor the other sets, and
committed before it was run for the first time: 105 of 160 were found, 32 of the 84 told in prose
and 73 of the other 76, with 2 alarms of 160; then the patterns were changed by it. (A webhook's
address counts there as a whole, where only its end is hidden.) ``fresh`` was written by the same
hand when they stood, and nothing was changed because of it: 65 of 80 are found, 30 of the 42 told
in prose and 35 of the other 38, with no alarm in 80. All values are random or made up.

In a line ``⟦…⟧`` stands around what must be hidden, and ``¦`` inside of what a scanner of pushes
would take for a token. Both are taken out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

__all__ = ["Marked", "read"]


@dataclass(frozen=True, slots=True)
class Marked:
    """A text, and what is secret in it.

    Attributes:
        kind: What the text is: ``prose``, ``config``, ``digest`` …
        lang: The language of it.
        text: The text.
        secrets: Where the secrets stand; none in what is harmless.
    """

    kind: str
    lang: str
    text: str
    secrets: tuple[tuple[int, int], ...]

    def is_hidden_by(self, spans: Iterable[tuple[int, int]]) -> bool:
        """Say whether every character of every secret stands in one of ``spans``."""
        hidden = {at for start, end in spans for at in range(start, end)}
        return all(at in hidden for start, end in self.secrets for at in range(start, end))


def read(
    name: Literal["tuned", "seen", "held_out", "stranger", "unseen", "everyday", "fresh"],
) -> tuple[list[Marked], list[Marked]]:
    """Return the texts with secrets of one set, and the harmless ones."""
    file = Path(__file__).with_name(f"{name}.jsonl")
    texts = [
        _marked(json.loads(line)) for line in file.read_text(encoding="utf-8").split("\n")[:-1]
    ]
    return [text for text in texts if text.secrets], [text for text in texts if not text.secrets]


def _marked(line: dict[str, str]) -> Marked:
    parts = re.split("[⟦⟧]", line["text"].replace("¦", ""))
    edges = [sum(map(len, parts[:at])) for at in range(len(parts) + 1)]
    secrets = tuple(zip(edges[1:-1:2], edges[2::2], strict=True))
    return Marked(line["kind"], line["lang"], "".join(parts), secrets)
