import subprocess
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from suite import PLAYS, command

Plays = dict[str, Future[subprocess.CompletedProcess[str]]]


@pytest.fixture(scope="module")
def plays() -> Iterator[Plays]:
    """Some at a time, since most of what they do is wait."""

    def play(name: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command(name), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    with ThreadPoolExecutor(3) as pool:
        yield {name: pool.submit(play, name) for name in PLAYS}


@pytest.mark.parametrize("name", PLAYS)
def test_the_suite_passes(plays: Plays, name: str) -> None:
    played = plays[name].result()
    print(played.stdout)
    assert played.returncode == 0
