"""The web inbox: a page on which people decide approvals (G3, DESIGN section 7).

It needs the extra `inbox` (starlette, jinja2 and uvicorn).
"""
