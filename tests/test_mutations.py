"""Deliberate bugs in the core, each of which a named law catches with one example.

Promises: the table below is the list; each bug is one replacement in the source of one module,
loaded beside the real ones, so nothing outside a test is changed; the same example passes with
the real source.
"""

from __future__ import annotations

from typing import Final

import pytest

from tests.mutants import Bug, mutated

# In the order of their imports. What is not named here is the real one, as the errors are.
CORE: Final = (
    "engramdown.engram",
    "engramdown.tokens",
    "engramdown.markdown.metadata",
    "engramdown.markdown.blocks",
    "engramdown.markdown.document",
    "engramdown.markdown.merge",
    "engramdown.hippocampus.entry",
    "engramdown.hippocampus.changeset",
    "engramdown.hippocampus.hand_edits",
    "engramdown.hippocampus.undo",
    "tests.hippocampus.shelf",
    "tests.laws",
    "tests.step_laws",
)
A: Final = "- a <!-- id:aaaaaaaa -->\n"
LATER: Final = "- later <!-- id:llllllll -->\n"

BUGS: Final = (
    Bug(
        "a text of nothing but punctuation is the same as any other",
        "engram",
        "return words[:end] or words",
        "return words[:end]",
        lambda core: core.folding_is_blind_to_form("?!"),
    ),
    Bug(
        "a decomposed letter is another one",
        "engram",
        "if not text.isascii():",
        "if False:",
        lambda core: core.folding_is_blind_to_form("caf\u00e9"),
    ),
    Bug(
        "punctuation stays in a file name",
        "engram",
        'in "LMN"',
        'in "LMNP"',
        lambda core: core.slug_is_a_safe_name(core.slug("v1.2")),
    ),
    Bug(
        "a file name is as long as it likes",
        "engram",
        "if len(name.encode()) > _SLUG_BYTES:",
        "if len(name.encode()) > 2 * _SLUG_BYTES:",
        lambda core: core.slug_is_refused("x" * 121),
    ),
    Bug(
        "tokens are rounded down",
        "tokens",
        "return -(-size * _ASCII // _PER_TOKEN)",
        "return size * _ASCII // _PER_TOKEN",
        lambda core: core.joining_costs_no_more("abc", "d"),
    ),
    Bug(
        "backslashes in front of an escape are not doubled",
        "markdown.metadata",
        'return f"{run * 2}\\\\{literal}"',
        'return f"{run}\\\\{literal}"',
        lambda core: core.escaped_text_comes_back("\\<!--"),
    ),
    Bug(
        "a line separator stays in the line",
        "markdown.metadata",
        "\\x7f-\\x9f\\u2028\\u2029",
        "\\x7f-\\x9f",
        lambda core: core.escaped_text_is_tame("a\u2028b"),
    ),
    Bug(
        "white space at the end of a line is lost",
        "markdown.metadata",
        r"[^\S\n](?=\n|\Z)",
        r"[^\S\n](?=\Z)",
        lambda core: core.adding_touches_nothing_else("", "a \nb", ""),
    ),
    Bug(
        "two hyphens stand in a comment",
        "markdown.metadata",
        "|(?<=-)-|",
        "|",
        lambda core: core.metadata_comes_back({"x": "a--b"}),
    ),
    Bug(
        "a changed key is written twice",
        "markdown.metadata",
        "            present.add(key)\n",
        "",
        lambda core: core.metadata_keeps_what_it_does_not_know("id:a x:1 id:b", {"id": "c"}),
    ),
    Bug(
        "form feeds end lines",
        "markdown.blocks",
        'self.lines = text.split("\\n")',
        "self.lines = text.splitlines()",
        lambda core: core.page_says("- a\x0cb\n", "a\x0cb"),
    ),
    Bug(
        "what a fence holds is read",
        "markdown.blocks",
        "if self._fences[fence[0]][at + 1] < len(fence):",
        "if self._fences[fence[0]][at + 1] <= len(fence):",
        lambda core: core.page_says("```\n- a\n```\n- b\n", "b"),
    ),
    Bug(
        "a fence that is left open hides the rest",
        "markdown.blocks",
        "if self._fences[fence[0]][at + 1] < len(fence):\n            return None",
        "if self._fences[fence[0]][at + 1] < len(fence):\n            return len(self._lines) - 1",
        lambda core: core.page_says("```\n- a\n", "a"),
    ),
    Bug(
        "a note that holds entries ends with the first of them",
        "markdown.blocks",
        "ends[start] = waiting[-1] - 1",
        "ends[start] = start + 1",
        lambda core: core.page_says("<!--\n- a <!-- id:x -->\n- b <!-- id:y -->\n-->\n- c\n", "c"),
    ),
    Bug(
        "the byte order mark belongs to the first line",
        "markdown.blocks",
        "if text.startswith(_BOM):",
        "if False:",
        lambda core: core.page_says("\ufeff- a\n", "a"),
    ),
    Bug(
        "a carriage return belongs to the text",
        "markdown.blocks",
        'line.rstrip(_SPACE + "\\r")',
        "line.rstrip(_SPACE)",
        lambda core: core.adding_touches_nothing_else("- a\r\n", "b\nc", ""),
    ),
    Bug(
        "what a private comment says is sent to a model",
        "markdown.blocks",
        "body = without(body).strip(_BLANK)",
        "pass",
        lambda core: core.page_says("- a <!-- mine --> b\n", "a  b"),
    ),
    Bug(
        "paragraphs run together when the line between them goes",
        "markdown.document",
        'product(_SEPARATORS if entries else ("",), _SEPARATORS)',
        'product(_SEPARATORS if entries else ("",), ("",))',
        lambda core: core.removing_touches_nothing_else("one\n- x\ntwo\n", 1),
    ),
    Bug(
        "what comes first may become front matter",
        "markdown.document",
        "if place.start > 1 and",
        "if",
        lambda core: core.removing_touches_nothing_else(
            "- x\n---\nkey: v\n- a\n- b\n- c\n---\n- d\n", 0
        ),
    ),
    Bug(
        "a conflict marker far above is not seen",
        "markdown.document",
        "far = len(blocks)",
        "far = _NEAR",
        lambda core: core.removing_touches_nothing_else(
            "<<<<<<< o\n\n- a\n\n- b\n\npara\n- x\npara\n=======\n", 3
        ),
    ),
    Bug(
        "a text of three hyphens is a line across the page",
        "markdown.document",
        'if is_rule(f"{bullet} {first}"):',
        "if False:",
        lambda core: core.adding_touches_nothing_else("", "---\nb", ""),
    ),
    Bug(
        "the last line of a file runs into the next one",
        "markdown.document",
        'if last.raw.endswith("\\n") or',
        "if True or",
        lambda core: core.adding_touches_nothing_else("- a", "b", ""),
    ),
    Bug(
        "a rule goes into the section that comes next",
        "markdown.document",
        "below[0] if below else len(self.blocks))\n            return None",
        "len(self.blocks))\n            return None",
        lambda core: core.adding_touches_nothing_else(
            "## Always\n- a\n## Never\n- b\n", "new", "always"
        ),
    ),
    Bug(
        "the index of texts is not carried on",
        "markdown.document",
        "document._folds = _refolded(self._folds, gone, new)",
        "document._folds = self._folds",
        lambda core: core.edits_in_a_row_read_back("- a\n", [core.Edit("add", 0, "b", "")]),
    ),
    Bug(
        "the lines of what was removed still count",
        "markdown.document",
        "self._ends - _line_ends(gone) + _line_ends(new)",
        "self._ends + _line_ends(new)",
        lambda core: core.edits_in_a_row_read_back("- a\n- b\n", [core.Edit("remove", 0, "", "")]),
    ),
    Bug(
        "a heading is sought where it stood before",
        "markdown.document",
        "at + grown * (at >= start)",
        "at",
        lambda core: core.edits_in_a_row_read_back(
            "- a\n## Always\n- b\n", [core.Edit("remove", 0, "", "")]
        ),
    ),
    Bug(
        "a word with a comment in the middle is not found",
        "markdown.document",
        'if "&#" in whole or _GLUED.search(whole):',
        "if False:",
        lambda core: core.same_finds_every_twin("- joined<!-- x -->words\n", "joinedwords"),
    ),
    Bug(
        "an assistant overwrites what a person changed",
        "markdown.merge",
        "if saved is not None and _is_left(saved, old) and not is_noted:\n"
        "            result = result.swap",
        "if saved is not None:\n            result = result.swap",
        lambda core: core.merging_keeps_both_sides(A, A.replace("a <", "x <"), "- y" + A[3:]),
    ),
    Bug(
        "an assistant removes what a person changed",
        "markdown.merge",
        " is not None and _is_left(saved, old)\n    ]",
        " is not None\n    ]",
        lambda core: core.merging_keeps_both_sides(A, "", "- y" + A[3:]),
    ),
    Bug(
        "what gave way is told nobody",
        "markdown.merge",
        "            lost.append(new)\n",
        "            pass\n",
        lambda core: core.merging_keeps_both_sides(A, A.replace("a <", "x <"), "- y" + A[3:]),
    ),
    Bug(
        "a copied line stands for the one it was copied from",
        "markdown.merge",
        'marks.add(("id", placed.id, placed.text))',
        'marks.add(("id", placed.id, ""))',
        lambda core: core.merging_keeps_both_sides(A, A + "- copy" + A[3:], "# T\n" + A),
    ),
    Bug(
        "a person's line ends count as a change",
        "markdown.merge",
        "return one.block.text == other.block.text or _words(one) == _words(other)",
        "return one.block.raw == other.block.raw",
        lambda core: core.merging_keeps_both_sides(
            A, A.replace("a <", "x <"), "mine\n\n" + A.replace("\n", "\r\n")
        ),
    ),
    Bug(
        "what is known is written again",
        "hippocampus.changeset",
        "if known is not None:\n            filed = _strengthen(",
        "if False:\n            filed = _strengthen(",
        lambda core: core.filing_is_found_and_done_once(
            core.Shelf(), core.Engram("a", "lesson", "project")
        ),
    ),
    Bug(
        "a lesson is not filed under its topic",
        "hippocampus.changeset",
        "    _file_topic(draft, file, engram, meta)\n",
        "",
        lambda core: core.filing_is_found_and_done_once(
            core.Shelf(), core.Engram("a", "lesson", "project", topic="ci")
        ),
    ),
    Bug(
        "what is remembered again stays forbidden",
        "hippocampus.changeset",
        "    lift_tombstones(draft, engram.text, engram.kind)\n",
        "",
        lambda core: core.filing_is_found_and_done_once(
            core.Shelf({"archive.md": "- a <!-- id:aaaaaaaa reason:deleted -->\n"}),
            core.Engram("a", "lesson", "project"),
        ),
    ),
    Bug(
        "nothing was ever turned down",
        "hippocampus.entry",
        "return [block for block in archive.same(text) if _is_tombstone(block)]",
        "return []",
        lambda core: core.filing_is_found_and_done_once(
            core.Shelf({"archive.md": "- a <!-- id:aaaaaaaa reason:deleted -->\n"}),
            core.Engram("a", "lesson", "project"),
        ),
    ),
    Bug(
        "a tombstone is never lifted",
        "hippocampus.changeset",
        'for grave in graves if grave.value("kind") in (kind, "")',
        "for grave in ()",
        lambda core: core.filing_is_found_and_done_once(
            core.Shelf({"archive.md": "- a <!-- id:aaaaaaaa reason:deleted -->\n"}),
            core.Engram("a", "lesson", "project"),
        ),
    ),
    Bug(
        "a fact that comes back stands beside its successor",
        "hippocampus.changeset",
        "older = older_fact(draft, gone.text) if",
        "older = None if",
        lambda core: core.restoring_loses_and_doubles_nothing(
            core.Shelf(
                {
                    "profile.md": "- Name: Bob <!-- id:bbbbbbbb -->\n",
                    "archive.md": "- Name: Ada <!-- id:aaaaaaaa kind:profile -->\n",
                }
            ),
            0,
        ),
    ),
    Bug(
        "the journal does not tell what was reworded",
        "hippocampus.changeset",
        "if a.block.raw != b.block.raw:",
        "if False:",
        lambda core: core.undo_of_one_step_leaves_the_others(
            core.Shelf({"lessons.md": A}),
            core.Action("update", 0, core.Engram("b", "lesson", "project")),
            [core.Engram("later", "lesson", "project")],
        ),
    ),
    Bug(
        "a step is always reversed memory by memory",
        "hippocampus.undo",
        "if heads[part.file] == part.target}",
        "if False}",
        lambda core: core.undo_takes_every_step_back(
            core.Shelf({"lessons.md": A + LATER}),
            [core.Action("forget", 0, core.Engram("b", "lesson", "project"))],
        ),
    ),
    Bug(
        "an editor that was open takes our line away",
        "hippocampus.hand_edits",
        "    draft.put(file, merged.document)\n    # What was there last",
        "    # What was there last",
        lambda core: core.hand_edits_keep_the_words_of_both(
            core.Shelf(), "lessons.md", (A, A + LATER), A + "- mine\n"
        ),
    ),
    Bug(
        "our change that gave way is in no archive",
        "hippocampus.hand_edits",
        "_retire_lost(draft, file, merged.lost)",
        "_retire_lost(draft, file, ())",
        lambda core: core.hand_edits_keep_the_words_of_both(
            core.Shelf(), "lessons.md", (A, "- x" + A[3:] + LATER), "- y" + A[3:]
        ),
    ),
    Bug(
        "a deleted line leaves no tombstone",
        "hippocampus.hand_edits",
        "    if not tombstones_of(draft.get(ARCHIVE), plain):\n",
        "    if False:\n",
        lambda core: core.hand_edits_keep_the_words_of_both(core.Shelf(), "rules.md", (A,), ""),
    ),
)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.what.replace(" ", "-"))
def test_a_law_catches_this_bug(bug: Bug) -> None:
    with mutated(CORE, bug) as core, pytest.raises(AssertionError):
        bug.law(core)


def test_every_law_holds_without_a_bug() -> None:
    with mutated(CORE, None) as core:
        for bug in BUGS:
            bug.law(core)


def test_every_module_of_the_core_has_a_bug() -> None:
    tested = {f"engramdown.{bug.module}" for bug in BUGS}
    assert tested == {name for name in CORE if name.startswith("engramdown.")}
