"""Hooks of Schemathesis for `npm run schemathesis`."""

import random

import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    """Gives each request an address of its own: the gateway limits refused API keys per address with 429."""
    address = ".".join(str(random.randint(1, 254)) for _ in range(3))
    case.headers["X-Forwarded-For"] = f"10.{address}"
