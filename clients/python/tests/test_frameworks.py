"""What the adapters do beyond the suite of the login contract, which plays the examples."""

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import httpx
import pytest
from django.http import Http404, HttpRequest, HttpResponse
from django.test import AsyncClient, Client, override_settings
from django.urls import include, path
from fastapi import Depends, FastAPI, Request
from starlette.exceptions import HTTPException

from dwar_client import AccessClaims, AsyncDwar, AsyncTokenVerifier, Dwar, DwarError, TokenVerifier
from dwar_client.django import authenticate, login_urls
from dwar_client.fastapi import LoginApp, RenewSessions
from dwar_client.fastapi import authenticate as authenticated
from dwar_client.login import AsyncLogin, Login, LoginRequest, Refusal

URL = "https://otp.example.com"
SECRET = "the secret of this backend, 32 characters"
ORIGIN = "https://shop.example"
PHONE = {"phone": "9876543210"}
TOKENS = {"access_token": "a", "identity_id": "i", "session_id": "s", "expires_in": 900, "refresh_expires_in": 9000}
STALE = {"cookie": "__Host-dwar_refresh=r1"}
JWT = "eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6ImsxIn0.e30.AA"
RENEWED = "__Host-dwar_refresh=after-r1"


Service = Callable[[httpx.Request], httpx.Response]


def service(request: httpx.Request) -> httpx.Response:
    """Logs nobody in, says in its answer which `otp_id` it was asked for, and renews any session."""
    if request.url.path.startswith("/.well-known"):
        return httpx.Response(200, json={"keys": []})
    asked = json.loads(request.content)
    if request.url.path == "/v1/session/refresh":
        return httpx.Response(200, json={**TOKENS, "refresh_token": f"after-{asked['refresh_token']}"})
    if request.url.path == "/v1/otp/verify":
        return httpx.Response(400, json={"error": asked["otp_id"], "code": "INVALID_OTP"})
    return httpx.Response(200, json={"otp_id": "o1", "expires_in": 600})


def blocking_login(service: Service = service, **options: Any) -> Login:
    http_client = httpx.Client(transport=httpx.MockTransport(service))
    dwar = Dwar(URL, "svc_test_1", http_client=lambda **_: http_client)
    verifier = TokenVerifier(URL, "p1", http_client=lambda **_: http_client)
    return Login(dwar, verifier, secret=SECRET, origins=[ORIGIN], **options)


def asynchronous_login(service: Service = service, **options: Any) -> AsyncLogin:
    def make(**_: Any) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=httpx.MockTransport(service))

    dwar = AsyncDwar(URL, "svc_test_1", http_client=make)
    verifier = AsyncTokenVerifier(URL, "p1", http_client=make)
    return AsyncLogin(dwar, verifier, secret=SECRET, origins=[ORIGIN], **options)


LOGIN = blocking_login()


@authenticate(LOGIN)
def me(request: HttpRequest, claims: AccessClaims) -> HttpResponse:
    raise AssertionError("nobody is logged in")


@authenticate(LOGIN)
async def me_later(request: HttpRequest, claims: AccessClaims) -> HttpResponse:
    raise AssertionError("nobody is logged in")


async def refuse(request: LoginRequest, body: Mapping[str, Any]) -> Refusal | None:
    return Refusal(403, "CAPTCHA_REQUIRED", "Show that you are human.") if "captcha" not in body else None


LATER = asynchronous_login(admit=refuse)


@authenticate(LATER)
async def me_asynchronous(request: HttpRequest, claims: AccessClaims) -> HttpResponse:
    raise AssertionError("nobody is logged in")


@authenticate(LATER)
def me_in_a_thread(request: HttpRequest, claims: AccessClaims) -> HttpResponse:
    raise AssertionError("nobody is logged in")


def broken(request: HttpRequest, kind: str) -> HttpResponse:
    """Renews as `authenticate` does, and then fails."""
    authenticate(LOGIN)(lambda *_: HttpResponse())(request)
    if kind == "none":
        return HttpResponse("a page")
    raise Http404 if kind == "404" else RuntimeError("a fault of the view")


def faulty(request: httpx.Request) -> httpx.Response:
    return httpx.Response(503, headers={"Retry-After": "77", "X-Request-Id": "r1"})


TOLD: list[DwarError] = []
UNKNOWN = blocking_login(faulty, on_error=TOLD.append)
UNKNOWN_LATER = asynchronous_login(faulty, on_error=TOLD.append)


@authenticate(UNKNOWN)
def unknown(request: HttpRequest, claims: AccessClaims) -> HttpResponse:
    raise AssertionError("nobody is logged in")


@authenticate(UNKNOWN_LATER)
async def unknown_later(request: HttpRequest, claims: AccessClaims) -> HttpResponse:
    raise AssertionError("nobody is logged in")


urlpatterns = [
    path("unknown", unknown),
    path("unknown_later", unknown_later),
    path("login/", include(login_urls(LOGIN))),
    path("later/", include(login_urls(LATER))),
    path("me", me),
    *(path(view.__name__, view) for view in (me_later, me_asynchronous, me_in_a_thread)),
    path("broken/<kind>", broken),
]


@pytest.fixture
def django() -> Client:
    return Client(enforce_csrf_checks=True, headers={"origin": ORIGIN})


def post(path: str, body: dict[str, str], cookies: list[tuple[str, str]], root: str = "/shop") -> httpx.Response:
    """To a FastAPI application whose server says that it is at `root`."""

    async def answer() -> httpx.Response:
        app = FastAPI()
        app.mount("/login", LoginApp(asynchronous_login()))
        transport = httpx.ASGITransport(app, root_path=root)
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


@pytest.mark.parametrize(
    ("path", "root", "status"),
    [
        ("/login/send", "", 200),
        ("/shop/login/send", "/shop", 200),  # The proxy leaves it on, or the server puts it back: uvicorn --root-path.
        ("/login/send", "/shop", 200),  # The proxy takes it away.
        ("/login/login/send", "", 404),
        ("/loginsend", "", 404),
        ("/loginsend/login/send", "/login", 404),
    ],
)
def test_a_mounted_application_knows_its_path_below_a_proxy_too(path: str, root: str, status: int) -> None:
    assert post(path, PHONE, [], root).status_code == status


def test_cookies_may_come_in_several_fields_as_http_2_sends_them() -> None:
    cookies = [("cookie", "theme=dark"), ("cookie", "__Host-dwar_otp=o2")]
    answer = post("/shop/login/verify", {**PHONE, "code": "123456"}, cookies)
    assert answer.json()["error"] == "o2"


@pytest.mark.parametrize("name", ["me", "me_later", "me_asynchronous", "me_in_a_thread"])
def test_django_views_may_be_asynchronous_and_so_may_the_login(django: Client, name: str) -> None:
    async def answer() -> int:
        return (await AsyncClient().get(f"/{name}")).status_code

    assert django.get(f"/{name}").status_code == 401
    assert asyncio.run(answer()) == 401


def test_django_waits_for_an_asynchronous_admit() -> None:
    async def answer(body: dict[str, str]) -> Any:
        page = AsyncClient(headers={"origin": ORIGIN})
        return await page.post("/later/send", body, content_type="application/json")

    assert asyncio.run(answer(PHONE)).json()["code"] == "CAPTCHA_REQUIRED"
    assert asyncio.run(answer({**PHONE, "captcha": "right"})).status_code == 200
    with pytest.raises(ValueError, match="Async"):
        blocking_login(admit=refuse)


@override_settings(MIDDLEWARE=["dwar_client.django.RenewSessions"])
@pytest.mark.parametrize("name", ["unknown", "unknown_later"])
@pytest.mark.parametrize(("cookie", "value"), [("__Host-dwar_access", JWT), ("__Host-dwar_refresh", "r1")])
def test_django_answers_503_where_it_is_unknown_who_asks(name: str, cookie: str, value: str) -> None:
    page, later = Client(), AsyncClient()
    page.cookies[cookie] = later.cookies[cookie] = value
    for answer in (page.get(f"/{name}"), asyncio.run(later.get(f"/{name}"))):
        assert (answer.status_code, answer["Retry-After"], answer["Cache-Control"]) == (503, "77", "private, no-store")
        body = answer.json()
        assert (body["code"], body["request_id"]) == ("LOGIN_UNAVAILABLE", "r1")
        assert not answer.cookies
        assert TOLD.pop().status == 503


@pytest.mark.parametrize("cookie", [f"__Host-dwar_access={JWT}", STALE["cookie"]])
def test_fastapi_answers_503_where_it_is_unknown_who_asks(cookie: str) -> None:
    async def answer() -> httpx.Response:
        app = FastAPI()
        app.add_middleware(RenewSessions)

        @app.get("/me")
        async def me(claims: Annotated[AccessClaims, Depends(authenticated(UNKNOWN_LATER))]) -> None:
            raise AssertionError("nobody is logged in")

        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://testserver") as page:
            return await page.get("/me", headers={"cookie": cookie})

    found = asyncio.run(answer())
    assert (found.status_code, found.headers["retry-after"]) == (503, "77")
    assert found.headers["cache-control"] == "private, no-store"
    assert found.json() == {"detail": "Login is not possible at the moment."}
    assert "set-cookie" not in found.headers
    assert TOLD.pop().status == 503


def fastapi_after_renewal(path: str, *, middleware: bool) -> httpx.Response:
    """What a page answers whose session is renewed before it fails."""

    async def answer() -> httpx.Response:
        http_client = httpx.AsyncClient(transport=httpx.MockTransport(service))
        dwar = AsyncDwar(URL, "svc_test_1", http_client=lambda **_: http_client)
        verifier = AsyncTokenVerifier(URL, "p1", http_client=lambda **_: http_client)
        login = AsyncLogin(dwar, verifier, secret=SECRET, origins=[ORIGIN])
        app = FastAPI()
        if middleware:
            app.add_middleware(RenewSessions)

        @app.get("/{kind}")
        async def broken(request: Request, kind: str) -> None:
            try:
                await authenticated(login)(request)
            except HTTPException:
                if kind == "401":
                    raise
            raise HTTPException(404) if kind == "404" else RuntimeError("a fault of the page")

        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as page:
            return await page.get(path, headers=STALE)

    return asyncio.run(answer())


@pytest.mark.parametrize("status", [401, 404, 500])
def test_fastapi_carries_the_cookies_of_a_renewal_also_with_an_error(status: int) -> None:
    answer = fastapi_after_renewal(f"/{status}", middleware=True)
    assert (answer.status_code, answer.headers["cache-control"]) == (status, "private, no-store")
    access, refresh = answer.headers.get_list("set-cookie")
    assert access.startswith("__Host-dwar_access=a;") and refresh.startswith(f"{RENEWED};")


def test_fastapi_renews_nothing_without_the_middleware_and_says_that_it_may_help() -> None:
    answer = fastapi_after_renewal("/401", middleware=False)
    assert answer.headers["www-authenticate"] == 'Bearer error="invalid_token"'
    assert "set-cookie" not in answer.headers


@override_settings(MIDDLEWARE=["dwar_client.django.RenewSessions"])
@pytest.mark.parametrize(("path", "status"), [("/me", 401), ("/broken/404", 404), ("/broken/500", 500)])
def test_django_carries_the_cookies_of_a_renewal_also_with_an_error(path: str, status: int) -> None:
    answer = Client(raise_request_exception=False).get(path, headers=STALE)
    assert (answer.status_code, answer["Cache-Control"]) == (status, "private, no-store")
    assert answer.cookies["__Host-dwar_refresh"].value == "after-r1"
    page = AsyncClient(raise_request_exception=False)
    page.cookies["__Host-dwar_refresh"] = "r1"
    later = asyncio.run(page.get(path))
    assert (later.status_code, later.cookies["__Host-dwar_refresh"].value) == (status, "after-r1")


CACHE = "django.middleware.cache"


@override_settings(
    MIDDLEWARE=[
        f"{CACHE}.UpdateCacheMiddleware",
        "dwar_client.django.RenewSessions",
        f"{CACHE}.FetchFromCacheMiddleware",
    ]
)
def test_django_caches_no_cookies_of_a_renewal_for_others() -> None:
    renewed = Client().get("/broken/none", headers=STALE)
    assert renewed.cookies["__Host-dwar_refresh"].value == "after-r1"
    assert "private" in renewed["Cache-Control"]  # What Django before 5.2 goes by.
    answer = Client().get("/broken/none")
    assert (answer.status_code, len(answer.cookies)) == (200, 0)


def test_django_renews_nothing_without_the_middleware_and_says_that_it_may_help() -> None:
    answer = Client().get("/me", headers=STALE)
    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, 'Bearer error="invalid_token"')
    assert not answer.cookies
