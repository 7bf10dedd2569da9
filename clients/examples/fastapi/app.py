"""A FastAPI backend that logs people in by phone. Behind a proxy it also needs `client_address`."""

import logging
import os
from typing import Annotated

import uvicorn
from dwar_client import AccessClaims, AsyncDwar, AsyncTokenVerifier
from dwar_client.fastapi import LoginApp, RenewSessions, authenticate
from dwar_client.login import AsyncLogin
from fastapi import Depends, FastAPI

env = os.environ
login = AsyncLogin(
    AsyncDwar(env["DWAR_URL"], env["DWAR_API_KEY"]),
    AsyncTokenVerifier(env["DWAR_URL"], env["DWAR_PROJECT_ID"], mode=env.get("DWAR_MODE", "live")),
    secret=env["DWAR_SECRET"],
    origins=[env["ORIGIN"]],
    on_error=logging.getLogger("login").error,
)
app = FastAPI()
app.add_middleware(RenewSessions)
app.mount("/login", LoginApp(login))


@app.api_route("/me", methods=["GET", "POST"])
async def me(claims: Annotated[AccessClaims, Depends(authenticate(login))]) -> dict[str, str]:
    return {"identity_id": claims["sub"]}


@app.api_route("/claims", methods=["GET", "POST"])
async def without_renewal(claims: Annotated[AccessClaims, Depends(authenticate(login, renew=False))]) -> dict[str, str]:
    return {"identity_id": claims["sub"]}


if __name__ == "__main__":
    # By default uvicorn trusts X-Forwarded-For of a peer on 127.0.0.1.
    uvicorn.run(app, port=int(env["PORT"]), proxy_headers=False, log_level="warning")
