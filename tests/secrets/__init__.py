"""What must be true of engramdown/secrets."""
