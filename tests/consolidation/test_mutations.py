"""Deliberate bugs in what judges and carries out plans, each of which a named law catches."""

from __future__ import annotations

from typing import Final

import pytest

from tests.mutants import Bug, mutated

# In the order of their imports. What is not named here is the real one.
PLANS: Final = (
    "engramdown.language.similarity",
    "engramdown.consolidation.information_loss",
    "engramdown.consolidation.plan",
    "engramdown.consolidation.plan_rules",
    "engramdown.gate.pending_file",
    "tests.consolidation.memories",
    "tests.consolidation.plan_laws",
)

BUGS: Final = (
    Bug(
        "what stays may be taken itself",
        "consolidation.plan_rules",
        'return f"{stays} is to stay, and is taken itself" if stays and taken[stays] else ""',
        'return ""',
        lambda core: core.nothing_gives_way(
            [core.drop("a", "b"), core.drop("b", "a")], core.learned("use uv", "Use uv.")
        ),
    ),
    Bug(
        "what waits for a person is not told",
        "consolidation.plan",
        'if each.verdict == "propose")',
        'if each.verdict == "refuse")',
        lambda core: core.nobody_is_passed_over(
            core.move("a", "ci"), core.learned("use uv", source="user")
        ),
    ),
    Bug(
        "an empty plan is judged",
        "consolidation.plan_rules",
        'return "" if plan else "the plan is empty"',
        'return ""',
        lambda core: core.is_refused_as_a_whole([], core.learned("a")),
    ),
    Bug(
        "an unknown id stops one operation only",
        "consolidation.plan_rules",
        "named = [each for operation in plan for each in _named(operation)]",
        "named = [each for operation in plan for each in operation.ids]",
        lambda core: core.is_refused_as_a_whole(
            [
                core.drop("a", "zzz"),
            ],
            core.learned("a", "b"),
        ),
    ),
    Bug(
        "more than half of a file may go",
        "consolidation.plan_rules",
        "if count * 2 > sizes[file]:",
        "if count > sizes[file]:",
        lambda core: core.is_refused_as_a_whole(
            [core.drop("a", "c"), core.supersede("b", "c")],
            core.learned("slow builds", "builds are slow", "builds are very slow now"),
        ),
    ),
    Bug(
        "a merge counts as nothing that goes",
        "consolidation.plan_rules",
        'return operation.ids[1:] if operation.name == "merge" else operation.ids',
        'return () if operation.name == "merge" else operation.ids',
        lambda core: core.is_refused_as_a_whole(
            [
                core.merge(("a", "b", "c"), "builds are slow"),
            ],
            core.learned("slow builds", "builds are slow", "builds are very slow now"),
        ),
    ),
    Bug(
        "any duplicate is proven",
        "consolidation.plan_rules",
        "return (goes.kind, fold(goes.text)) == (stays.kind, fold(stays.text))",
        "return True",
        lambda core: core.is_refused_as_a_whole(
            [core.drop("a", "c"), core.drop("b", "c")],
            core.learned("slow builds", "builds are slow", "builds are very slow now"),
        ),
    ),
    Bug(
        "two operations may take one memory",
        "consolidation.plan_rules",
        'twice = next((each for each in operation.ids if taken[each] > 1), "")',
        'twice = ""',
        lambda core: core.nothing_gives_way(
            [core.drop("a", "b"), core.drop("a", "c")], core.learned("use uv", "Use uv.", "use uv!")
        ),
    ),
    Bug(
        "a memory may leave its scope",
        "consolidation.plan_rules",
        '("scopes", {each.scope for each in together}),',
        "",
        lambda core: core.nothing_gives_way(
            [core.drop("a", "b")],
            [core.known("a", "use uv"), core.known("b", "use uv", scope="global")],
        ),
    ),
    Bug(
        "a lesson may become a rule",
        "consolidation.plan_rules",
        '("kinds", {each.kind for each in together}),',
        "",
        lambda core: core.nothing_gives_way(
            [core.drop("a", "b")],
            [core.known("a", "use uv"), core.known("b", "use uv", kind="never")],
        ),
    ),
    Bug(
        "a merge may last longer than its originals",
        "consolidation.plan_rules",
        '("last days", {each.expires or "none" for each in together}),',
        "",
        lambda core: core.nothing_gives_way(
            [core.merge(("a", "b"), "use uv")],
            [core.known("a", "use uv"), core.known("b", "use uv", expires="2099-01-01")],
        ),
    ),
    Bug(
        "a merged text may be of any length",
        "consolidation.plan_rules",
        "if len(text) > max(LONGEST_TEXT, ",
        "if len(text) > max(99 * LONGEST_TEXT, ",
        lambda core: core.nothing_gives_way(
            [core.merge(("a", "b"), "use uv " * 300)], core.learned("use uv", "Use uv.")
        ),
    ),
    Bug(
        "a merged text may hold an escape",
        "consolidation.plan_rules",
        "    if strange:\n",
        "    if False:\n",
        lambda core: core.nothing_gives_way(
            [core.merge(("a", "b"), "use uv\x00")], core.learned("use uv", "Use uv.")
        ),
    ),
    Bug(
        "a merged text may begin a list",
        "consolidation.plan_rules",
        'found = "has several lines"',
        'found = ""',
        lambda core: core.nothing_gives_way(
            [core.merge(("a", "b"), "use\nuv")], core.learned("use uv", "Use uv.")
        ),
    ),
    Bug(
        "a merged text may say what a third memory says",
        "consolidation.plan_rules",
        'return f"the text is what {twin} says already" if twin else ""',
        'return ""',
        lambda core: core.nothing_gives_way(
            [core.merge(("a", "b"), "use uv")], core.learned("use uv!", "Use uv.", "USE UV")
        ),
    ),
    Bug(
        "what holds today has expired",
        "consolidation.plan_rules",
        'return "" if last is not None and last < today',
        'return "" if last is not None and last <= today',
        lambda core: core.nothing_gives_way(
            [core.expire("a")], [core.known("a", "x", expires="2026-03-15")]
        ),
    ),
    Bug(
        "what lasts gives way to what expires sooner",
        "consolidation.plan_rules",
        "if stays is not None and (goes is None or stays < goes):",
        "if stays is not None and goes is not None and stays < goes:",
        lambda core: core.nothing_gives_way(
            [core.drop("a", "b")],
            [core.known("a", "use uv"), core.known("b", "use uv", expires="2099-01-01")],
        ),
    ),
    Bug(
        "what is read always gives way to what is read on demand",
        "consolidation.plan_rules",
        'if stays.file.startswith("topics/") and not goes.file.startswith("topics/"):',
        "if False:",
        lambda core: core.nothing_gives_way(
            [core.drop("a", "b")],
            [core.known("a", "use uv"), core.known("b", "use uv", file="topics/ci.md")],
        ),
    ),
    Bug(
        "the older replaces the newer",
        "consolidation.plan_rules",
        'if operation.name == "supersede" and stays.ts < goes.ts:',
        'if operation.name == "supersede" and stays.ts == goes.ts:',
        lambda core: core.nothing_gives_way(
            [core.supersede("a", "b")],
            [core.known("a", "use uv"), core.known("b", "use uv", ts="2020-01-01")],
        ),
    ),
    Bug(
        "what a person wrote is taken",
        "consolidation.plan_rules",
        'found = next((each for each in operation.ids if known[each].by_person), "")',
        'found = next((each for each in operation.ids[1:] if known[each].by_person), "")',
        lambda core: core.nobody_is_passed_over(
            core.drop("a", "b"), [core.known("a", "use uv", pin=True), core.known("b", "use uv")]
        ),
    ),
    Bug(
        "any fact replaces any other",
        "consolidation.plan_rules",
        "bool(key) and key == fact_key(stays.text)",
        "bool(key)",
        lambda core: core.nobody_is_passed_over(
            core.supersede("a", "b"), core.learned("Editor: vim", "Shell: zsh", kind="profile")
        ),
    ),
    Bug(
        "whatever is called a duplicate goes by itself",
        "consolidation.plan_rules",
        "return is_near_exact(known[operation.id].text, known[operation.stays].text)",
        "return True",
        lambda core: core.only_what_says_the_same_is_safe("use uv", "use pip"),
    ),
    Bug(
        "a merge may lose a number",
        "consolidation.plan_rules",
        "    return changed(operation.text, [known[each].text for each in operation.ids])",
        '    return ""',
        lambda core: core.nobody_is_asked(
            core.merge(("a", "b"), "retry now"), core.learned("retry 3 times", "retry 3 times!")
        ),
    ),
    Bug(
        "two values become one",
        "consolidation.plan_rules",
        'return f"they differ in {found}"',
        'return ""',
        lambda core: core.drops_of_two_say("retry 3 times", "retry 5 times"),
    ),
    Bug(
        "a merged text may leave out what it likes",
        "consolidation.information_loss",
        "_COVERED: Final = 2 / 3",
        "_COVERED: Final = 0",
        lambda core: core.what_is_left_out_is_told("builds are slow in winter", "builds"),
    ),
    Bug(
        "a merged text may make up a word",
        "consolidation.information_loss",
        "(read(text).words)\n    missing = [word for word in words if not (_holds(said, word)",
        "(read(text).words)\n    missing = [word for word in words if not (said",
        lambda core: core.nothing_gives_way(
            [core.merge(("a", "b"), "builds are slow in winter says bob")],
            core.learned("builds are slow in winter", "in winter builds are slow"),
        ),
    ),
    Bug(
        "a merge may turn a rule around",
        "consolidation.information_loss",
        "    if were == bool(now.negations):\n",
        "    if True:\n",
        lambda core: core.changes_are_told("use no pip only", ["use pip", "use only pip"]),
    ),
    Bug(
        "days are words like others",
        "consolidation.information_loss",
        "found = similarity.differs_in_substance(a, b) or _dates(a, b) or",
        "found = similarity.differs_in_substance(a, b) or",
        lambda core: core.differences_are_told("Freeze code monday", "Freeze code", "a date"),
    ),
    Bug(
        "a small word turns nothing",
        "consolidation.information_loss",
        "return found or similarity.turns(a, b) or similarity.signs_apart(a, b)",
        "return found or similarity.signs_apart(a, b)",
        lambda core: core.drops_of_two_say("He pays the rent", "She pays the rent"),
    ),
    Bug(
        "a sign says nothing",
        "consolidation.information_loss",
        "return found or similarity.turns(a, b) or similarity.signs_apart(a, b)",
        "return found or similarity.turns(a, b)",
        lambda core: core.drops_of_two_say("use option a", "use option b"),
    ),
    Bug(
        "texts that have no word in common are one",
        "consolidation.information_loss",
        "if mine and theirs and len(_missing(mine, other)) == len(mine):",
        "if False:",
        lambda core: core.differences_are_told("builds crawl", "compilation takes hours", "a word"),
    ),
    Bug(
        "another preposition goes by itself",
        "consolidation.information_loss",
        "return same and not differs(a, b) and not similarity.asks(one, other)",
        "return same and not differs(a, b)",
        lambda core: core.only_what_says_the_same_is_safe("Meet in Rome", "Meet at Rome"),
    ),
    Bug(
        "a date is the same in any order",
        "language.similarity",
        "[0-9]+(?:[-/.:,",
        "[0-9]+(?:[/.:,",
        lambda core: core.drops_of_two_say("due 2026-01-02", "due 2026-02-01"),
    ),
    Bug(
        "signs are no difference",
        "language.similarity",
        'return char not in _QUOTES and unicodedata.category(char)[0] == "S"',
        "return False",
        lambda core: core.drops_of_two_say("allow x\u2265y", "allow x\u2264y"),
    ),
    Bug(
        "what is quoted is words",
        "language.similarity",
        "return {words for each in quoted if (words := _folded(each)) not in held}",
        "return {words for each in quoted if (words := _folded(each)) in ()}",
        lambda core: core.drops_of_two_say("The label is 'a b'", "The label is 'b a'"),
    ),
    Bug(
        "a merge is as sure as its surest original",
        "consolidation.plan",
        "confidence=max(",
        "confidence=min(",
        lambda core: core.merging_makes_nothing_surer(
            core.known("a", "x", confidence="high"), core.known("b", "y", confidence="low")
        ),
    ),
    Bug(
        "a merge is told by its best source",
        "consolidation.plan",
        "source=max(",
        "source=min(",
        lambda core: core.merging_makes_nothing_surer(
            core.known("a", "x", source="user"), core.known("b", "y", source="llm")
        ),
    ),
    Bug(
        "a merge is as well founded as its first original",
        "consolidation.plan",
        'basis="inferred"',
        "basis=originals[0].basis",
        lambda core: core.merging_makes_nothing_surer(
            core.known("a", "x", basis="verified"), core.known("b", "y")
        ),
    ),
    Bug(
        "a merge keeps the pointers of its first original",
        "consolidation.plan",
        "origin=origins(originals)",
        "origin=originals[0].origin",
        lambda core: core.merging_makes_nothing_surer(
            core.known("a", "x", origin="s1#1"), core.known("b", "y", origin="s2#2")
        ),
    ),
    Bug(
        "it is enough to be found anywhere",
        "consolidation.plan",
        "FIRST: Final = 5",
        "FIRST: Final = 500",
        lambda core: core.lost_words_are_taken_out("gamma delta", is_lost=True),
    ),
    Bug(
        "words that only few have are not asked for",
        "consolidation.plan",
        'return [" ".join(rare)] if fewest < FIRST else []',
        "return []",
        lambda core: core.lost_words_are_taken_out("alpha beta", 1, is_lost=True),
    ),
    Bug(
        "nothing is looked for",
        "consolidation.plan",
        "    for each in operation.ids if said else ():\n",
        "    for each in ():\n",
        lambda core: core.lost_words_are_taken_out("omega", is_lost=True),
    ),
    Bug(
        "only the first original is looked for",
        "consolidation.plan",
        "    for each in operation.ids if said else ():\n",
        "    for each in operation.ids[:1] if said else ():\n",
        lambda core: core.lost_words_are_taken_out("alpha beta gamma", is_lost=True),
    ),
    Bug(
        "what would be there is not searched",
        "consolidation.plan",
        "search = searching(memory_after(left, memories))",
        "search = searching(memories)",
        lambda core: core.lost_words_are_taken_out("alpha beta gamma delta", is_lost=False),
    ),
    Bug(
        "a question is carried out whatever happened since",
        "gate.pending_file",
        "or _digest([known[each] for each in of]) != item.seen",
        "or False",
        lambda core: core.accepting_leaves_what_changed(
            core.drop("bbbbbbbb", "aaaaaaaa"), "- is slow", "- is not slow"
        ),
    ),
    Bug(
        "pointers go with the duplicate",
        "gate.pending_file",
        'learned = plan.origins(taken) if stays and not stays.by_person else ""',
        'learned = ""',
        lambda core: core.accepting_does_what_was_asked(core.drop("bbbbbbbb", "aaaaaaaa")),
    ),
    Bug(
        "what a person read is not verified",
        "gate.pending_file",
        'wanted.comes._replace(basis="verified" if by == "user" else "observed")',
        "wanted.comes",
        lambda core: core.accepting_does_what_was_asked(
            core.merge(("aaaaaaaa", "bbbbbbbb"), "all is slow")
        ),
    ),
    Bug(
        "what is merged is archived as a duplicate",
        "gate.pending_file",
        '"merge": "merged",',
        '"merge": "",',
        lambda core: core.accepting_does_what_was_asked(
            core.merge(("aaaaaaaa", "bbbbbbbb"), "all is slow")
        ),
    ),
    Bug(
        "a lesson that moves stays where it was",
        "gate.pending_file",
        "return changeset.Revision(stays=taken[0], topic=slug(operation.topic))",
        "return changeset.Revision(stays=taken[0])",
        lambda core: core.accepting_does_what_was_asked(core.move("aaaaaaaa", "ci")),
    ),
)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.what.replace(" ", "-"))
def test_a_law_catches_this_bug(bug: Bug) -> None:
    with mutated(PLANS, bug) as core, pytest.raises(AssertionError):
        bug.law(core)


def test_every_law_holds_without_a_bug() -> None:
    with mutated(PLANS, None) as core:
        for bug in BUGS:
            bug.law(core)


def test_every_module_has_a_bug() -> None:
    tested = {f"engramdown.{bug.module}" for bug in BUGS}
    assert tested == {name for name in PLANS if name.startswith("engramdown.")}
