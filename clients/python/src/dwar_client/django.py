"""The login contract for Django."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from asgiref.sync import async_to_sync, iscoroutinefunction, sync_to_async
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import URLPattern, re_path
from django.utils.deprecation import MiddlewareMixin

from ._error import DwarError
from ._verifier import AccessClaims
from ._waiting import either, run
from .login import AsyncLogin, Login, LoginAnswer, LoginRequest
from .login._http import MAX_BODY, challenge

Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")
_HEADERS = "dwar_client.headers"
"""Key in `META`: the headers that the answer needs after a renewal."""


def login_urls(login: Login | AsyncLogin) -> list[URLPattern]:
    """The endpoints of a login: `path("login/", include(login_urls(login)))`. Django's own check against cross-site
    requests is off there, since the login checks the origin itself. Those of an `AsyncLogin` are asynchronous views.

    Under WSGI Django reads a chunked body as empty, which is refused, unless the server sets its length, as waitress
    does.
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


class RenewSessions(MiddlewareMixin):
    """A middleware, `"dwar_client.django.RenewSessions"` in `MIDDLEWARE`: with it, `authenticate` renews a session
    whose access token has expired, and every answer, also an error, carries the new cookies."""

    def process_request(self, request: HttpRequest) -> None:
        request.META[_HEADERS] = []

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        return _carry(response, request.META[_HEADERS])


def authenticate(
    login: Login | AsyncLogin, *, renew: bool = True
) -> Callable[
    [Callable[Concatenate[HttpRequest, AccessClaims, Parameters], Answer]],
    Callable[Concatenate[HttpRequest, Parameters], Answer],
]:
    """A decorator: the view, asynchronous or not, is called with the claims of the logged-in person, after the request.
    A request without a login is answered with 401, and with 503 if the service does not answer, so that this cannot be
    decided.

    It renews a session only with the middleware `RenewSessions`."""

    async def asked_by(request: HttpRequest) -> AccessClaims | HttpResponse:
        """Returns the claims, or the refusal without a login."""
        asked = _login_request(request)
        headers: list[tuple[str, str]] | None = request.META.get(_HEADERS) if renew else None
        try:
            claims = await either(login.authenticate)(asked, headers)
        except DwarError as error:
            return _response(login.unavailable(error).answer())
        if claims is None:
            can_renew = not headers and login.can_renew(asked)
            return HttpResponse(status=401, headers={"WWW-Authenticate": challenge(can_renew)})
        return claims

    def decorate(
        view: Callable[Concatenate[HttpRequest, AccessClaims, Parameters], Answer],
    ) -> Callable[Concatenate[HttpRequest, Parameters], Answer]:
        @functools.wraps(view)
        def authenticated(request: HttpRequest, /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Any:
            found = now(request)
            return found if isinstance(found, HttpResponse) else view(request, found, *args, **kwargs)

        @functools.wraps(view)
        async def awaited(request: HttpRequest, /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Any:
            found = await later(request)
            return found if isinstance(found, HttpResponse) else await cast(Any, view(request, found, *args, **kwargs))

        style = awaited if iscoroutinefunction(view) else authenticated
        return cast(Callable[Concatenate[HttpRequest, Parameters], Answer], style)

    now: Callable[[HttpRequest], AccessClaims | HttpResponse]
    later: Callable[[HttpRequest], Awaitable[AccessClaims | HttpResponse]]
    if isinstance(login, AsyncLogin):
        now, later = async_to_sync(asked_by), asked_by
    else:
        now = lambda request: run(asked_by(request))  # noqa: E731
        later = sync_to_async(now, thread_sensitive=False)
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
