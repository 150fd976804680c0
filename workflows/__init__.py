"""What runs inside workflows: deterministic code, no I/O, no clock, no randomness."""
