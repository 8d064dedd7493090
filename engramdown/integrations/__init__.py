"""Memory for other programs and libraries, each of which is an extra.

Import from their modules: ``engramdown.integrations.langgraph``, ``.openai_agents``,
``.pydantic_ai``, ``.anthropic_memory``, and ``.memory_folder`` for any other client.
"""

from engramdown.lazy import door

__getattr__, __dir__ = door(__name__)
