"""Checks an access token with Django REST framework's Simple JWT, or with Authlib as RFC 9068 asks.

usage: frameworks.py django|authlib JWKS_URL ISSUER AUDIENCE ALG [ROLE] < token
Prints one line. Exit status: 0 accepted, 3 refused.
"""

import json
import sys
import urllib.request

framework, keys, issuer, audience, algorithm, *role = sys.argv[1:]
token = sys.stdin.read().strip()


def refuse(why: object) -> None:
    print(why)
    sys.exit(3)


def by_django() -> dict:
    import django
    from django.conf import settings

    settings.configure(
        SECRET_KEY="signs nothing here",
        REST_FRAMEWORK={"UNAUTHENTICATED_USER": None},
        SIMPLE_JWT={
            "ALGORITHM": algorithm,
            "JWK_URL": keys,
            "ISSUER": issuer,
            "AUDIENCE": audience,
            "TOKEN_TYPE_CLAIM": None,
            "USER_ID_CLAIM": "sub",
        },
        INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes"],
    )
    django.setup()
    from rest_framework.test import APIRequestFactory
    from rest_framework.views import APIView
    from rest_framework_simplejwt.authentication import JWTStatelessUserAuthentication

    class View(APIView):
        authentication_classes = [JWTStatelessUserAuthentication]

        def get(self, request):
            from rest_framework.response import Response

            return Response(request.auth.payload)

    answer = View.as_view()(APIRequestFactory().get("/", HTTP_AUTHORIZATION=f"Bearer {token}"))
    return answer.data if answer.status_code == 200 else refuse(answer.data["detail"])


def by_authlib() -> dict:
    from authlib.oauth2.rfc6750 import InvalidTokenError
    from authlib.oauth2.rfc9068 import JWTBearerTokenValidator
    from joserfc.jwk import KeySet

    class Validator(JWTBearerTokenValidator):
        def get_jwks(self):
            with urllib.request.urlopen(keys, timeout=10) as answer:
                return KeySet.import_key_set(json.load(answer))

    validator = Validator(issuer=issuer, resource_server=audience)
    try:
        claims = validator.authenticate_token(token)
        validator.validate_token(claims, scopes=None, request=None)
    except InvalidTokenError as refusal:
        refuse(refusal)
    return claims


claims = by_django() if framework == "django" else by_authlib()
if role and claims.get("role") != role[0]:
    refuse("another role")
print("accepted")
