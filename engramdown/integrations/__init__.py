"""Memory in the terms of other programs and libraries, each of which is an extra.

Import what you need from its module: ``engramdown.integrations.langgraph``, ``.openai_agents``,
``.pydantic_ai``, ``.anthropic_memory``, and ``.memory_folder`` for any other client.
"""

__all__: list[str] = []
