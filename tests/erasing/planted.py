"""A project in which a memory's words stand everywhere, and what looks for them.

Promises: every place is planted by the program itself where it can be, or written as the program
does; what is looked for is any half of a text, in any writing.
"""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final
from urllib.parse import quote, quote_plus

from engramdown import Cortex, Engram
from engramdown.hippocampus.history import digest
from engramdown.transcripts.summary_log import FOLDER as GISTS

__all__ = ["EARLIER", "OTHER", "SECRET", "everywhere", "left_in", "pieces"]

SECRET: Final = 'The vault in "Harbour 9" opens with 7731-KILO, às nove'
EARLIER: Final = "Vault code of last year: 1180-ZULU and a key"
OTHER: Final = "Run every benchmark twice before quoting figures"

_SHORT: Final = 24


def everywhere(project: Path) -> str:
    """Plant :data:`SECRET` and :data:`EARLIER` wherever words can stand; return the id."""
    cortex = Cortex.open(project=project)
    store = cortex.scopes.stores[-1]
    cortex.encode(Engram(OTHER, "lesson", "project", "high", "benchmarks", "user"))
    (receipt,) = cortex.encode(Engram(EARLIER, "lesson", "project", "high", "vault", "user"))
    assert receipt.id
    cortex.update(receipt.id, SECRET)
    cortex.forget(receipt.id, why=f"said twice: {SECRET}")
    cortex.restore(receipt.id)
    root = project / ".engramdown"
    (again,) = cortex.encode(Engram(SECRET, "always", "project", "high", source="user"))
    cortex.forget(again.id)
    by_hand = root / "memory" / "lessons.md"
    wrapped = SECRET.replace(" opens ", "\n  opens ")
    by_hand.write_text(by_hand.read_text("utf-8") + f"- {wrapped}\n- Mine alone\n", "utf-8")
    store.notice()
    cortex.propose(Engram(f"Delete: {SECRET}", "lesson", "project", "low", source="llm"))
    _said(cortex)
    _written(cortex, root)
    _left_behind(root)
    page = project / "AGENTS.md"
    page.write_text("# Ours\n\nNothing of it.\n", encoding="utf-8")
    from engramdown.integrations.agents_md import page as made
    from engramdown.markdown.marked_block import put_in

    page.write_bytes(put_in(page.read_bytes(), made(cortex, "project")))
    episodes = cortex.episodes
    assert episodes is not None
    episodes.recall("vault")
    episodes.close()
    return receipt.id


def _said(cortex: Cortex) -> None:
    episodes = cortex.episodes
    assert episodes is not None
    first = episodes.start_session("first", title=f"About {SECRET}")
    episodes.log(first, "user", f"Please note: {SECRET}. Thanks!")
    episodes.log(first, "assistant", "Noted, and nothing else.")
    episodes.log(first, "tool_result", json.dumps({"out": json.dumps({"said": SECRET})}), name="sh")
    episodes.log(first, "tool_result", "x " * 3000 + SECRET + " y" * 50, name="sh", call="c1")
    episodes.log(first, "user", SECRET.replace(" ", "\n> "))
    episodes.log(first, "tool_call", f"curl https://x.test/?q={quote(SECRET)}", name="sh")
    episodes.log(first, "user", "What we spoke of: 7731-KILO, às nove", meta={"q": SECRET})
    half = len(SECRET) // 2
    episodes.log(first, "user", f"It began like this: {SECRET[:half]}")
    episodes.log(
        first, "tool_result", json.dumps({"out": f"{SECRET[-half:]} and so on"}), name="sh"
    )
    episodes.log(first, "user", "A line about something else")
    episodes.end(first)
    second = episodes.start_session("second")
    episodes.log(second, "user", "Nothing of the kind was said here")
    episodes.log(second, "user", f"<p>{html.escape(SECRET)}</p>")
    episodes.close()


def _written(cortex: Cortex, root: Path) -> None:
    cortex.journal.write(f"Opened the safe today: {SECRET}. Went home at five.")
    notes = root / "working"
    notes.mkdir(exist_ok=True)
    (notes / "second.md").write_text(f"# Notes\n\n- {SECRET}\n- other notes\n", encoding="utf-8")
    gists = root / GISTS
    gists.mkdir(exist_ok=True)
    (gists / "second.card.md").write_text(f"---\ntitle: {SECRET}\n---\n", encoding="utf-8")
    lines = [
        {"kind": "gist", "id": "g1", "sources": [[1, 1]], "text": f"They said {SECRET}"},
        {"kind": "gist", "id": "g2", "sources": [[0, 0]], "text": "harmless"},
    ]
    (gists / "second.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines), "utf-8")
    (root / "sleep-work.json").write_text(json.dumps({"engrams": [SECRET]}), encoding="utf-8")
    (root / "ledger.jsonl").write_text(json.dumps({"error": SECRET}) + "\n", encoding="utf-8")
    skill = root / "skills-replaced" / "vault-1"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(f"---\nname: vault\n---\n\n{SECRET}\n", encoding="utf-8")
    for name, text in (("hooks/s1/1-2.json", json.dumps([{"said": SECRET}])), ("any.txt", SECRET)):
        path = root / "cache" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _left_behind(root: Path) -> None:
    """Leave what processes leave that die: torn lines, files on their way, displaced saves."""
    lessons = root / "memory" / "lessons.md"
    text = lessons.read_text("utf-8")
    name = f".lessons.md.{digest(text)}.{os.urandom(4).hex()}.tmp"
    (lessons.parent / name).write_text(text, encoding="utf-8")
    (root / "episodes" / "first.torn-1").write_text(f'{{"seq":9,"text":"{SECRET[:30]}', "utf-8")
    (root / "history.jsonl.part").write_text(json.dumps({"x": SECRET}), encoding="utf-8")
    (root / "working" / "second.other-0123abcd.md").write_text(f"{SECRET}\n", encoding="utf-8")


def pieces(text: str, size: int = 0) -> Iterator[str]:
    """Yield every ``size`` characters in a row of a text, on one line; without, every half."""
    plain = " ".join(text.split())
    size = size or (len(plain) // 2 if len(plain) >= _SHORT else len(plain))
    yield from (plain[at : at + size] for at in range(len(plain) - size + 1))


def left_in(folders: Iterable[Path], *texts: str, size: int = 0) -> list[str]:
    """Return where a half of ``texts`` (or ``size`` characters) stands, in whatever writing."""
    wanted = {
        form
        for text in texts
        for piece in pieces(text, size)
        for form in (
            piece,
            json.dumps(piece)[1:-1],
            json.dumps(piece, ensure_ascii=False)[1:-1],
            json.dumps(json.dumps(piece)[1:-1])[1:-1],
            quote(piece),
            quote_plus(piece),
            html.escape(piece),
        )
    }
    found = []
    for path in sorted(path for folder in folders for path in folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes().decode("utf-8", "replace")
            flat = re.sub(r"\s*(?:\n[\s>*#-]*|\s)\s*", " ", data)
            unescaped = flat.replace("\\n", " ").replace("> ", "")
            found += [
                f"{path}: {form}"
                for form in wanted
                if form in data or form in flat or form in " ".join(unescaped.split())
            ][:1]
    return found
