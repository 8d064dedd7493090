"""Memory for other programs and libraries, each of which is an extra.

Import from their modules: ``engramdown.integrations.langgraph``, ``.openai_agents``,
``.pydantic_ai``, ``.anthropic_memory``, and ``.memory_folder`` for any other client.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.integrations.agents_md import BLOCK_BUDGET as BLOCK_BUDGET
    from engramdown.integrations.agents_md import Change as Change
    from engramdown.integrations.agents_md import page as page
    from engramdown.integrations.agents_md import read as read
    from engramdown.integrations.agents_md import write as write

__getattr__, __dir__ = door(
    __name__, {"agents_md": ["BLOCK_BUDGET", "Change", "page", "read", "write"]}
)
