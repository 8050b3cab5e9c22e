"""Hooks of Schemathesis for `npm run schemathesis`."""

import itertools

import schemathesis

numbers = itertools.count()


@schemathesis.hook
def before_call(context, case, kwargs):
    """Gives each request an address of its own: the gateway limits refused API keys per address with 429."""
    number = next(numbers)
    case.headers["X-Forwarded-For"] = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
