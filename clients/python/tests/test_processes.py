"""Forks, event loops and proxies, by processes of their own."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from dwar_client import AsyncDwar, AsyncSession, Dwar, DwarError, Session
from dwar_client.login._sends import SendLimit
from test_client import KEY, SECRET, TOKENS, URL, outcome

HERE = Path(__file__).parent


class Service:
    """Keeps connections open, and answers with the id that it was asked for after a while."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: dict[Any, list[str]] = defaultdict(list)
        """What came by each connection."""


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


@contextmanager
def service(delay: float = 0) -> Iterator[Service]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked = self.path.rpartition("/")[2]
            found.asked[self.client_address].append(asked)
            time.sleep(delay)
            body = json.dumps({"id": asked, "revoked": True}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.do_GET()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with Server(("127.0.0.1", 0), Handler) as server:
        found = Service(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield found
        finally:
            server.shutdown()
            thread.join()


forks = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def in_child(action: Any) -> int:
    """The exit status of a fork that does this within five seconds."""
    pid = os.fork()
    if pid == 0:
        signal.alarm(5)
        try:
            action()
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_workers_of_gunicorn_share_no_connection_with_what_was_preloaded(tmp_path: Path) -> None:
    with service(0.1) as found:
        command = [sys.executable, "-m", "gunicorn", "--preload", "--workers", "2", "--bind", f"unix:{tmp_path}/socket"]
        with subprocess.Popen(
            [*command, "--log-level", "warning", "forked_app:app"], cwd=HERE, env={**os.environ, "DWAR_URL": found.url}
        ) as gunicorn:
            try:
                answers = asyncio.run(pages(f"{tmp_path}/socket", 20))
            finally:
                gunicorn.terminate()
        workers = {worker for worker, _, _ in answers}
        assert len(workers) == 2
        assert [found for _, _, found in answers] == [asked for _, asked, _ in answers]
        owners = [{one.rpartition("-")[2] for one in asked} for asked in found.asked.values()]
        assert all(len(one) == 1 for one in owners), owners


async def pages(path: str, count: int) -> list[list[str]]:
    """What the workers answer to requests at once: who they are, whom they asked for, and who they got."""
    async with httpx.AsyncClient(transport=httpx.AsyncHTTPTransport(uds=path), timeout=20) as http:
        for _ in range(200):
            try:
                await http.get("http://backend/")
                break
            except httpx.ConnectError:
                await asyncio.sleep(0.05)
        return [page.json() for page in await asyncio.gather(*(http.get("http://backend/") for _ in range(count)))]


@forks
def test_a_fork_makes_an_http_client_of_its_own() -> None:
    with service() as found:
        dwar = Dwar(found.url, KEY, http_client=httpx.Client)
        assert dwar.identity("parent")["id"] == "parent"
        assert in_child(lambda: dwar.identity("child")) == 0
        assert sorted(map(sorted, found.asked.values())) == [["child"], ["parent"]]
        dwar.close()


@forks
def test_a_fork_waits_for_no_thread_that_it_left_behind() -> None:
    loads, loading, go_on = 0, threading.Event(), threading.Event()

    def load() -> Any:
        nonlocal loads
        loads += 1
        if loads == 2:  # The thread looks again before it refreshes.
            loading.set()
            go_on.wait()
        return {**TOKENS, "expires_at": 0}

    http_client = httpx.Client(transport=httpx.MockTransport(lambda _: httpx.Response(200, json=TOKENS)))
    session = Session(
        Dwar(URL, KEY, http_client=lambda **_: http_client), load=load, save=lambda _: None, secret=SECRET
    )
    thread = threading.Thread(target=session.access_token)
    thread.start()
    assert loading.wait(5)
    assert in_child(session.access_token) == 0
    go_on.set()
    thread.join()


@forks
def test_a_lock_that_another_thread_holds_at_a_fork_is_free_in_the_child() -> None:
    sends, held, go_on = SendLimit(1), threading.Event(), threading.Event()

    def hold() -> None:
        with sends._lock():
            held.set()
            go_on.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(5)
    assert in_child(lambda: sends.take(b"1")) == 0
    go_on.set()
    thread.join()


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_event_loops_one_after_the_other_share_a_client() -> None:
    with service() as found:
        dwar = AsyncDwar(found.url, KEY)

        async def ask(last: bool) -> str:
            identity = await dwar.identity("i1")
            if last:
                await dwar.aclose()
            return identity["id"]

        assert asyncio.run(ask(last=True)) == "i1"
        assert asyncio.run(ask(last=True)) == "i1"
        assert asyncio.run(ask(last=False)) == "i1"
        assert asyncio.run(ask(last=True)) == "i1"
    gc.collect()


def test_event_loops_at_once_share_a_session() -> None:
    async def answer(_: httpx.Request) -> httpx.Response:
        await asyncio.sleep(0.2)
        return httpx.Response(200, json={**TOKENS, "access_token": "at_2"})

    def make(**_: Any) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=httpx.MockTransport(answer))

    stored: Any = {**TOKENS, "expires_at": 0}
    dwar = AsyncDwar(URL, KEY, http_client=make)
    session = AsyncSession(dwar, load=lambda: stored, save=lambda _: None, secret=SECRET)
    with ThreadPoolExecutor(2) as pool:
        tokens = list(pool.map(lambda _: asyncio.run(session.access_token()), range(2)))
    assert tokens == ["at_2", "at_2"]


@pytest.mark.parametrize("kind", [Dwar, AsyncDwar])
def test_connections_of_a_busy_backend_are_used_again(kind: Any) -> None:
    async def ask(dwar: AsyncDwar) -> None:
        for _ in range(5):
            await asyncio.gather(*(dwar.identity("i1") for _ in range(50)))

    def use(dwar: Any) -> Any:
        if kind is AsyncDwar:
            return ask(dwar)
        with ThreadPoolExecutor(50) as pool:
            for _ in range(5):
                list(pool.map(dwar.identity, ["i1"] * 50))

    with service(0.02) as found:
        outcome(kind, found.url, use)
        assert len(found.asked) <= 100


@pytest.mark.parametrize("kind", [Dwar, AsyncDwar])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_proxies_of_the_environment_get_no_loopback_traffic(
    kind: Any, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with listening() as proxy, service() as found:
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
            monkeypatch.setenv(name.upper(), f"http://127.0.0.1:{proxy.port}")
        for host in ("127.0.0.1", "localhost"):
            url = found.url.replace("http", scheme).replace("127.0.0.1", host)
            try:
                outcome(kind, url, lambda dwar: dwar.identity("i1"), timeout=2)
            except DwarError:
                assert scheme == "https"  # The service speaks no TLS.
        assert proxy.connections == 0
        with pytest.raises(DwarError):
            outcome(kind, URL, lambda dwar: dwar.logout("at_1"), timeout=2)
        assert proxy.connections == 1


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Listening]:
    """The proxy of the environment."""
    with listening() as found:
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{found.port}")
            monkeypatch.setenv(name.upper(), f"http://127.0.0.1:{found.port}")
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        yield found


HTTP: dict[Any, Any] = {Dwar: httpx.Client, AsyncDwar: httpx.AsyncClient}
both_styles = pytest.mark.parametrize("kind", [Dwar, AsyncDwar])


def identity(dwar: Any) -> Any:
    return dwar.identity("i1")


@both_styles
@pytest.mark.parametrize("options", [{"timeout": 5}, {"mounts": {"all://127.0.0.1": None}}], ids=str)
def test_an_http_client_that_the_application_makes_spares_loopback_too(
    kind: Any, options: Any, proxy: Listening
) -> None:
    with service() as found:
        assert outcome(kind, found.url, identity, http_client=partial(HTTP[kind], **options))["id"] == "i1"
        assert proxy.connections == 0
    with pytest.raises(DwarError):
        made = partial(HTTP[kind], **options)
        outcome(kind, URL, lambda dwar: dwar.logout("at_1"), http_client=made, timeout=2)
    assert proxy.connections == 1


@both_styles
def test_a_proxy_that_the_application_names_gets_loopback_traffic(kind: Any) -> None:
    with listening() as own:
        made = partial(HTTP[kind], proxy=f"http://127.0.0.1:{own.port}")
        with pytest.raises(DwarError):
            outcome(kind, "http://127.0.0.1:9", lambda dwar: dwar.logout("at_1"), http_client=made, timeout=2)
        assert own.connections == 1


@both_styles
@pytest.mark.parametrize("wrong", ["socks://127.0.0.1:1080", "socks5://127.0.0.1:1080", "http://127.0.0.1:port"])
def test_proxies_that_httpx_does_not_take_do_no_harm_on_loopback_and_are_an_error_of_the_network_elsewhere(
    kind: Any, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, wrong)
    with service() as found:
        assert outcome(kind, found.url, identity)["id"] == "i1"
    with pytest.raises(DwarError, match="proxies of the environment") as caught:
        outcome(kind, URL, lambda dwar: dwar.logout("at_1"))
    assert caught.value.code == "NETWORK_ERROR" and caught.value.__cause__ is not None


@both_styles
def test_certificates_of_the_environment_count_on_loopback_too(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/no/such/file.pem")
    with pytest.raises(DwarError) as caught:
        outcome(kind, "https://127.0.0.1:9", lambda dwar: dwar.logout("at_1"))
    assert isinstance(caught.value.__cause__, FileNotFoundError)


class Listening:
    def __init__(self, port: int) -> None:
        self.port = port
        self.connections = 0


@contextmanager
def listening() -> Iterator[Listening]:
    """A proxy that counts who comes."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        found = Listening(listener.getsockname()[1])

        def accept() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                found.connections += 1
                connection.close()

        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield found
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
