"""What governance costs, measured against the same work written by hand (DESIGN section 12).

Run by ``make bench``, which is ``python -m benchmarks``; docs/performance.md has the results, and
how to read them.
"""
