"""What the adapters do beyond the suite of the login contract, which plays the examples."""

import asyncio
import json

import httpx
import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import include, path
from fastapi import FastAPI

from dwar_client import AccessClaims, AsyncDwar, AsyncTokenVerifier, Dwar, TokenVerifier
from dwar_client.django import authenticate, login_urls
from dwar_client.fastapi import LoginApp
from dwar_client.login import AsyncLogin, Login

URL = "https://otp.example.com"
SECRET = "the secret of this backend, 32 characters"
ORIGIN = "https://shop.example"
PHONE = {"phone": "9876543210"}


def service(request: httpx.Request) -> httpx.Response:
    """Logs nobody in, and says in its answer which `otp_id` it was asked for."""
    asked = json.loads(request.content)
    if request.url.path == "/v1/otp/verify":
        return httpx.Response(400, json={"error": asked["otp_id"], "code": "INVALID_OTP"})
    return httpx.Response(200, json={"otp_id": "o1", "expires_in": 600})


def blocking_login() -> Login:
    http_client = httpx.Client(transport=httpx.MockTransport(service))
    dwar = Dwar(URL, "svc_test_1", http_client=http_client)
    return Login(dwar, TokenVerifier(URL, "p1", http_client=http_client), secret=SECRET, origins=[ORIGIN])


LOGIN = blocking_login()


@authenticate(LOGIN)
def me(request: HttpRequest, claims: AccessClaims) -> HttpResponse:
    raise AssertionError("nobody is logged in")


urlpatterns = [path("login/", include(login_urls(LOGIN))), path("me", me)]


@pytest.fixture
def django() -> Client:
    return Client(enforce_csrf_checks=True, headers={"origin": ORIGIN})


def post(path: str, body: dict[str, str], cookies: list[tuple[str, str]]) -> httpx.Response:
    """To a FastAPI application that a proxy serves below `/shop`."""

    async def answer() -> httpx.Response:
        http_client = httpx.AsyncClient(transport=httpx.MockTransport(service))
        dwar = AsyncDwar(URL, "svc_test_1", http_client=http_client)
        verifier = AsyncTokenVerifier(URL, "p1", http_client=http_client)
        app = FastAPI()
        app.mount("/login", LoginApp(AsyncLogin(dwar, verifier, secret=SECRET, origins=[ORIGIN])))
        transport = httpx.ASGITransport(app, root_path="/shop")
        async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as page:
            return await page.post(path, json=body, headers=[("origin", ORIGIN), *cookies])

    return asyncio.run(answer())


def test_django_asks_for_no_csrf_token_where_the_login_checks_the_origin(django: Client) -> None:
    assert django.post("/login/send", PHONE, content_type="application/json").status_code == 200
    elsewhere = {"origin": "https://evil.example"}
    refused = django.post("/login/send", PHONE, content_type="application/json", headers=elsewhere)
    assert refused.json()["code"] == "ORIGIN_REFUSED"


def test_django_answers_who_is_not_logged_in(django: Client) -> None:
    answer = django.get("/me")
    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")


def test_a_mounted_application_knows_its_path_below_a_proxy_too() -> None:
    assert post("/shop/login/send", PHONE, []).status_code == 200


def test_cookies_may_come_in_several_fields_as_http_2_sends_them() -> None:
    cookies = [("cookie", "theme=dark"), ("cookie", "__Host-dwar_otp=o2")]
    answer = post("/shop/login/verify", {**PHONE, "code": "123456"}, cookies)
    assert answer.json()["error"] == "o2"
