"""What must be true of engramdown/integrations."""
