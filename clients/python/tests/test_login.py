"""The login apart from what the suite of the contract plays: hooks, limits and what an application may do wrong."""

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from dwar_client import AsyncDwar, AsyncTokenVerifier, Dwar, DwarError, TokenVerifier
from dwar_client.login import AsyncLogin, Login, LoginAnswer, LoginRequest, Refusal
from dwar_client.login._sends import SendLimit, network_of

URL = "https://otp.example.com"
SECRET = "the secret of this backend, 32 characters"
ORIGIN = "https://shop.example"
SENT = {"otp_id": "o1", "expires_in": 600}
SUITE = Path(__file__).parents[2] / "suite/login"
ORIGINS = json.loads((SUITE / "origins.json").read_text())
ADDRESSES = json.loads((SUITE / "addresses.json").read_text())

Service = Callable[[httpx.Request], httpx.Response]


def login(answer: httpx.Response | Exception | Service, **options: Any) -> Login:
    """A login whose service answers so."""

    def respond(request: httpx.Request) -> httpx.Response:
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, httpx.Response) else answer(request)

    http_client = httpx.Client(transport=httpx.MockTransport(respond))
    dwar = Dwar(URL, "svc_test_1", timeout=0.1, http_client=lambda **_: http_client)
    verifier = TokenVerifier(URL, "p1", http_client=lambda **_: http_client)
    return Login(dwar, verifier, secret=SECRET, **{"origins": [ORIGIN], **options})


def refused(status: int, code: str, **headers: str) -> httpx.Response:
    return httpx.Response(status, json={"error": "A sentence.", "code": code}, headers=headers)


def request(path: str = "/send", address: str = "203.0.113.1", **fields: str) -> LoginRequest:
    headers = {"content-type": "application/json", "origin": ORIGIN}
    return LoginRequest("POST", path, headers, json.dumps(fields).encode(), address)


def outcome(answer: LoginAnswer) -> tuple[int, str | None]:
    return answer.status, json.loads(answer.body).get("code")


def test_admit_sees_the_body_and_may_refuse_which_is_no_send_of_the_address() -> None:
    def admit(request: LoginRequest, body: Mapping[str, Any]) -> Refusal | None:
        return None if body.get("captcha") == "right" else Refusal(403, "CAPTCHA_REQUIRED", "Show that you are human.")

    guarded = login(httpx.Response(200, json=SENT), admit=admit)
    for _ in range(6):
        answer = guarded.answer(request(phone="9876543210"))
        assert outcome(answer) == (403, "CAPTCHA_REQUIRED")
        assert json.loads(answer.body)["error"] == "Show that you are human."
    assert outcome(guarded.answer(request(phone="9876543210", captcha="right"))) == (200, None)


@pytest.mark.parametrize("named", [{}, {"last_line": "FA+9qCX9VSu"}])
def test_each_send_names_the_last_line_of_the_login(named: dict[str, str]) -> None:
    asked: list[dict[str, str]] = []

    def service(request: httpx.Request) -> httpx.Response:
        asked.append(json.loads(request.content))
        return httpx.Response(200, json=SENT)

    outcome(login(service, **named).answer(request(phone="9876543210", last_line="evil.example")))
    assert asked == [{"phone": "9876543210", "visitor": {"address": "203.0.113.1"}, **named}]


def test_a_visitor_is_trusted_only_if_the_application_says_that_the_proof_is_good() -> None:
    visitors: list[Any] = []
    asked: list[tuple[str, str]] = []

    def service(request: httpx.Request) -> httpx.Response:
        visitors.append(json.loads(request.content).get("visitor"))
        return httpx.Response(200, json=SENT)

    def prove(request: LoginRequest, proof: str) -> Any:
        asked.append((request.path, proof))
        return {"right": True, "wrong": False}.get(proof, "yes")

    careful = login(service, prove=prove)
    for proof in ("", "wrong", "odd", "right"):
        claimed = {"trusted": "true", "visitor": "trusted"}
        assert careful.answer(request(phone="9876543210", proof=proof, **claimed)).status == 200
    unproven = {"address": "203.0.113.1"}
    assert visitors == [unproven, unproven, unproven, {**unproven, "trusted": True}]
    assert asked == [("/send", "wrong"), ("/send", "odd"), ("/send", "right")]
    for fields in ({"proof": "right"}, {}):
        careful.answer(request(phone="9876543210", address="", **fields))
    assert visitors[4:] == [{"trusted": True}, None]
    login(service).answer(request(phone="9876543210", proof="right"))
    assert visitors[6:] == [unproven]


@pytest.mark.parametrize("network", [case["network"] for case in ADDRESSES if case["network"]])
def test_the_service_is_told_the_network(network: str) -> None:
    def service(asked: httpx.Request) -> httpx.Response:
        assert network_of(json.loads(asked.content)["visitor"]["address"]) == network_of(network)
        return httpx.Response(200, json=SENT)

    assert login(service).answer(request(phone="9876543210", address=network)).status == 200


def test_a_fault_is_told_to_the_application_and_not_to_the_person() -> None:
    errors: list[DwarError] = []
    poor = login(refused(402, "INSUFFICIENT_BALANCE"), on_error=errors.append)
    answer = poor.answer(request(phone="9876543210"))
    assert outcome(answer) == (503, "LOGIN_UNAVAILABLE")
    assert b"A sentence" not in answer.body
    assert [error.code for error in errors] == ["INSUFFICIENT_BALANCE"]


def test_an_answer_that_login_is_not_possible_names_the_request_of_the_service() -> None:
    faulty = refused(402, "INSUFFICIENT_BALANCE", **{"X-Request-Id": "r1"})
    answer = login(faulty).answer(request(phone="9876543210"))
    assert json.loads(answer.body)["request_id"] == "r1"
    without = login(httpx.ConnectError("no service")).answer(request(phone="9876543210"))
    assert set(json.loads(without.body)) == {"error", "code"}


@pytest.mark.parametrize(
    "service",
    [
        refused(429, "OTP_RATE_LIMITED", **{"Retry-After": "9"}),
        refused(402, "INSUFFICIENT_BALANCE"),
        httpx.ConnectError("no service"),
    ],
)
def test_a_send_counts_only_when_the_code_was_sent(service: httpx.Response | Exception) -> None:
    tried = login(service, sends_per_address=1)
    assert "TOO_MANY_SENDS" not in [outcome(tried.answer(request(phone="9876543210")))[1] for _ in range(3)]


def test_what_cannot_be_a_number_is_refused_in_the_words_of_the_service_and_does_not_count() -> None:
    tried = login(AssertionError("nothing is asked"))
    for _ in range(6):
        answer = tried.answer(request(phone="98765 43210"))
        assert outcome(answer) == (422, "INVALID_PHONE")
        assert "Indian mobile number" in json.loads(answer.body)["error"]


def test_the_application_may_tell_the_address() -> None:
    behind_proxy = login(httpx.Response(200, json=SENT), client_address=lambda request: request.headers["x-real-ip"])
    base = request(phone="9876543210")
    for last in range(6):
        headers = {**base.headers, "x-real-ip": f"203.0.113.{last}"}
        assert behind_proxy.answer(LoginRequest("POST", "/send", headers, base.body, "127.0.0.1")).status == 200


def test_the_application_says_how_many_codes_an_address_gets_and_a_port_makes_no_other_address() -> None:
    guarded = login(httpx.Response(200, json=SENT), sends_per_address=2)
    answers = [guarded.answer(request(phone="9876543210", address=f"192.0.2.1:{port}")) for port in (1, 2, 3)]
    assert [answer.status for answer in answers] == [200, 200, 429]
    for wrong in (0, -1):
        with pytest.raises(ValueError, match="sends_per_address"):
            login(httpx.Response(200, json=SENT), sends_per_address=wrong)


def test_without_an_address_nothing_is_counted_and_the_application_is_told_once() -> None:
    nobody = iter([None, "", "testclient", "192.0.2.1, 192.0.2.2"])
    told: list[DwarError] = []
    tried = login(
        httpx.Response(200, json=SENT),
        sends_per_address=1,
        client_address=lambda request: next(nobody),
        on_error=told.append,
    )
    assert [tried.answer(request(phone="9876543210")).status for _ in range(4)] == [200] * 4
    assert [(error.code, "client_address" in error.message) for error in told] == [("ARGUMENT", True)]
    assert login(httpx.Response(200, json=SENT)).answer(request(phone="9876543210", address="")).status == 200


@pytest.mark.parametrize("case", ORIGINS, ids=lambda case: repr(case["origin"]))
def test_origins_are_those_that_browsers_send(case: dict[str, str]) -> None:
    origins = [ORIGIN, case["origin"]]
    if case["is"] == "allowed":
        login(httpx.Response(200, json=SENT), origins=origins)
        return
    with pytest.raises(ValueError) as caught:
        login(httpx.Response(200, json=SENT), origins=origins)
    assert f'"{case["origin"]}" ' in str(caught.value) and case["is"] in str(caught.value)


@pytest.mark.parametrize("origins", [[], (), ORIGIN, "", None, [None]])
def test_origins_are_a_list_of_at_least_one(origins: Any) -> None:
    with pytest.raises(ValueError, match="origins"):
        login(httpx.Response(200, json=SENT), origins=origins)


def test_whether_somebody_is_logged_in_is_unknown_without_keys() -> None:
    token = "eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6ImsxIn0.e30.AA"
    asked = LoginRequest("GET", "/me", {"authorization": f"Bearer {token}"})
    with pytest.raises(DwarError) as caught:
        login(httpx.ConnectError("no service")).authenticate(asked)
    assert caught.value.code == "NETWORK_ERROR"


def test_the_same_with_asyncio() -> None:
    async def refuse(request: LoginRequest, body: Mapping[str, Any]) -> Refusal | None:
        await asyncio.sleep(0)
        return Refusal(403, "CAPTCHA_REQUIRED", "Show that you are human.") if body["phone"] == "9000000000" else None

    async def answers() -> list[tuple[int, str | None]]:
        transport = httpx.MockTransport(lambda request: httpx.Response(200, json=SENT))
        async with httpx.AsyncClient(transport=transport) as http_client:
            dwar = AsyncDwar(URL, "svc_test_1", http_client=lambda **_: http_client)
            verifier = AsyncTokenVerifier(URL, "p1", http_client=lambda **_: http_client)
            guarded = AsyncLogin(dwar, verifier, secret=SECRET, origins=[ORIGIN], admit=refuse)
            phones = ["9876543210", "9000000000"]
            return [outcome(await guarded.answer(request(phone=phone))) for phone in phones]

    assert asyncio.run(answers()) == [(200, None), (403, "CAPTCHA_REQUIRED")]


def test_no_token_is_printed() -> None:
    asked = LoginRequest("POST", "/verify", {"cookie": "__Host-dwar_refresh=secret"}, b'{"code":"secret"}')
    assert "secret" not in repr(asked) + repr(LoginAnswer(200, (("Set-Cookie", "secret"),), b"secret"))


class Clock:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_sends_are_counted_in_any_ten_minutes() -> None:
    clock = Clock()
    sends = SendLimit(5, clock)
    for clock.seconds in (0, 100, 200, 300, 400):
        sends.take(b"1")
    clock.seconds = 599.5
    with pytest.raises(Refusal) as caught:
        sends.take(b"1")
    assert dict(caught.value.headers) == {"Retry-After": "1"}
    clock.seconds = 600
    sends.take(b"1")
    with pytest.raises(Refusal):
        sends.take(b"1")


@pytest.mark.parametrize("case", ADDRESSES, ids=lambda case: str(case["network"]))
def test_an_address_is_one_however_it_is_written(case: dict[str, Any]) -> None:
    for address in case["addresses"]:
        assert network_of(address) == network_of(case["network"]), address
    assert (network_of(case["network"]) is None) is (case["network"] is None)


def test_another_network_is_another_address() -> None:
    assert len({network_of(case["network"]) for case in ADDRESSES}) == len(ADDRESSES)


def test_the_addresses_that_sent_least_recently_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dwar_client.login._sends._ADDRESSES", 2)
    sends = SendLimit(5)
    for network in (b"1", b"1", b"1", b"1", b"2", b"1", b"3"):
        sends.take(network)
    assert len(sends._sends) == 2
    with pytest.raises(Refusal):
        sends.take(b"1")
