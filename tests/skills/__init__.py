"""What must be true of engramdown/skills."""
