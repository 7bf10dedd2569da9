"""A Django backend with asynchronous views, which uvicorn serves, for the suite of the login contract."""

import os

import uvicorn
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.http import HttpRequest, JsonResponse
from django.urls import include, path

from dwar_client import AccessClaims, AsyncDwar, AsyncTokenVerifier
from dwar_client.django import authenticate, login_urls
from dwar_client.login import AsyncLogin

env = os.environ
settings.configure(ALLOWED_HOSTS=["127.0.0.1"], ROOT_URLCONF=__name__, MIDDLEWARE=["dwar_client.django.RenewSessions"])
login = AsyncLogin(
    AsyncDwar(env["DWAR_URL"], env["DWAR_API_KEY"]),
    AsyncTokenVerifier(env["DWAR_URL"], env["DWAR_PROJECT_ID"], mode="test"),
    secret=env["DWAR_SECRET"],
    origins=[env["ORIGIN"]],
)


@authenticate(login)
async def me(request: HttpRequest, claims: AccessClaims) -> JsonResponse:
    return JsonResponse({"identity_id": claims["sub"]})


@authenticate(login, renew=False)
async def without_renewal(request: HttpRequest, claims: AccessClaims) -> JsonResponse:
    return JsonResponse({"identity_id": claims["sub"]})


urlpatterns = [path("login/", include(login_urls(login))), path("me", me), path("claims", without_renewal)]

if __name__ == "__main__":
    uvicorn.run(get_asgi_application(), port=int(env["PORT"]), proxy_headers=False, log_level="warning", lifespan="off")
