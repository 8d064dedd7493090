"""Memory as values under keys in namespaces, as frameworks for agents keep them."""

__all__: list[str] = []
