"""Checks an access token with PyJWT against the published keys, as a customer's backend would.

usage: verify.py JWKS_URL ISSUER AUDIENCE ALG [ROLE] < token
environment (optional): TYP, the type that the token must be of; at+jwt by default.
Prints one line. Exit status: 0 accepted, 3 refused.
"""

import os
import sys

import jwt

TYP = os.environ.get("TYP", "at+jwt")
CLAIMS = ["iss", "aud", "sub", "sid", "jti", "iat", "exp", "client_id", "mode"]


def verify(token: str, jwks_url: str, issuer: str, audience: str, algorithm: str, role: str = "") -> str:
    verified = jwt.decode_complete(
        token,
        jwt.PyJWKClient(jwks_url, timeout=10).get_signing_key_from_jwt(token),
        algorithms=[algorithm],
        issuer=issuer,
        audience=audience,
        options={"require": CLAIMS, "strict_aud": True},
    )
    if verified["header"].get("typ") != TYP:
        raise jwt.InvalidTokenError(f"typ is not {TYP}")
    if role and verified["payload"].get("role") != role:
        raise jwt.InvalidTokenError("another role")
    return verified["header"]["alg"]


try:
    print("accepted,", verify(sys.stdin.read().strip(), *sys.argv[1:]))
except jwt.PyJWKClientConnectionError:
    raise
except jwt.PyJWTError as refusal:
    print(refusal)
    sys.exit(3)
