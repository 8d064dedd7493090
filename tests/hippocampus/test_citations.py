"""What a memory cites holds while the lines are there, and leads nowhere else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown import Cortex, Engram, Hippocampus
from engramdown.errors import InvalidEngramError
from engramdown.hippocampus import citations
from engramdown.hippocampus.citations import CHANGED, LARGEST, Citation, Citations
from tests.cortex.entries import any_text, entry

CODE = "".join(f"line {number}\n" for number in range(1, 31))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text(CODE, encoding="utf-8")
    return tmp_path


@pytest.fixture
def cortex(project: Path) -> Cortex:
    home = Hippocampus(project / "home", "global")
    return Cortex(home, Hippocampus(project / ".engramdown"))


def state(project: Path, cites: str) -> str:
    ((_, state),) = Citations(project).states(cites)
    return state


@pytest.mark.parametrize(
    "place", ["src/a.py#L10-12", "src/a.py#L10-L12", "./src/a.py#L12", "src/a.py"]
)
def test_what_is_cited_holds_until_the_lines_change(project: Path, place: str) -> None:
    sealed = Citations(project).sealed(place)
    file = project / "src" / "a.py"
    assert state(project, sealed) == "holds"
    file.write_bytes(CODE.replace("\n", " \r\n").encode())
    assert state(project, sealed) == "holds"
    file.write_text(CODE.replace("line 12\n", "line twelve\n"), encoding="utf-8")
    assert state(project, sealed) == "changed"
    file.unlink()
    assert state(project, sealed) == "missing"


def test_lines_that_moved_still_hold_and_lines_in_another_order_do_not(project: Path) -> None:
    sealed = Citations(project).sealed("src/a.py#L10-12")
    file = project / "src" / "a.py"
    file.write_text("new\n" * 500 + CODE, encoding="utf-8")
    assert state(project, sealed) == "holds"
    file.write_text(CODE.replace("line 10\nline 11\n", "line 11\nline 10\n"), encoding="utf-8")
    assert state(project, sealed) == "changed"


def test_nothing_outside_a_project_is_read(project: Path, tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    (inside / "src").mkdir(parents=True)
    (tmp_path / "secret").write_text("one\ntwo\n", encoding="utf-8")
    (inside / "link").symlink_to(tmp_path / "secret")
    (inside / "folder").symlink_to(project / "src", target_is_directory=True)
    (inside / "loop").symlink_to("loop")
    os.mkfifo(inside / "pipe")
    with (inside / "huge").open("wb") as file:
        file.truncate(2 << 30)
    out = ["../secret", f"{tmp_path}/secret", "src/../../secret", "~/x", "C:/x", "src\\a.py"]
    for folder in (".engramdown", ".Git"):
        (inside / folder).mkdir()
        (inside / folder / "a").write_text("one\n", encoding="utf-8")
        out.append(f"{folder}/a")
    for path in (*out, "link", "folder/a.py", "loop", "pipe", "huge", "src", "src//a", "none"):
        assert state(inside, f"{path}#L1") == "missing"
        with pytest.raises(InvalidEngramError):
            Citations(inside).sealed(f"{path}#L1")


@pytest.mark.parametrize(
    "place, reason",
    [
        ("src/a.py#L29-31", "30 lines"),
        ("src/a.py#L0", "not allowed"),
        ("src/a.py#L9-3", "not allowed"),
        ("src/a.py,src/a.py#L1,src/a.py#L2,src/a.py#L3,src/a.py#L4", "4 are allowed"),
        ("src/empty.py", "no lines"),
        ("src/key.py", "secret"),
    ],
)
def test_what_cannot_be_cited_is_refused_with_the_reason(
    project: Path, place: str, reason: str
) -> None:
    (project / "src" / "empty.py").write_text("\n\n", encoding="utf-8")
    (project / "src" / "key.py").write_text("password = 'hunter2-Xy7!pq'\n", encoding="utf-8")
    with pytest.raises(InvalidEngramError, match=reason):
        Citations(project).sealed(place)


def test_a_binary_file_may_be_cited(project: Path) -> None:
    (project / "a.bin").write_bytes(bytes(range(256)) * 10)
    sealed = Citations(project).sealed("a.bin")
    assert state(project, sealed) == "holds"
    (project / "a.bin").write_bytes(bytes(range(1, 256)) * 10)
    assert state(project, sealed) == "changed"


def test_only_so_much_is_read(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(citations, "_IN_ALL", LARGEST)
    (project / "large").write_bytes(b"x" * LARGEST)
    (project / "more").write_bytes(b"y")
    reader = Citations(project)
    assert [it for _, it in reader.states("large@0123456789abcdef")] == ["changed"]
    reader.states("more")
    assert [it for _, it in reader.states("src/a.py@0123456789abcdef")] == ["holds"]


def test_many_citations_of_many_lines_take_no_time(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a\n" * 100_000)
    reader = Citations(tmp_path)
    states = [reader.states(f"a#L1-{last}@0123456789abcdef")[0][1] for last in range(1, 2_000)]
    assert states[0] == "changed"
    assert states[10:] == ["holds"] * len(states[10:])


@given(any_text)
def test_any_text_is_a_citation_or_none(text: str) -> None:
    cited = Citation.parse(text)
    assert cited is None or Citation.parse(str(cited)) == cited


@given(st.lists(st.integers(0, 2), min_size=1), st.data())
def test_the_rolling_digest_is_that_of_each_run(lines: list[int], data: st.DataObject) -> None:
    size = data.draw(st.integers(1, len(lines)))
    runs = [lines[at : at + size] for at in range(len(lines) - size + 1)]
    alone = [next(citations._digests(run, size)) for run in runs]
    assert [*citations._digests(lines, size)] == alone


def test_the_context_marks_what_changed_and_reading_never_refreshes_it(
    cortex: Cortex, project: Path
) -> None:
    said = Engram("Retries are three", "lesson", "project", source="user", cites="src/a.py#L10-12")
    (receipt,) = cortex.propose(said, by_person=True)
    file = project / ".engramdown" / "memory" / "lessons.md"
    line = file.read_text(encoding="utf-8")
    assert "cites:src/a.py#L10-12@" in line
    assert CHANGED not in str(cortex.build_memory_context())
    (project / "src" / "a.py").write_text("other\n", encoding="utf-8")
    for _ in range(2):
        assert f"- Retries are three {CHANGED}\n" in f"{cortex.build_memory_context()}\n"
    assert CHANGED in cortex.use_tool("recall", {"query": "retries"}).text
    assert cortex.why(receipt.id).cites[0][1] == "changed"
    assert file.read_text(encoding="utf-8") == line
    # Somebody looks again.
    (again,) = cortex.propose(
        Engram("Retries are three", "lesson", "project", cites="src/a.py#L1"), by_person=True
    )
    assert (again.action, again.id) == ("merged", receipt.id)
    assert CHANGED not in str(cortex.build_memory_context())


def test_a_marked_section_stays_within_its_budget(project: Path) -> None:
    from datetime import date

    from engramdown.context.sections import Memory, build

    stale = [entry(f"Lesson {number}")._replace(cites="gone.py") for number in range(100)]
    changed = Citations(project).has_changed
    text = build(
        Memory(project_lessons=stale), "", date(2026, 3, 1), {"project_lessons": 300},
        changed=changed,
    )  # fmt: skip
    (section,) = text.sections
    assert section.tokens <= 300
    assert section.text.count(CHANGED) == len(section.shown) > 3


def test_only_a_memory_of_a_project_cites_its_files(cortex: Cortex) -> None:
    with pytest.raises(InvalidEngramError, match="only for a memory of a project"):
        cortex.propose(Engram("Name: Ada", "profile", "global", cites="src/a.py"))
    assert cortex.entries() == []


def test_what_waits_keeps_what_it_stood_on(cortex: Cortex, project: Path) -> None:
    cortex.mode = "copilot"
    said = Engram("Retries are three", "lesson", "project", "medium", cites="src/a.py#L3")
    (receipt,) = cortex.propose(said)
    assert receipt.action == "queued"
    (project / "src" / "a.py").write_text("other\n", encoding="utf-8")
    cortex.resolve(receipt.id)
    (kept,) = cortex.entries()
    assert cortex.why(kept.id).cites == ((kept.cites, "changed"),)


def test_a_model_may_cite(cortex: Cortex) -> None:
    told = {"text": "Retries are three", "kind": "lesson", "cites": "src/a.py#L3-4"}
    assert not cortex.use_tool("memorize", told).is_error
    assert cortex.entries()[0].cites.startswith("src/a.py#L3-4@")
    answer = cortex.use_tool("memorize", {**told, "cites": "/etc/passwd"})
    assert answer.is_error
    assert "inside the project" in answer.text


def test_a_page_of_the_server_marks_what_changed(cortex: Cortex, project: Path) -> None:
    from engramdown.mcp.resources import _file_page

    said = Engram("Retries are three", "lesson", "project", source="user", cites="src/a.py#L3")
    cortex.propose(said, by_person=True)
    page = _file_page("Lessons", "lessons.md")
    assert CHANGED not in page(cortex)
    (project / "src" / "a.py").unlink()
    assert f"Retries are three {CHANGED}" in page(cortex)
