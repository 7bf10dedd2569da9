"""The login contract for FastAPI and Starlette."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ._verifier import AccessClaims
from .login import AsyncLogin, LoginRequest
from .login._http import MAX_BODY


class LoginApp:
    """The endpoints of a login, to be mounted: `app.mount("/login", LoginApp(login))`."""

    def __init__(self, login: AsyncLogin) -> None:
        self._login = login

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        answer = await self._login.answer(_login_request(request, await _beginning(request)))
        response = Response(answer.body, answer.status)
        for name, value in answer.headers:
            response.headers.append(name, value)
        await response(scope, receive, send)


def authenticate(login: AsyncLogin) -> Callable[[Request], Awaitable[AccessClaims]]:
    """A dependency, `Annotated[AccessClaims, Depends(authenticate(login))]`: the claims of who is logged in. Nobody is
    401."""

    async def authenticated(request: Request) -> AccessClaims:
        claims = await login.authenticate(_login_request(request))
        if claims is None:
            raise HTTPException(401, headers={"WWW-Authenticate": "Bearer"})
        return claims

    return authenticated


def _login_request(request: Request, body: bytes = b"") -> LoginRequest:
    headers = {**request.headers, "cookie": "; ".join(request.headers.getlist("cookie"))}
    return LoginRequest(
        request.method, _path(request.scope), headers, body, request.client.host if request.client else ""
    )


def _path(scope: Scope) -> str:
    """Below the place of the mounted application, as Starlette reads it: `root_path` ends there, and begins with what a
    proxy has taken away or left on, by its settings."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    for prefix in (root, root.removeprefix(scope.get("app_root_path", ""))):
        if path.startswith(f"{prefix}/"):
            return path[len(prefix) :]
    return path


async def _beginning(request: Request) -> bytes:
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY:
            break
    return body
