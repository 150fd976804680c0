"""A support desk: a scripted agent answers tickets, and `temperance` governs what it may do.

The shop, its payment gateway, its warehouse and its mail server are real SQLite files, the server
is the real Temporal server, and the workers are processes of their own: what the demo shows is what
happened.

Read in this order: `capabilities` (what may be done), `workflow` (who asks), `agent` (what is
asked), `shop` and `gateway` (what is done), and `__main__` (the demo).
"""
