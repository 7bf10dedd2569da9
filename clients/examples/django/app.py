"""A Django backend that logs people in by phone. Behind a proxy it also needs `client_address`."""

import logging
import os

import waitress
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import JsonResponse
from django.urls import include, path
from dwar_client import Dwar, TokenVerifier
from dwar_client.django import authenticate, login_urls
from dwar_client.login import Login

env = os.environ
settings.configure(
    ALLOWED_HOSTS=["127.0.0.1"], ROOT_URLCONF=__name__, MIDDLEWARE=["dwar_client.django.RenewSessions"]
)
login = Login(
    Dwar(env["DWAR_URL"], env["DWAR_API_KEY"]),
    TokenVerifier(env["DWAR_URL"], env["DWAR_PROJECT_ID"], mode=env.get("DWAR_MODE", "live")),
    secret=env["DWAR_SECRET"],
    origins=[env["ORIGIN"]],
    on_error=logging.getLogger("login").error,
)


@authenticate(login)
def me(request, claims):
    return JsonResponse({"identity_id": claims["sub"]})


@authenticate(login, renew=False)
def without_renewal(request, claims):
    return JsonResponse({"identity_id": claims["sub"]})


urlpatterns = [path("login/", include(login_urls(login))), path("me", me), path("claims", without_renewal)]

if __name__ == "__main__":
    waitress.serve(get_wsgi_application(), host="127.0.0.1", port=env["PORT"])
