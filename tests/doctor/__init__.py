"""What must be true of engramdown/doctor."""
