"""What must be true of Engramdown; the folders mirror the package."""
