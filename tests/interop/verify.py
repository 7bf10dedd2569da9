#!/usr/bin/env python3
"""Checks an access token with PyJWT against the published keys, as a customer's backend would.

usage: verify.py JWKS_URL ISSUER AUDIENCE ALG < token
Prints one line. Exit status: 0 accepted, 1 refused, 2 wrong usage.
"""

import sys

import jwt

CLAIMS = ["iss", "aud", "sub", "sid", "jti", "iat", "exp", "client_id", "mode"]


def verify(jwks_url: str, issuer: str, audience: str, algorithm: str, token: str) -> dict:
    key = jwt.PyJWKClient(jwks_url, timeout=10).get_signing_key_from_jwt(token)
    verified = jwt.decode_complete(
        token,
        key,
        algorithms=[algorithm],
        issuer=issuer,
        audience=audience,
        options={"require": CLAIMS, "strict_aud": True},
    )
    if verified["header"].get("typ") != "at+jwt":
        raise jwt.InvalidTokenError("typ is not at+jwt (RFC 9068)")
    return verified


def main() -> int:
    if len(sys.argv) != 5:
        print(__doc__, file=sys.stderr)
        return 2
    name = f"PyJWT {jwt.__version__}"
    try:
        verified = verify(*sys.argv[1:], sys.stdin.read().strip())
    except jwt.PyJWTError as refusal:
        print(f"{name}: REFUSED: {type(refusal).__name__}: {refusal}")
        return 1
    header, claims = verified["header"], verified["payload"]
    print(f"{name}: accepted {header['alg']} kid={header['kid']} sub={claims['sub']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
