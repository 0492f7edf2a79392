"""What tokens cost is what the settings say, and nothing without them."""

from decimal import Decimal

import pytest

from densemem.providers.base import Usage
from densemem.providers.prices import cost_micros, read_prices

PRICES = read_prices("small-1=0.80/4, large-1=3/15,vendor/x=y=1/2,")


class TestReadPrices:
    """read_prices."""

    def test_reads_one_entry_for_each_model(self) -> None:
        assert {
            "small-1": (Decimal("0.80"), Decimal(4)),
            "large-1": (Decimal(3), Decimal(15)),
            "vendor/x=y": (Decimal(1), Decimal(2)),
        } == PRICES
        assert read_prices("") == {}

    @pytest.mark.parametrize("text", ["m", "m=", "m=1", "m=1/2/3", "m=a/b", "=1/2", "m=-1/2", "m=NaN/1", "m=1/1e30"])
    def test_says_how_a_price_is_given(self, text: str) -> None:
        with pytest.raises(ValueError, match=r"MODEL_PRICES is given as model=in/out"):
            read_prices(text)


class TestCostMicros:
    """cost_micros."""

    @pytest.mark.parametrize(
        ("model", "usage", "micros"),
        [
            ("large-1", Usage(1_000_000, 0), 3_000_000),
            ("large-1", Usage(0, 1_000_000), 15_000_000),
            ("small-1", Usage(1, 0), 1),  # a part of a millionth counts as one
            ("small-1", Usage(), 0),
            ("large-1-20250101", Usage(1, 1), 18),
            ("large-1-5", Usage(1, 1), 0),
            ("large", Usage(1, 1), 0),
            ("", Usage(1, 1), 0),
        ],
    )
    def test_is_exact_for_the_model_that_answered(self, model: str, usage: Usage, micros: int) -> None:
        assert cost_micros(usage, model=model, prices=PRICES) == micros
