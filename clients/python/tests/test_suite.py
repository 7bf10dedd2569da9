import pytest

from suite import PLAYS, play


@pytest.mark.parametrize("name", PLAYS)
def test_the_suite_passes(name: str) -> None:
    assert play(name) == 0
