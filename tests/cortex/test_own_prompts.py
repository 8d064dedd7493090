"""Prompts of a scope's own: a broken or hostile one stops its job, and nothing else."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest
from pydantic import BaseModel

from engramdown import Cortex
from engramdown.errors import StoreError
from engramdown.gate.compaction import compact
from engramdown.gate.model_runs import prompts_for
from tests.cortex.asked_jobs import JOBS, memory, ready, run

T = TypeVar("T", bound=BaseModel)
MARK: Final = "\n{# user #}\n"


class Listening:
    """A model that keeps what it is asked, and answers nothing."""

    name = "listening"

    def __init__(self) -> None:
        """Listen."""
        self.heard: list[tuple[str, str]] = []

    def ask(self, schema: type[T], system: str, user: str) -> T:
        """Return an empty answer."""
        self.heard.append((system, user))
        empty: dict[str, Any] = {
            name: [] for name, field in schema.model_fields.items() if field.is_required()
        }
        return schema.model_validate(empty)


@pytest.fixture(params=JOBS)
def job(request: pytest.FixtureRequest) -> str:
    """Return each job that asks a model."""
    return str(request.param)


def own(store: Path, job: str) -> Path:
    """Return where a scope's own prompt of a job stands."""
    path = store / "prompts" / f"{job}.j2"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def put(path: Path, source: str | bytes | None) -> None:
    """Put a prompt there; ``None`` is a folder in its place."""
    if source is None:
        path.mkdir()
    elif isinstance(source, bytes):
        path.write_bytes(source)
    else:
        path.write_text(source, encoding="utf-8")


BROKEN: Final = {
    "class": ("{{ today.__class__.__mro__ }}{{ most.__class__ }}" + MARK, "line 1: "),
    "globals": ("a\n{{ render.__globals__ }}" + MARK, "line 2: "),
    "attr": ("{{ most|attr('__class__') }}" + MARK, "line 1: the filter 'attr' is not allowed"),
    "include": ("{% include '/etc/passwd' %}" + MARK, "line 1: 'Include' is not allowed"),
    "import": ("{% import 'os' as os %}" + MARK, "line 1: 'Import' is not allowed"),
    "endless": ("{% for a in range(10**12) %}x{% endfor %}" + MARK, "line 1: this loop is not"),
    "huge-text": ("a" + MARK + "\n{{ 'x' * 10**12 }}", "line 4: 'Mul' is not allowed"),
    "unknown": ("a\nb\n{{ nothing }}" + MARK, "line 3: 'nothing' is undefined"),
    "syntax": ("a\n{% if %}" + MARK, "line 2: "),
    "no-mark": ("hello", "has 0 lines {# user #}"),
    "marks": (MARK * 3, "has 3 lines {# user #}"),
    "10-mb": ("x" * 10_000_000 + MARK, "has more than 16000 characters"),
    "deep": ("{{ " + "(" * 3000 + "most" + ")" * 3000 + " }}" + MARK, "line 1: "),
    "bytes": (b"\xff" + MARK.encode(), "line 1: is not UTF-8"),
    "folder": (None, "is a folder where a file should be"),
}


@pytest.mark.parametrize("source, why", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_prompt_is_named_with_its_line_and_nobody_is_asked(
    source: str | bytes | None, why: str, cortex: Cortex
) -> None:
    ready("replay", cortex)
    put(own(cortex.scopes.stores[1].root, "replay"), source)
    before = memory(cortex, lambda path: path.suffix == ".j2")
    model = Listening()
    told = run("replay", cortex, model)
    assert len(told.refusals) == 1
    assert "prompts/replay.j2" in told.refusals[0]
    assert why in told.refusals[0]
    assert told.refusals[0].isprintable()
    assert model.heard == []
    assert memory(cortex, lambda path: path.suffix == ".j2") == before


def test_a_broken_prompt_of_one_job_stops_no_other_and_is_tried_again_when_mended(
    cortex: Cortex,
) -> None:
    ready("identity", ready("cerebellum", ready("replay", cortex)))
    path = own(cortex.scopes.stores[1].root, "replay")
    for _ in range(4):  # more often than an answer of no use is tried
        put(path, "hello")
        model = Listening()
        assert "has 0 lines" in run("replay", cortex, model).refusals[0]
    assert cortex.sleep().failed == {}
    path.unlink()
    model = Listening()
    assert run("replay", cortex, model).refusals == ()
    assert len(model.heard) == 1


def test_a_prompt_of_ten_megabytes_costs_no_more_than_itself(cortex: Cortex) -> None:
    ready("replay", cortex)
    put(own(cortex.scopes.stores[1].root, "replay"), "{{ most }}" * 1_000_000 + MARK)
    run("replay", cortex, Listening())
    tracemalloc.start()
    try:
        run("replay", cortex, Listening())
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
    finally:
        tracemalloc.stop()


def test_a_prompt_of_ones_own_takes_the_place_of_ours(job: str, cortex: Cortex) -> None:
    ready(job, cortex)
    put(own(cortex.scopes.stores[0].root, job), "Mine." + MARK + "Listen.")
    model = Listening()
    run(job, cortex, model)
    assert model.heard == [("Mine.", "Listen.")]


@pytest.mark.parametrize("job", ["identity", "compaction"])
def test_what_is_about_all_projects_is_not_asked_in_the_words_of_one(
    job: str, cortex: Cortex
) -> None:
    put(own(cortex.scopes.stores[1].root, job), "Theirs." + MARK)
    assert prompts_for(cortex.scopes, job, "global") == {}
    if job == "identity":
        ready(job, cortex)
    else:
        for number in range(21):
            cortex.scopes.global_hc.encode_lesson(f"Drawer {number} is locked")
    cortex.scopes.model = model = Listening()
    cortex.sleep()
    if job == "compaction":
        compact(cortex.scopes)
    assert len(model.heard) == (1 if job == "identity" else 2)
    assert all("Theirs." not in system for system, _ in model.heard)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no such files there")
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_a_prompt_leads_out_of_no_scope_and_is_waited_for_by_nobody(
    kind: str, cortex: Cortex, tmp_path: Path
) -> None:
    ready("replay", cortex)
    path = own(cortex.scopes.stores[1].root, "replay")
    (tmp_path / "secret").write_text("hunter2" + MARK, encoding="utf-8")
    if kind == "link":
        path.symlink_to(tmp_path / "secret")
    else:
        os.mkfifo(path)
    with pytest.raises(StoreError, match=r"replay\.j2: is a (link|pipe)"):
        prompts_for(cortex.scopes, "replay")
    model = Listening()
    assert run("replay", cortex, model).refusals
    assert model.heard == []
