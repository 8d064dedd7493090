"""Deliberate bugs in the view of a conversation, each of which a named law catches."""

from __future__ import annotations

from typing import Final

import pytest

from tests.mutants import Bug, mutated

# In the order of their imports. What is not named here is the real one.
VIEWS: Final = (
    "engramdown.transcripts.summary_log",
    "engramdown.consolidation.summaries",
    "tests.consolidation.view_laws",
)

BUGS: Final = (
    Bug(
        "half a surrogate pair is lost in the log",
        "transcripts.summary_log",
        '"utf-8", "backslashreplace"',
        '"utf-8", "replace"',
        lambda core: core.what_is_read_was_written(core.made("g1", 1)._replace(text="\ud800")),
    ),
    Bug(
        "a gist swallows what stands between its sources",
        "transcripts.summary_log",
        "all(self._next.get(one) == other for one, other in pairwise(sources))",
        "all(one in self._next for one in sources)",
        lambda core: core.views_cover_all_once([1, 2, 3], [core.made("g1", 1, 3)]),
    ),
    Bug(
        "an id that comes again stands for other messages",
        "transcripts.summary_log",
        "known = gist.id in self.gists or not gist.id",
        "known = not gist.id",
        lambda core: core.views_cover_all_once([1, 2], [core.made("g1", 1), core.made("g1", 2)]),
    ),
    Bug(
        "a message that comes again is seen twice",
        "transcripts.summary_log",
        "        if seq in self._added:\n",
        "        if seq in self._next:\n",
        lambda core: core.views_cover_all_once([1, 2], [core.made("g1", 1, 2)]),
    ),
    Bug(
        "a gist is unfolded from its end",
        "transcripts.summary_log",
        "waiting.extend(reversed(self.gists[one].sources))",
        "waiting.extend(self.gists[one].sources)",
        lambda core: core.views_cover_all_once([1, 2], [core.made("g1", 1, 2)]),
    ),
    Bug(
        "a forged range may be of any length",
        "transcripts.summary_log",
        "        found.extend(range(first, last + 1))",
        "        found.extend((first, last))",
        lambda core: core.what_is_read_was_written(core.made("g1", 1, 2, 3)),
    ),
    Bug(
        "only the first result stays with its call",
        "consolidation.summaries",
        "        return self.answered\n",
        "        return self.answered if self.open else None\n",
        lambda core: core.a_result_stays_with_its_call(core.calls("+a", "-a", "-a")),
    ),
    Bug(
        "a call that ends within another one ends both",
        "consolidation.summaries",
        "last = max(last, end)",
        "last = end or last",
        lambda core: core.a_result_stays_with_its_call(core.calls("+a", "+b", "-b", "-a")),
    ),
    Bug(
        "an interrupted call takes the result of the next one",
        "consolidation.summaries",
        "if not self.open or self.open[-1][0] < turn:",
        "if not self.open:",
        lambda core: core.an_interrupted_call_ends_with_its_turn(3),
    ),
    Bug(
        "the newest words of the user are summarised",
        "consolidation.summaries",
        "min([*newest[:1], *users[-1:]], default=len(items))",
        "min(newest[:1], default=len(items))",
        lambda core: core.what_must_be_seen_is_fresh(core.calls("user", "+a", "-a"), 1, 1),
    ),
    Bug(
        "a long call leaves the tail empty",
        "consolidation.summaries",
        "min(_on(free, messages[-most]), least)",
        "_on(free, messages[-most])",
        lambda core: core.what_must_be_seen_is_fresh(core.calls("user", "+a", "-a", "-a"), 2, 2),
    ),
    Bug(
        "a leaf ends in the middle of a call",
        "consolidation.summaries",
        "range(run[0], run[1] + 1) if free[place]]",
        "range(run[0], run[1] + 1)]",
        lambda core: core.leaves_can_be_read(core.calls("user", "+a", "-a", "user"), 4, 2, 18),
    ),
    Bug(
        "long messages are never summarised",
        "consolidation.summaries",
        "yield first, start, tokens, not is_small",
        "yield first, start, tokens, tokens >= most",
        lambda core: core.long_messages_are_summarised(7_000),
    ),
    Bug(
        "what is condensed is no deeper than before",
        "consolidation.summaries",
        "items[first].depth + 1))",
        "items[first].depth))",
        lambda core: core.condensed_gists_are_of_one_depth(core.gists(9), 9, 4),
    ),
    Bug(
        "one gist is condensed alone, again and again",
        "consolidation.summaries",
        "_shares(start, stop, max(fan_in, _FEWEST))",
        "_shares(start, stop, fan_in)",
        lambda core: core.condensed_gists_are_of_one_depth(core.gists(3), 3, 1),
    ),
)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.what.replace(" ", "-"))
def test_a_law_catches_this_bug(bug: Bug) -> None:
    with mutated(VIEWS, bug) as core, pytest.raises(AssertionError):
        bug.law(core)


def test_every_law_holds_without_a_bug() -> None:
    with mutated(VIEWS, None) as core:
        for bug in BUGS:
            bug.law(core)


def test_every_module_of_the_view_has_a_bug() -> None:
    tested = {f"engramdown.{bug.module}" for bug in BUGS}
    assert tested == {name for name in VIEWS if name.startswith("engramdown.")}
