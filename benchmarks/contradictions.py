"""How many contradictions are found, and how many re-wordings of a deleted line are kept out.

Give a folder with ``contradictions.jsonl`` (``{"a", "b", "contradict"}``) and ``rewordings.jsonl``
(``{"line", "kind", "same", "other"}``). Everything goes the public way: the first of two texts is
remembered as a person's, and the second is learned by a job, or remembered as well and looked for
by ``doctor``; a line is deleted by hand in its file, and each of the other texts is learned.
``--list`` prints what went wrong, for those who tune.

Give a file of pairs (``{"older", "newer", "relation", "question"}``, the relation one of
``replaces``, ``contradicts``, ``together`` and ``same``) to count, of each relation, what is taken
for a contradiction, what the judge of pairs takes for different, what is taken for said again, and
where recall, asked the question among all of them, shows the newer one first.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from benchmarks.lessons import remembered
from benchmarks.measure import finish, records, table
from engramdown import Cortex, Engram
from engramdown.doctor.checks import check
from engramdown.engram import Kind, Source
from engramdown.gate import kind_of
from engramdown.kinds import scope_for
from engramdown.language.judge import RELATIONS, judge
from engramdown.language.meaning import contradict, says_again

__all__ = ["main"]

TODAY: Final = date(2026, 3, 1)
HALF: Final = 0.5


def main() -> None:
    """Count and print."""
    folder, is_listed = Path(sys.argv[1]), "--list" in sys.argv
    if folder.is_file():
        finish("pairs", table([*_by_relation(records(folder))]))
        return
    pairs = records(folder / "contradictions.jsonl")
    ways = {"learned by a job": _is_asked, "named by doctor": _is_named}
    rows = [("pairs", "contradictions found", "wrongly")]
    for way, finds in ways.items():
        found = [(each["contradict"], finds(each["a"], each["b"])) for each in pairs]
        rows.append((way, _share(found, is_so=True), _share(found, is_so=False)))
        if is_listed:
            wrong = (each for each, (so, out) in zip(pairs, found, strict=True) if so != out)
            sys.stdout.writelines(f"{way}: {each}\n" for each in wrong)
    lines = records(folder / "rewordings.jsonl")
    kept = [(each["line"], *outcome) for each in lines for outcome in _kept_out(each)]
    out = [(is_same, is_kept) for _, _, is_same, is_kept in kept]
    more = [("a line that was deleted by hand", "re-wordings kept out", "other lines kept out")]
    more.append((f"{len(lines)} lines", _share(out, is_so=True), _share(out, is_so=False)))
    if is_listed:
        sys.stdout.writelines(f"{each}\n" for each in kept if each[2] != each[3])
    finish("contradictions", f"{table(rows)}\n\n{table(more)}")


def _by_relation(pairs: list[dict[str, Any]]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each relation, below the heads."""
    index = remembered((pair["older"], pair["newer"]) for pair in pairs)
    counts: Counter[tuple[str, str]] = Counter()
    for at, pair in enumerate(pairs):
        older, newer, relation = pair["older"], pair["newer"], pair["relation"]
        ids = [hit.entry.id for hit in index.search(pair.get("question", ""), TODAY)]
        places = [
            ids.index(one) if one in ids else len(ids) for one in (f"{at}-newer", f"{at}-older")
        ]
        found = {
            "contradict": contradict(older, newer),
            "differ": judge(older, newer).differ > HALF,
            "said again": says_again(newer, older),
            "newer first": places[0] < places[1],
        }
        counts[relation, "pairs"] += 1
        counts.update((relation, head) for head, is_so in found.items() if is_so)
    heads = ("pairs", "contradict", "differ", "said again", "newer first")
    yield ("relation", *heads)
    for relation in RELATIONS:
        yield (relation, *(str(counts[relation, head]) for head in heads))


def _share(found: list[tuple[bool, bool]], *, is_so: bool) -> str:
    those = [out for so, out in found if so == is_so]
    return f"{sum(those)} of {len(those)}"


def _memory(text: str, source: Source, kind: Kind | None = None) -> Engram:
    kind = kind or kind_of(text)
    return Engram(text, kind, scope_for(kind, "project"), "high", source=source)


def _open(folder: str) -> Cortex:
    root = Path(folder)
    (root / "project" / ".engramdown").mkdir(parents=True, exist_ok=True)
    (root / "home").mkdir(exist_ok=True)
    return Cortex.open(root / "project", home=root / "home")


def _is_asked(text: str, later: str) -> bool:
    """Whether somebody is asked when ``later`` is learned while ``text`` stands."""
    with TemporaryDirectory() as folder:
        cortex = _open(folder)
        cortex.propose([_memory(text, "user")], by_person=True)
        decision = cortex.encoding_gate(_memory(later, "consolidation"))
        return decision.code == "contradiction"


def _is_named(text: str, later: str) -> bool:
    """Whether ``doctor`` says that two lines contradict each other."""
    with TemporaryDirectory() as folder:
        cortex = _open(folder)
        for each in (text, later):
            cortex.propose([_memory(each, "user")], by_person=True)
        for store in cortex.scopes.stores:
            names = {name: store.files.document(name).render() for name in store.files.names()}
            for finding in check(names, TODAY, store.scope):
                if finding.code in ("contradiction", "always-and-never"):
                    return True
    return False


def _kept_out(given: dict[str, Any]) -> Iterator[tuple[str, bool, bool]]:
    """Yield each text, whether it re-words the line, and whether it is not learned again."""
    with TemporaryDirectory() as folder:
        cortex = _open(folder)
        (receipt,) = cortex.propose([_memory(given["line"], "user", given["kind"])], by_person=True)
        (file,) = Path(folder).glob(f"*/**/memory/{receipt.file}")
        rows = file.read_text(encoding="utf-8").splitlines(keepends=True)
        file.write_text("".join(row for row in rows if receipt.id not in row), encoding="utf-8")
        cortex = _open(folder)
        for texts, is_same in ((given["same"], True), (given["other"], False)):
            for text in texts:
                decision = cortex.encoding_gate(_memory(text, "consolidation", given["kind"]))
                yield text, is_same, decision.code == "turned-down"


if __name__ == "__main__":
    main()
