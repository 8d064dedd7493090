"""What must be true after a crash or an error at any call."""
