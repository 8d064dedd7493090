"""What a person does in the page, in a real browser."""
