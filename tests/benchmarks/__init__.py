"""What must be true of benchmarks."""
