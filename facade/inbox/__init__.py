"""The web inbox: a page on which people decide approvals (G3, DESIGN section 7).

    settings     who decides, and under which address people reach it
    visitor      who is at the door: the one approver, or whom the login in front of it names
    session      cookies and the tokens without which nothing is decided
    guard        which addresses are answered, and the headers of every answer
    pages        what a person sees
    site         the ASGI application
    serving      the server

Server-rendered and without scripts. It needs the extra `inbox` (starlette, jinja2 and uvicorn).
"""
