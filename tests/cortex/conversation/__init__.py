"""What must be true of engramdown/cortex/conversation."""
