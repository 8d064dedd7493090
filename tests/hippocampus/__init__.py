"""What must be true of engramdown/hippocampus."""
