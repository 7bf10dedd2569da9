"""A Django backend that logs people in by phone. Behind a proxy it also needs `client_address`."""

import os

from django.conf import settings
from django.core.management import execute_from_command_line
from django.http import JsonResponse
from django.urls import include, path
from dwar_client import Dwar, TokenVerifier
from dwar_client.django import authenticate, login_urls
from dwar_client.login import Login

env = os.environ
settings.configure(ALLOWED_HOSTS=["127.0.0.1"], ROOT_URLCONF=__name__)
login = Login(
    Dwar(env["DWAR_URL"], env["DWAR_API_KEY"]),
    TokenVerifier(env["DWAR_URL"], env["DWAR_PROJECT_ID"], mode=env.get("DWAR_MODE", "live")),
    secret=env["DWAR_SECRET"],
    origins=[env["ORIGIN"]],
)


@authenticate(login)
def me(request, claims):
    return JsonResponse({"identity_id": claims["sub"]})


urlpatterns = [path("login/", include(login_urls(login))), path("me", me)]

if __name__ == "__main__":
    execute_from_command_line(["app.py", "runserver", "--noreload", f"127.0.0.1:{env['PORT']}"])
