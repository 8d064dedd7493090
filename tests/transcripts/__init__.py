"""What must be true of engramdown/transcripts."""
