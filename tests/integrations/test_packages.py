"""Who imports an adapter without its package is told what to install."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.slow
@pytest.mark.parametrize(
    "adapter, package, command",
    [
        ("anthropic_memory", "anthropic.lib.tools", "pip install -U 'engramdown[anthropic]'"),
        ("langgraph", "langgraph.store.base", "pip install 'engramdown[langgraph]'"),
        ("openai_agents", "agents", "pip install -U 'engramdown[openai-agents]'"),
        ("pydantic_ai", "pydantic_ai", "pip install -U 'engramdown[pydantic-ai]'"),
    ],
)
def test_without_its_package_one_is_told_what_to_install(
    child_env: dict[str, str], adapter: str, package: str, command: str
) -> None:
    script = (
        f"import sys; sys.modules[{package!r}] = None\nimport engramdown.integrations.{adapter}\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=child_env,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 1
    assert command in done.stderr
