"""What must be true of engramdown/wording."""
