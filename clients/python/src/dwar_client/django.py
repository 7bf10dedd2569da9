"""The login contract for Django."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Concatenate, ParamSpec

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import URLPattern, re_path
from django.views.decorators.csrf import csrf_exempt

from ._verifier import AccessClaims
from .login import Login, LoginRequest
from .login._http import MAX_BODY

Parameters = ParamSpec("Parameters")


def login_urls(login: Login) -> list[URLPattern]:
    """The endpoints of a login: `path("login/", include(login_urls(login)))`. Django's own check against cross-site
    requests is off there, since the login checks the origin itself.

    Under WSGI Django takes a chunked body for an empty one, which is refused, unless the server measures it first, as
    waitress does.
    """

    @csrf_exempt
    def view(request: HttpRequest, step: str) -> HttpResponse:
        answer = login.answer(_login_request(request, f"/{step}", request.read(MAX_BODY + 1)))
        response = HttpResponse(answer.body, status=answer.status)
        del response["Content-Type"]
        for name, value in answer.headers:
            if name == "Set-Cookie":
                response.cookies.load(value)
            else:
                response[name] = value
        return response

    return [re_path(r"^(?P<step>.*)$", view)]


def authenticate(
    login: Login,
) -> Callable[
    [Callable[Concatenate[HttpRequest, AccessClaims, Parameters], HttpResponseBase]],
    Callable[Concatenate[HttpRequest, Parameters], HttpResponseBase],
]:
    """A decorator: the view is called with the claims of who is logged in, after the request. Nobody is 401."""

    def decorate(
        view: Callable[Concatenate[HttpRequest, AccessClaims, Parameters], HttpResponseBase],
    ) -> Callable[Concatenate[HttpRequest, Parameters], HttpResponseBase]:
        @functools.wraps(view)
        def authenticated(
            request: HttpRequest, /, *args: Parameters.args, **kwargs: Parameters.kwargs
        ) -> HttpResponseBase:
            claims = login.authenticate(_login_request(request))
            if claims is None:
                return HttpResponse(status=401, headers={"WWW-Authenticate": "Bearer"})
            return view(request, claims, *args, **kwargs)

        return authenticated

    return decorate


def _login_request(request: HttpRequest, path: str = "", body: bytes = b"") -> LoginRequest:
    headers = {name.lower(): value for name, value in request.headers.items()}
    return LoginRequest(request.method or "", path, headers, body, request.META.get("REMOTE_ADDR", ""))
