"""What tokens cost. No price is built in: without a setting a call costs nothing that we know of."""

import math
import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Final

from densemem.providers.base import Usage

Prices = Mapping[str, tuple[Decimal, Decimal]]
"""Model -> (US dollars for a million tokens in, for a million tokens out)."""

_DATE: Final = re.compile(r"-\d{8}$")  # vendors answer to a name, and tell the dated model behind it
_MOST: Final = 1_000_000
_RULE: Final = (
    "A price of MODEL_PRICES is given as model=in/out, in US dollars for a million tokens, "
    "for example: small-1=0.80/4,large-1=3/15"
)


def read_prices(text: str) -> Prices:
    """
    Return the prices that a setting gives, such as `small-1=0.80/4,large-1=3/15`.

    :raises ValueError: with the form that is wanted
    """
    return dict(_price(entry.strip()) for entry in text.split(",") if entry.strip())


def cost_micros(usage: Usage, *, model: str, prices: Prices) -> int:
    """Return what a call cost in millionths of a US dollar, rounded up; 0 where no price is known."""
    price_in, price_out = prices.get(model) or prices.get(_DATE.sub("", model)) or (Decimal(0), Decimal(0))
    return math.ceil(usage.tokens_in * price_in + usage.tokens_out * price_out)


def _price(entry: str) -> tuple[str, tuple[Decimal, Decimal]]:
    """Return the model and the two prices of one entry."""
    model, _, both = entry.rpartition("=")
    try:
        price_in, price_out = (Decimal(part) for part in both.split("/"))
    except (InvalidOperation, ValueError):
        raise ValueError(_RULE) from None
    if not model or not all(price.is_finite() and 0 <= price <= _MOST for price in (price_in, price_out)):
        raise ValueError(_RULE)
    return model, (price_in, price_out)
