"""What memory costs in tokens, counted by a real tokenizer beside our estimate.

The tokenizer is o200k_base, that of OpenAI's newer models, as the npm package ``gpt-tokenizer``
ships it: the vocabulary comes with the package, so nothing is fetched when it counts. Install it
anywhere (``npm install gpt-tokenizer``) and name that folder::

    NODE_PATH=<folder>/node_modules python -m benchmarks.tokens

Other models cut text otherwise; take a difference of ten per cent for usual.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from benchmarks.chat import _made
from benchmarks.hooks import SUBJECTS, _hook, _make_project
from benchmarks.measure import finish, table
from engramdown import Cortex
from engramdown.cortex.tools import MEMORY_TOOLS, TOOLS
from engramdown.tokens import estimate_tokens

__all__ = ["main"]

COUNT: Final = """
const { encode } = require("gpt-tokenizer/encoding/o200k_base");
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(texts.map((text) => encode(text).length)));
"""
GROUPS: Final[dict[str, list[str]]] = {
    **{f"`{name}`": [name] for name in MEMORY_TOOLS},
    "`grep`, `describe`, `expand`": ["grep", "describe", "expand"],
    "`write_journal`, `search_journals`, `write_notes`": [
        *("write_journal", "search_journals", "write_notes"),
    ],
}
HOOKS: Final = ("session start", "prompt, three memories to add")


def main() -> None:
    """Count and print."""
    with tempfile.TemporaryDirectory() as folder:
        texts = _texts(Path(folder))
    counts = _counted([piece for pieces in texts.values() for piece in pieces])
    rows = [("what", "o200k_base", "our estimate")]
    for name, pieces in texts.items():
        real, counts = sum(counts[: len(pieces)]), counts[len(pieces) :]
        rows.append((name, f"{real:,}", f"{sum(map(estimate_tokens, pieces)):,}"))
    finish("tokens", table(rows))


def _texts(folder: Path) -> dict[str, list[str]]:
    """Return what a model is given, by what it is called."""
    cortex = Cortex.open(folder / "project", home=folder / "home")
    found = {name: _definitions(cortex, "plain", names) for name, names in GROUPS.items()}
    for style in ("plain", "openai", "anthropic", "mcp"):
        found[f"the six, as {style}"] = _definitions(cortex, style, [*MEMORY_TOOLS])
        found[f"all twelve, as {style}"] = _definitions(cortex, style, [*TOOLS])
    project = _make_project(folder / "hooks")
    for name in HOOKS:
        found[f"hook: {name}"] = [_hook(*SUBJECTS[name], project)().decode()]
    chat = _made(folder / "chat")
    found["chat: memory's part of the instructions"] = [str(chat.build_memory_context())]
    return found


def _definitions(cortex: Cortex, style: Any, names: list[str]) -> list[str]:  # noqa: ANN401 - of json
    told = cortex.tool_definitions(style, names)
    return [json.dumps(each, ensure_ascii=False) for each in told]


def _counted(texts: list[str]) -> list[int]:
    try:
        done = subprocess.run(
            ["node", "-e", COUNT],  # noqa: S607 - found on PATH as a person's shell would
            input=json.dumps(texts),
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        sys.exit("node with gpt-tokenizer is missing: see the top of benchmarks/tokens.py")
    counts: list[int] = json.loads(done.stdout)
    return counts


if __name__ == "__main__":
    main()
