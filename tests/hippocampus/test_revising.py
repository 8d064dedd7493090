"""What carrying out a plan means for the files, without a disk."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.engram import pointers
from engramdown.errors import StoreError
from engramdown.hippocampus.changeset import Act, Revised, Revision, revise
from engramdown.hippocampus.entry import Entry, as_entry, raw_entries
from engramdown.markdown.document import written
from engramdown.markdown.metadata import Metadata
from tests.hippocampus.shelf import TODAY, Shelf
from tests.tables import every

LESSONS = (
    "# Lessons\n\n"
    "- slow <!-- id:aaaaaaaa topic:ci source:llm from:s1#1 ts:2026-01-01 -->\n"
    "\nMy own words.\n\n"
    "- is slow <!-- id:bbbbbbbb source:llm from:s2#2 ts:2026-01-02 x:1 -->\n"
    "- old <!-- id:cccccccc source:llm expires:2026-01-01 -->\n"
    "- by hand\n"
)
TOPIC = "# ci\n\n- slow <!-- id:aaaaaaaa topic:ci source:llm from:s1#1 ts:2026-01-01 -->\n"


def shelf() -> Shelf:
    """Return a scope with a few lessons."""
    return Shelf({"lessons.md": LESSONS, "topics/ci.md": TOPIC})


def seen(shelf: Shelf, words: str, file: str = "lessons.md") -> Entry:
    """Return the memory of a file that says ``words``."""
    placed = raw_entries(file, shelf.document(file))
    entries = [as_entry(file, "project", each) for each in placed]
    return next(entry for entry in entries if entry.text == words)


def apply(shelf: Shelf, *revisions: Revision) -> list[Revised]:
    """Carry out a plan as one step."""
    act = Act("compact", "consolidation")
    return shelf.change(
        act, lambda draft: revise(draft, revisions, sorted(shelf.texts), "consolidation")
    )


def test_a_duplicate_goes_to_the_archive_and_what_stays_keeps_its_pointers() -> None:
    files = shelf()
    drop = Revision(
        (seen(files, "is slow"),), "duplicate", seen(files, "slow"), learned="s2#2,s1#1"
    )
    assert apply(files, drop) == [Revised(drop, "aaaaaaaa")]
    assert files.texts["lessons.md"] == (
        "# Lessons\n\n"
        "- slow <!-- id:aaaaaaaa topic:ci source:llm from:s1#1,s2#2 ts:2026-01-01 -->\n"
        "\nMy own words.\n\n"
        "- old <!-- id:cccccccc source:llm expires:2026-01-01 -->\n"
        "- by hand\n"
    )
    assert "from:s1#1,s2#2" in files.texts["topics/ci.md"]
    assert files.texts["archive.md"] == (
        "# Archive\n\n- is slow <!-- id:bbbbbbbb source:llm from:s2#2 ts:2026-01-02 x:1 "
        "kind:lesson was:lessons.md reason:duplicate by:consolidation replaced:aaaaaaaa "
        "archived:2026-02-27 -->\n"
    )
    assert len(files.steps) == 1


def test_a_merge_comes_in_the_place_of_the_first_and_under_its_topic() -> None:
    files = shelf()
    both = seen(files, "is slow"), seen(files, "slow")
    new = both[0]._replace(text="CI is\nslow", origin="s1#1,s2#2", topic="ci", pin=True)
    merge = Revision(both, "merged", comes=new)
    (done,) = apply(files, merge)
    meta = (
        f"id:{done.id} topic:ci confidence:medium source:llm from:s1#1,s2#2 pin:yes ts:2026-01-02"
    )
    assert files.texts["lessons.md"] == (
        f"# Lessons\n\n- CI is\n  slow <!-- {meta} -->\n\nMy own words.\n\n"
        "- old <!-- id:cccccccc source:llm expires:2026-01-01 -->\n- by hand\n"
    )
    assert files.texts["topics/ci.md"] == f"# ci\n\n- CI is\n  slow <!-- {meta} -->\n"
    assert files.said("archive.md") == ["is slow", "slow"]
    assert (
        files.texts["archive.md"].count(f"reason:merged by:consolidation replaced:{done.id}") == 2
    )


def test_a_merge_is_filed_under_a_topic_that_none_of_its_copies_stood_under() -> None:
    files = Shelf(
        {
            "lessons.md": "- a <!-- id:aaaaaaaa topic:ci -->\n- b <!-- id:bbbbbbbb topic:uv -->\n",
            "topics/uv.md": "- b <!-- id:bbbbbbbb topic:uv -->\n",
        }
    )
    first = seen(files, "a")
    merge = Revision((first, seen(files, "b")), "merged", comes=first._replace(text="ab", ts=""))
    apply(files, merge)
    assert files.said("lessons.md") == files.said("topics/ci.md") == ["ab"]
    assert files.said("topics/uv.md") == []
    assert f"ts:{TODAY}" in files.texts["lessons.md"]


def test_a_merged_rule_stands_where_its_first_rule_stood() -> None:
    files = Shelf(
        {"rules.md": "## Never\n\n- a <!-- id:aaaaaaaa -->\n- b <!-- id:bbbbbbbb -->\n\n## Mine\n"}
    )
    both = seen(files, "a", "rules.md"), seen(files, "b", "rules.md")
    (done,) = apply(files, Revision(both, "merged", comes=both[0]._replace(text="ab")))
    assert files.said("rules.md") == ["ab"]
    assert seen(files, "ab", "rules.md").kind == "never"
    assert done.problem == ""


def test_what_expired_goes_with_nothing_in_its_place() -> None:
    files = shelf()
    apply(files, Revision((seen(files, "old"),), "expired"))
    assert files.said("archive.md") == ["old"]
    assert "reason:expired by:consolidation archived" in files.texts["archive.md"]
    assert files.said("lessons.md") == ["slow", "My own words.", "is slow", "by hand"]


def test_a_lesson_moves_with_its_copy_to_another_topic() -> None:
    files = shelf()
    assert apply(files, Revision(stays=seen(files, "slow"), topic="speed"))[0].id == "aaaaaaaa"
    assert "id:aaaaaaaa topic:speed" in files.texts["lessons.md"]
    assert files.said("topics/ci.md") == []
    assert "id:aaaaaaaa topic:speed" in files.texts["topics/speed.md"]
    apply(files, Revision(stays=seen(files, "slow", "topics/speed.md"), topic="ci"))
    assert files.said("topics/ci.md") == ["slow"]


def test_a_lesson_whose_words_stand_under_the_new_topic_stands_there_once() -> None:
    files = shelf()
    files.texts["topics/speed.md"] = "- Slow. <!-- id:dddddddd -->\n"
    apply(files, Revision(stays=seen(files, "slow"), topic="speed"))
    assert files.said("topics/speed.md") == ["Slow."]


def test_a_line_that_a_person_wrote_gets_a_topic_and_no_id() -> None:
    files = shelf()
    apply(files, Revision(stays=seen(files, "by hand"), topic="speed", learned="s1#1"))
    assert files.texts["lessons.md"].endswith("- by hand <!-- topic:speed -->\n")
    assert "topics/speed.md" not in files.texts


def test_a_line_that_a_person_wrote_stays_byte_for_byte_when_a_duplicate_of_it_goes() -> None:
    files = Shelf({"lessons.md": "- by hand\n- By hand <!-- id:aaaaaaaa from:s1#1 -->\n"})
    mine, ours = seen(files, "by hand"), seen(files, "By hand")
    apply(files, Revision((ours,), "duplicate", mine, learned="s1#1"))
    assert files.texts["lessons.md"] == "- by hand\n"
    assert (
        f"from:s1#1 kind:lesson was:lessons.md reason:duplicate by:consolidation replaced:{mine.id}"
        in (files.texts["archive.md"])
    )


@every(
    "old, new, why",
    [
        pytest.param("- is slow", "- is fast", "bbbbbbbb was changed meanwhile", id="text"),
        pytest.param("source:llm from:s2#2", "source:user from:s2#2", "bbbbbbbb was", id="meta"),
        pytest.param("- is slow <!-- id:bbbbbbbb", "- x <!-- id:b", "bbbbbbbb is not", id="gone"),
        pytest.param("- slow", "- fast", "aaaaaaaa was changed meanwhile", id="what-stays"),
        pytest.param("- by hand", "- is slow <!-- id:bbbbbbbb -->", "bbbbbbbb is there", id="two"),
        pytest.param("# Lessons", "## Mine", "bbbbbbbb was changed meanwhile", id="heading"),
    ],
)  # fmt: skip
def test_what_changed_since_the_plan_was_made_is_passed_over(old: str, new: str, why: str) -> None:
    files = shelf()
    drop = Revision((seen(files, "is slow"),), "duplicate", seen(files, "slow"))
    files.texts["lessons.md"] = files.texts["lessons.md"].replace(old, new, 1)
    before = dict(files.texts)
    (done,) = apply(files, drop)
    assert done.problem.startswith(why)
    assert files.texts == before


def test_a_copy_that_reads_otherwise_keeps_a_memory_from_being_taken() -> None:
    files = shelf()
    files.texts["topics/ci.md"] = TOPIC.replace("- slow", "- fast")
    (done,) = apply(files, Revision((seen(files, "slow"),), "expired"))
    assert done.problem == "aaaaaaaa was changed meanwhile"


def test_what_stands_elsewhere_in_its_file_is_the_same_memory() -> None:
    files = shelf()
    drop = Revision((seen(files, "is slow"),), "expired")
    files.texts["lessons.md"] = f"- new\n{files.texts['lessons.md']}"
    assert apply(files, drop)[0].problem == ""


def test_a_merge_whose_words_stand_there_by_now_is_passed_over() -> None:
    files = shelf()
    both = seen(files, "slow"), seen(files, "is slow")
    merge = Revision(both, "merged", comes=both[0]._replace(text="By hand."))
    (done,) = apply(files, merge)
    assert done.problem == f"{seen(files, 'by hand').id} says it by now"
    same = Revision(both, "merged", comes=both[0]._replace(text="is slow"))
    assert apply(files, same)[0].problem == ""


def test_a_merge_whose_words_were_turned_down_meanwhile_is_passed_over() -> None:
    files = shelf()
    both = seen(files, "slow"), seen(files, "is slow")
    merge = Revision(both, "merged", comes=both[0]._replace(text="By hand"))
    files.save("lessons.md", LESSONS.replace("- by hand\n", ""))
    assert apply(files, merge)[0].problem == "its words were turned down"
    act = Act("resolve", "user")
    names = sorted(files.texts)
    assert files.change(act, lambda draft: revise(draft, [merge], names, "user"))[0].problem == ""


def test_a_merge_that_cannot_be_a_memory_is_passed_over() -> None:
    files = shelf()
    both = seen(files, "slow"), seen(files, "is slow")
    (done,) = apply(files, Revision(both, "merged", comes=both[0]._replace(expires="soon")))
    assert done.problem.startswith("expires: 'soon' is not a date")


def test_what_fits_is_carried_out_beside_what_does_not() -> None:
    files = shelf()
    gone = seen(files, "old")._replace(text="older")
    found = apply(
        files,
        Revision((gone,), "expired"),
        Revision((seen(files, "is slow"),), "expired"),
        Revision((seen(files, "is slow"),), "duplicate", seen(files, "slow")),
        Revision((seen(files, "slow"),), "duplicate", seen(files, "is slow")),
    )
    assert [each.problem for each in found] == [
        "cccccccc was changed meanwhile",
        "",
        "another part of the plan took it, or needs it",
        "another part of the plan took it, or needs it",
    ]
    assert files.said("archive.md") == ["is slow"]


def test_what_stays_for_another_one_is_not_taken_by_a_later_part() -> None:
    files = shelf()
    slow, also = seen(files, "slow"), seen(files, "is slow")
    found = apply(
        files,
        Revision((also,), "duplicate", slow, learned="s2#2"),
        Revision((slow,), "expired"),
        Revision(stays=slow, topic="speed"),
    )
    assert [bool(each.problem) for each in found] == [False, True, False]
    assert "from:s1#1,s2#2" in files.texts["lessons.md"]
    assert "id:aaaaaaaa topic:speed" in files.texts["lessons.md"]
    assert "from:s1#1,s2#2" in files.texts["topics/speed.md"]


def test_two_duplicates_of_one_memory_leave_it_the_pointers_of_both() -> None:
    lines = [
        f"- slow{end} <!-- id:{name * 8} from:{name}#1 -->"
        for end, name in zip(" .!", "abc", strict=True)
    ]
    files = Shelf({"lessons.md": "\n".join(lines) + "\n"})
    stays, *go = [
        as_entry("lessons.md", "project", each)
        for each in raw_entries("lessons.md", files.document("lessons.md"))
    ]
    apply(files, *(Revision((each,), "duplicate", stays, learned=each.origin) for each in go))
    assert files.said("lessons.md") == ["slow"]
    assert "from:a#1,b#1,c#1" in files.texts["lessons.md"]


def test_what_a_plan_took_comes_back_beside_what_replaced_it() -> None:
    files = Shelf({"lessons.md": "- slow <!-- id:aaaaaaaa -->\n- slow. <!-- id:bbbbbbbb x:1 -->\n"})
    before = files.texts["lessons.md"]
    apply(files, Revision((seen(files, "slow."),), "duplicate", seen(files, "slow")))
    assert files.restore().added
    assert files.texts["lessons.md"] == before
    assert files.said("archive.md") == []


def test_a_fact_that_a_plan_took_comes_back_once() -> None:
    profile = "- Editor: vim <!-- id:aaaaaaaa -->\n- Editor: Vim <!-- id:bbbbbbbb -->\n"
    files = Shelf({"profile.md": profile})
    old, new = (seen(files, text, "profile.md") for text in ("Editor: vim", "Editor: Vim"))
    apply(files, Revision((old,), "duplicate", new))
    files.restore()
    assert files.said("profile.md") == ["Editor: vim"]
    assert files.said("archive.md") == ["Editor: Vim"]


def test_a_plan_that_would_lose_a_memory_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    files = shelf()
    before = dict(files.texts)
    monkeypatch.setattr("engramdown.hippocampus.changeset.retire", lambda *_, **__: None)
    with pytest.raises(StoreError, match="would lose cccccccc; nothing was written"):
        apply(files, Revision((seen(files, "old"),), "expired"))
    assert files.texts == before


def test_a_secret_is_hidden_in_the_archive_and_not_lost() -> None:
    key = "ghp_" + "a1B2c3D4e5F6" * 3
    files = Shelf({"lessons.md": f"- use {key} <!-- id:aaaaaaaa source:llm -->\n"})
    apply(files, Revision((seen(files, f"use {key}"),), "expired"))
    assert files.said("archive.md") == ["use [redacted: GitHub token]"]


def test_pointers_are_joined_once_each() -> None:
    assert pointers("", "a#1") == "a#1"


_texts = st.lists(
    st.sampled_from(["one", "One.", "two", "two\nlines", "three <!-- id:x -->"]),
    min_size=2,
    max_size=6,
)


@given(_texts, st.data())
def test_whatever_is_taken_stands_in_the_archive_and_undo_brings_back_the_bytes(
    texts: Sequence[str], data: st.DataObject
) -> None:
    files = Shelf()
    names = [chr(ord("a") + at) * 8 for at in range(len(texts))]
    lines = "".join(
        written(text, Metadata((("id", name), ("from", f"s#{at}"))), "\n")
        for at, (text, name) in enumerate(zip(texts, names, strict=True))
    )
    files.texts = {"lessons.md": f"# Lessons\n\nMine.\n\n{lines}\nMore.\n"}
    entries = [
        as_entry("lessons.md", "project", each)
        for each in raw_entries("lessons.md", files.document("lessons.md"))
        if each.block.shape == "item"
    ]
    order = data.draw(st.permutations(entries))
    first, second, *rest = order
    learned = pointers(first.origin, second.origin)
    revisions = [
        data.draw(
            st.sampled_from(
                [
                    Revision((first,), "duplicate", second, learned=first.origin),
                    Revision(
                        (first, second), "merged", comes=first._replace(text="new", origin=learned)
                    ),
                ]
            )
        ),
        *(Revision((each,), "expired") for each in rest[:1]),
    ]
    before = dict(files.texts)
    done = apply(files, *revisions)
    assert not any(each.problem for each in done)
    ids = {each.id for name in files.texts for each in _entries(files, name)}
    assert set(names) <= ids
    said = "".join(files.texts.values())
    assert all(entry.origin in said for entry in entries)
    taken = sum(len(each.taken) for each in revisions)
    assert len(_entries(files, "archive.md")) == taken
    files.undo()
    assert {name: text for name, text in files.texts.items() if text} == before


def _entries(files: Shelf, name: str) -> list[Entry]:
    placed = raw_entries(name, files.document(name))
    return [as_entry(name, "project", each) for each in placed]
