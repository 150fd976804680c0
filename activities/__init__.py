"""What runs on the worker: attempts, audit sinks and heartbeats."""
