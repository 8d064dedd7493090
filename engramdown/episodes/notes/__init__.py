"""Working notes: free text that an agent keeps on a running conversation."""

__all__: list[str] = []
