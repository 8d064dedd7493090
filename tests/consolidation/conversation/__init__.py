"""What must be true of engramdown/consolidation/conversation."""
