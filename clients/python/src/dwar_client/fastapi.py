"""The login contract for FastAPI and Starlette."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ._error import DwarError
from ._verifier import AccessClaims
from .login import AsyncLogin, LoginRequest
from .login._http import MAX_BODY, NO_STORE, challenge

_HEADERS = "dwar_client.headers"
"""Key in the scope: the headers that the answer needs after a renewal."""


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


class RenewSessions:
    """A middleware, `app.add_middleware(RenewSessions)`: with it, `authenticate` renews a session whose access token
    has expired, and every answer, also an error, carries the new cookies."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        cookies: list[tuple[str, str]] = []
        scope[_HEADERS] = cookies
        has_begun = False

        async def carry(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                headers = MutableHeaders(scope=message)
                for name, value in cookies:
                    if name == "Set-Cookie":
                        headers.append(name, value)
                    else:
                        headers[name] = value
            await send(message)

        try:
            await self._app(scope, receive, carry)
        except Exception:
            if cookies and not has_begun:  # The answer that Starlette gives otherwise does not come through here.
                await PlainTextResponse("Internal Server Error", 500)(scope, receive, carry)
            raise


def authenticate(login: AsyncLogin, *, renew: bool = True) -> Callable[[Request], Awaitable[AccessClaims]]:
    """A dependency, `Annotated[AccessClaims, Depends(authenticate(login))]`: the claims of the logged-in person. A
    request without a login is answered with 401, and with 503 if the service does not answer, so that this cannot be
    decided.

    It renews a session only with the middleware `RenewSessions`."""

    async def authenticated(request: Request) -> AccessClaims:
        asked = _login_request(request)
        headers: list[tuple[str, str]] | None = request.scope.get(_HEADERS) if renew else None
        try:
            claims = await login.authenticate(asked, headers)
        except DwarError as error:
            refusal = login.unavailable(error)
            raise HTTPException(
                refusal.status, str(refusal.body["error"]), dict((NO_STORE, *refusal.headers))
            ) from error
        if claims is None:
            can_renew = not headers and login.can_renew(asked)
            raise HTTPException(401, headers={"WWW-Authenticate": challenge(can_renew)})
        return claims

    return authenticated


def _login_request(request: Request, body: bytes = b"") -> LoginRequest:
    headers = {**request.headers, "cookie": "; ".join(request.headers.getlist("cookie"))}
    return LoginRequest(
        request.method, _path(request.scope), headers, body, request.client.host if request.client else ""
    )


def _path(scope: Scope) -> str:
    """The path below the mounted application, as Starlette computes it. `root_path` ends at the mount, and begins
    with the prefix of a proxy, which may be part of the path or not."""
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
