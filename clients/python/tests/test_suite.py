import pytest

from suite import play


@pytest.mark.parametrize("style", ["asyncio", "blocking"])
def test_the_suite_passes(style: str) -> None:
    assert play(style) == 0
