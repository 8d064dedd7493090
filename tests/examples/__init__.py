"""What must be true of examples/."""
