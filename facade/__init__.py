"""Governed capabilities that run durably on Temporal: the public names."""
