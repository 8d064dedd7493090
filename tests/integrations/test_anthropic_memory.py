"""The real SDK's tool runner edits memory through the memory tool."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from anthropic import Anthropic, AsyncAnthropic
from anthropic.lib.tools import ToolError
from anthropic.types.beta import (
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from engramdown import Cortex
from engramdown.integrations.anthropic_memory import AsyncMemoryTool, MemoryTool
from engramdown.integrations.external_session import lock_of
from tests.integrations.anthropic_server import calls, results, says, serving

RULES = "/memories/rules.md"
STEPS: list[dict[str, Any]] = [
    {"command": "view", "path": "/memories"},
    {"command": "create", "path": RULES, "file_text": "## Always\n- Use uv\n"},
    {"command": "str_replace", "path": RULES, "old_str": "uv", "new_str": "uv, never pip"},
    {"command": "view", "path": RULES},
    {"command": "view", "path": "/memories/../.env"},
    {"command": "fly", "path": RULES},
]


def check(asked: list[Any], cortex: Cortex) -> None:
    """Check what the model was told."""
    assert asked[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    told = [results(each)[0] for each in asked[1:]]
    assert [is_error for _, is_error in told] == [False, False, False, False, True, True]
    texts = [text for text, _ in told]
    assert texts[0].startswith("Here're the files and directories")
    assert texts[1] == f"File created successfully at: {RULES}"
    assert texts[3].split("\n")[-1] == "     3\t- Use uv, never pip"
    assert texts[4].startswith("Path /memories/../.env would escape /memories directory")
    assert texts[5].startswith('Unknown command: "fly"')
    assert [entry.text for entry in cortex.entries()] == ["Use uv, never pip"]


def test_the_tool_runner_views_creates_and_changes(cortex: Cortex) -> None:
    with serving(*map(calls, STEPS), says("Done")) as wire:
        client = Anthropic(base_url=wire.url, api_key="none", max_retries=0)
        runner = client.beta.messages.tool_runner(
            model="small",
            max_tokens=100,
            messages=[{"role": "user", "content": "Remember: uv, never pip"}],
            tools=[MemoryTool(cortex)],
        )
        last = runner.until_done()
        check(wire.asked, cortex)
    assert [block.type for block in last.content] == ["text"]


def test_the_asynchronous_tool_runner_does_the_same(cortex: Cortex) -> None:
    async def run(url: str) -> None:
        async with AsyncAnthropic(base_url=url, api_key="none", max_retries=0) as client:
            runner = client.beta.messages.tool_runner(
                model="small",
                max_tokens=100,
                messages=[{"role": "user", "content": "Remember: uv, never pip"}],
                tools=[AsyncMemoryTool(cortex)],
            )
            await runner.until_done()

    with serving(*map(calls, STEPS), says("Done")) as wire:
        asyncio.run(run(wire.url))
        check(wire.asked, cortex)


def test_several_calls_of_one_message_are_carried_out_in_order(cortex: Cortex) -> None:
    with serving(calls(*STEPS[:4]), says("Done")) as wire:
        client = Anthropic(base_url=wire.url, api_key="none", max_retries=0)
        runner = client.beta.messages.tool_runner(
            model="small",
            max_tokens=100,
            messages=[{"role": "user", "content": "Remember: uv, never pip"}],
            tools=[MemoryTool(cortex)],
        )
        runner.until_done()
        assert [is_error for _, is_error in results(wire.asked[1])] == [False] * 4
    assert [entry.text for entry in cortex.entries()] == ["Use uv, never pip"]


def test_each_command_can_be_called_by_its_name(cortex: Cortex) -> None:
    tool = MemoryTool(cortex)
    path = "/memories/topics/ci.md"
    created = tool.create(
        BetaMemoryTool20250818CreateCommand(command="create", path=path, file_text="- slow\n")
    )
    assert created == f"File created successfully at: {path}"
    tool.insert(
        BetaMemoryTool20250818InsertCommand(
            command="insert", path=path, insert_line=0, insert_text="- cold"
        )
    )
    tool.str_replace(
        BetaMemoryTool20250818StrReplaceCommand(
            command="str_replace", path=path, old_str="slow", new_str="fast"
        )
    )
    new = "/memories/topics/build.md"
    tool.rename(BetaMemoryTool20250818RenameCommand(command="rename", old_path=path, new_path=new))
    view = BetaMemoryTool20250818ViewCommand(command="view", path=new, view_range=[3, 4])
    assert tool.view(view).split("\n")[1:] == ["     3\t- fast", "     4\t- cold"]
    tool.delete(BetaMemoryTool20250818DeleteCommand(command="delete", path=new))
    with pytest.raises(ToolError, match="does not exist"):
        tool.view(view)
    with pytest.raises(ToolError, match="cannot clear memory"):
        tool.clear_all_memory()


def test_each_command_can_be_awaited_by_its_name(cortex: Cortex) -> None:
    tool = AsyncMemoryTool(cortex)
    path = "/memories/topics/ci.md"
    new = "/memories/topics/build.md"

    async def run() -> None:
        await tool.create(
            BetaMemoryTool20250818CreateCommand(command="create", path=path, file_text="- slow\n")
        )
        await tool.insert(
            BetaMemoryTool20250818InsertCommand(
                command="insert", path=path, insert_line=0, insert_text="- cold"
            )
        )
        await tool.str_replace(
            BetaMemoryTool20250818StrReplaceCommand(
                command="str_replace", path=path, old_str="slow", new_str="fast"
            )
        )
        await tool.rename(
            BetaMemoryTool20250818RenameCommand(command="rename", old_path=path, new_path=new)
        )
        view = BetaMemoryTool20250818ViewCommand(command="view", path=new)
        assert (await tool.view(view)).split("\n")[-1] == "     4\t- cold"
        await tool.delete(BetaMemoryTool20250818DeleteCommand(command="delete", path=new))
        with pytest.raises(ToolError, match="cannot clear memory"):
            await tool.clear_all_memory()

    asyncio.run(run())
    assert cortex.entries() == []


def test_a_breakpoint_of_the_cache_is_passed_on(cortex: Cortex) -> None:
    for kind in (MemoryTool, AsyncMemoryTool):
        tool = kind(cortex, "global", cache_control={"type": "ephemeral"})
        assert tool.to_dict()["cache_control"] == {"type": "ephemeral"}
        assert tool.name == "memory"


def test_a_command_that_was_begun_is_carried_out_though_it_is_cancelled(cortex: Cortex) -> None:
    tool = AsyncMemoryTool(cortex)

    async def run() -> None:
        with lock_of(cortex):
            task = asyncio.create_task(tool.call(STEPS[1]))
            await asyncio.sleep(0)
            task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert [entry.text for entry in cortex.entries()] == ["Use uv"]

    asyncio.run(run())
