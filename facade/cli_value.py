"""Values of options: who (`KIND:ID`), and how long (`10m`). Each is a callback of click's."""

import re
from datetime import timedelta
from typing import Final

import click
from pydantic import ValidationError

from temperance.runtime.actor import Actor

PERSON: Final = "KIND:ID"

_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_LONGEST: Final = timedelta(days=3650)


def person(ctx: click.Context, param: click.Parameter, value: str | None) -> Actor | None:
    """Who is named, such as ``user:ada``; what was given is not repeated.

    Raises:
        click.BadParameter: Nobody in particular is.
    """
    if value is None:
        return None
    if ":" not in value:
        raise click.BadParameter("write KIND:ID, such as user:ada", ctx, param)
    try:
        actor = Actor.from_text(value)
    except ValidationError as error:
        problem = error.errors(include_input=False)[0]
        raise click.BadParameter(f"{problem['loc'][0]}: {problem['msg']}", ctx, param) from None
    if actor.kind == "anonymous":
        raise click.BadParameter("name somebody: user, service or automation", ctx, param)
    return actor


def age(ctx: click.Context, param: click.Parameter, value: str | None) -> timedelta | None:
    """A length of time: ``90s``, ``10m``, ``2h`` or ``1d``.

    Raises:
        click.BadParameter: It is none.
    """
    if value is None:
        return None
    found = re.fullmatch(r"(\d{1,9})([smhd])", value, re.ASCII)
    if found is None:
        raise click.BadParameter("write a number and s, m, h or d, such as 10m", ctx, param)
    length = timedelta(seconds=int(found[1]) * _UNITS[found[2]])
    if length > _LONGEST:
        raise click.BadParameter("at most 3650d", ctx, param)
    return length
