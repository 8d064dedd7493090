"""What it costs to parse a memory file and to give it back.

The yardstick is ``str.splitlines`` of the same text. The last column is what a line costs, which
stays about the same from 2,000 to 200,000 lines if parsing is linear.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from benchmarks.measure import finish, ms, paired, table
from engramdown.markdown.document import parse

__all__ = ["main"]

RUNS: Final = 9
SIZES: Final = (2_000, 10_000, 200_000)
LINE: Final = (
    "- CoinGecko's free tier rate-limits at about {} requests a minute "
    "<!-- id:{:08d} topic:api confidence:high source:user ts:2026-02-27 -->\n"
)


def main() -> None:
    """Time parsing and rendering files of three sizes and print the table."""
    rows = [("parse and render", "ms", "splitlines ms", "ratio", "µs a line")]
    for size in SIZES:
        text = "# Lessons\n\n" + "".join(LINE.format(at, at) for at in range(size))
        base, subject, ratio = paired(text.splitlines, partial(_give_back, text), RUNS)
        each = f"{subject / size * 1e6:.2f}"
        rows.append((f"{size:,} lines", ms(subject), ms(base), f"{ratio:.1f}", each))
    finish("parse", f"{table(rows)}\n\nMedians of {RUNS} pairs.")


def _give_back(text: str) -> None:
    if parse(text).render() != text:
        msg = "the text did not come back"
        raise AssertionError(msg)


if __name__ == "__main__":
    main()
