"""Deterministic code for inside workflows: no I/O, no clock, no randomness (DESIGN section 3)."""

from .invoker import Invoker

__all__ = ["Invoker"]
