"""The soak: mixed load for a long time, and whether worker and server stay the size they are."""
