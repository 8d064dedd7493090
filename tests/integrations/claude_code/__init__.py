"""What must be true of engramdown/integrations/claude_code."""
