"""What is of this language alone; everything else is in the suite."""

import asyncio
import base64
import importlib.metadata
import inspect
import json
import logging
import pickle
import pprint
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

import dwar_client
from dwar_client import (
    AsyncDwar,
    AsyncSession,
    AsyncTokenVerifier,
    Dwar,
    DwarError,
    Session,
    Tokens,
    TokenVerifier,
    verify_event,
)

URL = "https://otp.example.com"
KEY = "svc_test_1"
SECRET = "the secret of this backend, 32 characters"
TOKENS = Tokens(
    access_token="at_secret",
    refresh_token="svc_rt_secret",
    token_type="Bearer",
    expires_in=900,
    refresh_expires_in=2592000,
    session_id="s1",
    identity_id="i1",
)

both_styles = pytest.mark.parametrize("kind", [Dwar, AsyncDwar])


def outcome(kind: Any, url: str, use: Callable[[Any], Any], **options: Any) -> Any:
    """The result of a client of this kind, which is closed afterwards."""

    async def asynchronous() -> Any:
        async with AsyncDwar(url, KEY, **options) as dwar:
            return await use(dwar)

    if kind is AsyncDwar:
        return asyncio.run(asynchronous())
    with Dwar(url, KEY, **options) as dwar:
        return use(dwar)


def answering(answer: Callable[[httpx.Request], httpx.Response]) -> httpx.Client:
    return httpx.Client(transport=httpx.MockTransport(answer), follow_redirects=True)


@contextmanager
def server(play: Callable[[socket.socket], None]) -> Iterator[str]:
    """Plays one connection after the other."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    play(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def head_of(request: socket.socket) -> bytes:
    received = b""
    while b"\r\n\r\n" not in received:
        part = request.recv(65536)
        if not part:
            break
        received += part
    return received


@both_styles
def test_a_cut_connection_that_was_used_before_is_no_reason_for_httpx_to_send_again(kind: Any) -> None:
    requests: list[bytes] = []
    connections = 0

    def play(connection: socket.socket) -> None:
        nonlocal connections
        connections += 1
        while received := head_of(connection):
            requests.append(received.split(b" ", 2)[1])
            if b"/v1/otp/verify" in received:
                return
            connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{"id":"i1"}')

    def use(dwar: Any) -> Any:
        if isinstance(dwar, Dwar):
            dwar.identity("i1")
            return dwar.verify("9876543210", "123456")
        return use_async(dwar)

    async def use_async(dwar: AsyncDwar) -> Any:
        await dwar.identity("i1")
        await dwar.verify("9876543210", "123456")

    with server(play) as url, pytest.raises(DwarError, match="NETWORK_ERROR"):
        outcome(kind, url, use)
    assert requests == [b"/v1/identity/i1", b"/v1/otp/verify"]
    assert connections == 1


@both_styles
def test_the_time_limit_holds_for_headers_that_come_drop_by_drop(kind: Any) -> None:
    def play(connection: socket.socket) -> None:
        head_of(connection)
        try:
            for byte in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 30:
                connection.sendall(bytes([byte]))
                time.sleep(0.05)
        except OSError:
            pass

    with server(play) as url:
        started = time.monotonic()
        with pytest.raises(DwarError, match="NETWORK_ERROR: no answer within the time limit"):
            outcome(kind, url, lambda dwar: dwar.logout("at_1"), timeout=0.3)
        assert time.monotonic() - started < 1


def test_the_thread_of_a_late_call_ends_by_itself() -> None:
    def play(connection: socket.socket) -> None:
        head_of(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        try:
            for _ in range(1000):
                connection.sendall(b"x")
                time.sleep(0.01)
        except OSError:
            pass

    def left_behind() -> list[threading.Thread]:
        return [thread for thread in threading.enumerate() if thread.name == "dwar-client"]

    with server(play) as url, Dwar(url, KEY, timeout=0.2) as dwar:
        with pytest.raises(DwarError, match="NETWORK_ERROR: no answer within the time limit"):
            dwar.logout("at_1")
        for thread in left_behind():
            thread.join(1)
        assert not left_behind()


@both_styles
def test_an_http_client_is_given_as_a_function_that_makes_it(kind: Any) -> None:
    with httpx.Client() as http_client, pytest.raises(ValueError, match="http_client must be a function"):
        kind(URL, KEY, http_client=http_client)


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf")])
def test_a_time_limit_of_nothing_is_refused(timeout: float) -> None:
    with pytest.raises(ValueError, match="timeout"):
        Dwar(URL, KEY, timeout=timeout)


def test_an_http_client_that_the_application_makes_is_used_and_closed_and_follows_no_redirect() -> None:
    seen = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append((str(request.url), request.headers["X-Api-Key"]))
        return httpx.Response(307, headers={"Location": "/elsewhere"})

    with answering(answer) as http_client:
        with Dwar(URL, KEY, http_client=lambda **_: http_client) as dwar, pytest.raises(DwarError) as raised:
            dwar.identity("i1")
        assert http_client.is_closed
    assert raised.value.status == 307
    assert seen == [("https://otp.example.com/v1/identity/i1", KEY)]


@pytest.mark.parametrize("id", ["..", ".", "a/../b?c#d", "é"])
def test_an_id_stays_one_segment_of_the_path(id: str) -> None:
    paths = []

    def answer(request: httpx.Request) -> httpx.Response:
        paths.append(request.url.raw_path)
        return httpx.Response(200, json={"id": id})

    with answering(answer) as http_client:
        Dwar(URL, KEY, http_client=lambda **_: http_client).identity(id)
    assert [path.count(b"/") for path in paths] == [3]
    assert b"?" not in paths[0] and not paths[0].endswith((b"/.", b"/.."))


def test_tokens_are_complete_as_json_though_they_are_not_printed() -> None:
    messages = {"messages": [{"code": "482913", "text": "482913 is your code"}]}

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=messages if request.method == "GET" else TOKENS)

    with answering(answer) as http_client:
        dwar = Dwar(URL, KEY, http_client=lambda **_: http_client)
        for found, whole in ((dwar.refresh("svc_rt_0"), TOKENS), (dwar.sandbox_messages("9876543210"), messages)):
            assert json.loads(json.dumps(found)) == whole
            printed = f"{found} {found!r} {pprint.pformat(found)}"
            assert "secret]" in printed
            for secret in ("at_secret", "svc_rt_secret", "482913"):
                assert secret not in printed


def test_logs_show_no_secret(service: dict[str, str], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with Dwar(service["url"], service["test_key"]) as dwar:
        dwar.send("9876543211")
        code = dwar.sandbox_messages("9876543211")["messages"][0]["code"]
        tokens = dwar.verify("9876543211", code)
        dwar.logout(tokens["access_token"])
        dwar.identity_by_phone("9876543211")
    assert "/v1/otp/verify" in caplog.text
    assert "/v1/identity " in caplog.text
    for secret in (service["test_key"], "9876543211", code, tokens["access_token"], tokens["refresh_token"]):
        assert secret not in caplog.text


def test_an_error_survives_pickling() -> None:
    error = DwarError("INVALID_OTP", "The code is incorrect.")
    error.status, error.remaining, error.request_id = 400, 2, "r1"
    copy = pickle.loads(pickle.dumps(error))
    assert vars(copy) == vars(error)
    assert str(copy) == "INVALID_OTP: The code is incorrect. (status 400, request r1)"


def test_what_is_nested_too_deeply_is_refused() -> None:
    header = base64.urlsafe_b64encode(b"[" * 3000).decode().rstrip("=")
    with TokenVerifier(URL, "project-1") as verifier, pytest.raises(DwarError, match="INVALID_ACCESS_TOKEN"):
        verifier.verify(f"{header[:4000]}.e30.AA")
    with answering(lambda _: httpx.Response(200, text="[" * 100_000)) as http_client:
        with pytest.raises(DwarError, match="UNKNOWN_ERROR"):
            Dwar(URL, KEY, http_client=lambda **_: http_client).logout("at_1")


@pytest.mark.parametrize("header", [b'{"alg":[]}', b'{"alg":"ES256","typ":"at+jwt","kid":[]}', b'{"alg":NaN}'])
def test_a_token_with_values_of_other_types_is_refused(header: bytes) -> None:
    token = base64.urlsafe_b64encode(header).decode().rstrip("=") + ".e30.AA"
    with TokenVerifier(URL, "project-1") as verifier, pytest.raises(DwarError, match="INVALID_ACCESS_TOKEN"):
        verifier.verify(token)


def test_one_algorithm_is_given_as_a_list() -> None:
    with pytest.raises(ValueError, match="algorithms"):
        TokenVerifier(URL, "project-1", algorithms="ES256")  # type: ignore[arg-type]


@pytest.mark.parametrize("secret", ["whsec_", "whsec_AAEC ", ["whsec_AAEC", "AAEC"]])
def test_a_secret_of_events_that_is_none_is_refused(secret: str | list[str]) -> None:
    with pytest.raises(ValueError, match="secret must be whsec_ and base64"):
        verify_event({}, b"", secret=secret)


def test_an_event_is_taken_from_the_bytes_of_a_body_and_headers_of_any_kind() -> None:
    headers = httpx.Headers(
        {
            "Webhook-Id": "msg_1",
            "Webhook-Timestamp": "1674087231",
            "Webhook-Signature": "v1,hiSfYKchzkhTeg8BCiooMdjDn0ct8IPJUznfEFWq7Ao=",
        }
    )
    secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
    event = verify_event(headers, b'{"test": 2432232314}', secret=secret, now=lambda: 1674087231)
    assert event.id == "msg_1"
    no_text = {**headers, "webhook-signature": "v1,\udcff"}
    with pytest.raises(DwarError, match="WEBHOOK_UNAUTHENTICATED"):
        verify_event(no_text, b"", secret=secret, now=lambda: 1674087231)


def test_a_call_that_is_cancelled_does_not_end_the_refresh_that_others_wait_for() -> None:
    refreshes = 0

    async def answer(_: httpx.Request) -> httpx.Response:
        nonlocal refreshes
        refreshes += 1
        await asyncio.sleep(0.1)
        return httpx.Response(200, json={**TOKENS, "access_token": "at_2"})

    async def play() -> None:
        stored: Any = None

        async def load() -> Any:
            return stored

        async def save(tokens: Any) -> None:
            nonlocal stored
            stored = tokens

        async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http_client:
            dwar = AsyncDwar(URL, KEY, http_client=lambda **_: http_client)
            session = AsyncSession(dwar, load=load, save=save, secret=SECRET)
            await session.begin({**TOKENS, "expires_in": 0})
            first, second = (asyncio.ensure_future(session.access_token()) for _ in range(2))
            await asyncio.sleep(0.05)
            first.cancel()
            assert await second == "at_2"
            assert first.cancelled()

    asyncio.run(play())
    assert refreshes == 1


def test_who_waits_for_a_thread_that_is_interrupted_takes_over() -> None:
    stored: Any = None
    loads = 0
    waiting = threading.Event()

    def load() -> Any:
        nonlocal loads
        loads += 1
        if loads == 2:  # The first thread looks again before it refreshes.
            waiting.wait()
            raise KeyboardInterrupt
        return stored

    def save(tokens: Any) -> None:
        nonlocal stored
        stored = tokens

    def interrupted() -> None:
        with pytest.raises(KeyboardInterrupt):
            session.access_token()

    with answering(lambda _: httpx.Response(200, json={**TOKENS, "access_token": "at_2"})) as http_client:
        session = Session(Dwar(URL, KEY, http_client=lambda **_: http_client), load=load, save=save, secret=SECRET)
        session.begin({**TOKENS, "expires_in": 0})
        first = threading.Thread(target=interrupted)
        first.start()
        while loads < 2:
            time.sleep(0.01)
        threading.Timer(0.1, waiting.set).start()
        assert session.access_token() == "at_2"
        first.join()


def test_both_styles_have_the_same_methods_and_defaults() -> None:
    for one, other in ((Dwar, AsyncDwar), (Session, AsyncSession), (TokenVerifier, AsyncTokenVerifier)):
        assert defaults(one) == defaults(other)
        names = {name.replace("aclose", "close") for name in dir(other) if not name.startswith("_")}
        assert {name for name in dir(one) if not name.startswith("_")} == names
        for name in names - {"close", "call"}:
            assert inspect.signature(getattr(one, name)) == inspect.signature(getattr(other, name))
            assert getattr(one, name).__doc__


def defaults(kind: type) -> dict[str, Any]:
    return {name: parameter.default for name, parameter in inspect.signature(kind).parameters.items()}


def test_an_asynchronous_function_is_refused_where_nothing_waits_for_it() -> None:
    async def load() -> None: ...

    async def save(_: Any) -> None: ...

    for options in ({"load": load, "save": print}, {"load": lambda: None, "save": save}):
        with pytest.raises(ValueError, match="Async"):
            Session(Dwar(URL, KEY), secret=SECRET, **options)  # type: ignore[arg-type]


def test_with_asyncio_a_store_may_be_asynchronous_or_not() -> None:
    stored: Any = {}

    async def play() -> str:
        async with AsyncDwar(URL, KEY) as dwar:
            session = AsyncSession(dwar, load=lambda: stored, save=stored.update, secret=SECRET)
            await session.begin(TOKENS)
            return await session.access_token()

    assert asyncio.run(play()) == "at_secret"


@pytest.mark.parametrize(
    "stored",
    [
        {},
        "",
        [],
        dict(TOKENS),
        {**TOKENS, "expires_at": "2030-01-01"},
        {**TOKENS, "expires_at": True},
        {**TOKENS, "expires_at": 0, "refresh_token": ""},
        {**TOKENS, "expires_at": 0, "refresh_token": None},
        {**TOKENS, "expires_at": 1 << 40, "access_token": b"at_1"},
    ],
    ids=lambda stored: str(type(stored)),
)
def test_a_stored_session_that_cannot_be_read_is_over(stored: Any) -> None:
    with answering(lambda request: pytest.fail("the service was asked")) as http_client:
        session = Session(
            Dwar(URL, KEY, http_client=lambda **_: http_client), load=lambda: stored, save=lambda _: None, secret=SECRET
        )
        for use in (session.access_token, lambda: session.call(str)):
            with pytest.raises(DwarError, match="SESSION_EXPIRED: the stored session cannot be read") as caught:
                use()
            assert "secret" not in str(caught.value)


def test_an_error_of_the_store_is_passed_on() -> None:
    session = Session(Dwar(URL, KEY), load=lambda: json.loads(""), save=lambda _: None, secret=SECRET)
    with pytest.raises(json.JSONDecodeError):
        session.access_token()


def test_the_version_is_that_of_the_package() -> None:
    assert dwar_client.__version__ == importlib.metadata.version("dwar-client")
