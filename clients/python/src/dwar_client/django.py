"""The login contract for Django."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from asgiref.sync import async_to_sync, iscoroutinefunction, sync_to_async
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import URLPattern, re_path
from django.utils.decorators import sync_and_async_middleware

from ._error import DwarError
from ._verifier import AccessClaims
from .login import AsyncLogin, Login, LoginAnswer, LoginRequest
from .login._http import MAX_BODY, challenge

Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")
_HEADERS = "dwar_client.headers"
"""In `META`: what the answer has to carry for a session that was renewed."""


def login_urls(login: Login | AsyncLogin) -> list[URLPattern]:
    """The endpoints of a login: `path("login/", include(login_urls(login)))`. Django's own check against cross-site
    requests is off there, since the login checks the origin itself. Those of an `AsyncLogin` are asynchronous views.

    Under WSGI Django takes a chunked body for an empty one, which is refused, unless the server measures it first, as
    waitress does.
    """

    view: Any = _async_view(login) if isinstance(login, AsyncLogin) else _view(login)
    view.csrf_exempt = True  # The decorator takes asynchronous views from Django 5 on.
    return [re_path(r"^(?P<step>.*)$", view)]


def _view(login: Login) -> Callable[[HttpRequest, str], HttpResponse]:
    def view(request: HttpRequest, step: str) -> HttpResponse:
        return _response(login.answer(_step(request, step)))

    return view


def _async_view(login: AsyncLogin) -> Callable[[HttpRequest, str], Awaitable[HttpResponse]]:
    async def view(request: HttpRequest, step: str) -> HttpResponse:
        return _response(await login.answer(_step(request, step)))

    return view


def _step(request: HttpRequest, step: str) -> LoginRequest:
    return _login_request(request, f"/{step}", request.read(MAX_BODY + 1))


@sync_and_async_middleware
def renew_sessions(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """A middleware, `"dwar_client.django.renew_sessions"` in `MIDDLEWARE`: `authenticate` renews a session whose access
    token has ended, and the answer carries its cookies, also an error."""
    if iscoroutinefunction(get_response):

        async def answer_later(request: HttpRequest) -> HttpResponseBase:
            headers = request.META[_HEADERS] = []
            return _carry(await get_response(request), headers)

        return answer_later

    def answer(request: HttpRequest) -> HttpResponseBase:
        headers = request.META[_HEADERS] = []
        return _carry(get_response(request), headers)

    return answer


def authenticate(
    login: Login | AsyncLogin, *, renew: bool = True
) -> Callable[
    [Callable[Concatenate[HttpRequest, AccessClaims, Parameters], Answer]],
    Callable[Concatenate[HttpRequest, Parameters], Answer],
]:
    """A decorator: the view, asynchronous or not, is called with the claims of who is logged in, after the request.
    Nobody is 401. If the service does not answer, so that it is unknown who asks, that is 503.

    It renews a session only with the middleware `renew_sessions`."""

    def asked_by(request: HttpRequest) -> tuple[LoginRequest, list[tuple[str, str]] | None]:
        return _login_request(request), request.META.get(_HEADERS) if renew else None

    def nobody(asked: LoginRequest, headers: list[tuple[str, str]] | None) -> HttpResponse:
        can_renew = not headers and login.can_renew(asked)
        return HttpResponse(status=401, headers={"WWW-Authenticate": challenge(can_renew)})

    def unknown(error: DwarError) -> HttpResponse:
        return _response(login.unavailable(error).answer())

    def decorate(
        view: Callable[Concatenate[HttpRequest, AccessClaims, Parameters], Answer],
    ) -> Callable[Concatenate[HttpRequest, Parameters], Answer]:
        @functools.wraps(view)
        def authenticated(request: HttpRequest, /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Any:
            asked, headers = asked_by(request)
            try:
                claims = claims_now(asked, headers)
            except DwarError as error:
                return unknown(error)
            return nobody(asked, headers) if claims is None else view(request, claims, *args, **kwargs)

        @functools.wraps(view)
        async def awaited(request: HttpRequest, /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Any:
            asked, headers = asked_by(request)
            try:
                claims = await claims_later(asked, headers)
            except DwarError as error:
                return unknown(error)
            return nobody(asked, headers) if claims is None else await cast(Any, view(request, claims, *args, **kwargs))

        either = awaited if iscoroutinefunction(view) else authenticated
        return cast(Callable[Concatenate[HttpRequest, Parameters], Answer], either)

    if isinstance(login, AsyncLogin):
        claims_now, claims_later = async_to_sync(login.authenticate), login.authenticate
    else:
        claims_now = login.authenticate
        claims_later = sync_to_async(login.authenticate, thread_sensitive=False)
    return decorate


def _response(answer: LoginAnswer) -> HttpResponse:
    response = HttpResponse(answer.body, status=answer.status)
    del response["Content-Type"]
    _carry(response, answer.headers)
    return response


def _carry(response: HttpResponseBase, headers: Iterable[tuple[str, str]]) -> HttpResponseBase:
    for name, value in headers:
        if name == "Set-Cookie":
            response.cookies.load(value)
        else:
            response[name] = value
    return response


def _login_request(request: HttpRequest, path: str = "", body: bytes = b"") -> LoginRequest:
    headers = {name.lower(): value for name, value in request.headers.items()}
    return LoginRequest(request.method or "", path, headers, body, request.META.get("REMOTE_ADDR", ""))
