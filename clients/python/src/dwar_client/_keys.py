from __future__ import annotations

import copy
import math
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, TypeAlias

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from ._clock import ElapsedTime
from ._error import DwarError
from ._text import from_base64url
from ._types import PublicKeys
from ._waiting import Flight

Algorithm: TypeAlias = Literal["ES256", "EdDSA", "RS256"]
Check: TypeAlias = Callable[[bytes, bytes], None]
"""Checks a signature of this data; raises `InvalidSignature`."""

_CACHED_SECONDS = 300
_ASKED_AGAIN_SECONDS = 60
_PATIENCE_SECONDS = 0.5
"""How long a fetch may run before calls go on with stale keys."""
_TOO_OLD_SECONDS = 3600
"""Longest use of a fetched key set: older keys may have been withdrawn."""


class VerifyingKey:
    def __init__(self, jwk: Mapping[str, Any]) -> None:
        self.alg: str = jwk["alg"]
        self._check = _CHECKS[self.alg](jwk)

    def verifies(self, signature: bytes, data: bytes) -> bool:
        try:
            self._check(signature, data)
        except InvalidSignature:
            return False
        return True


class KeySet:
    """The published keys, fetched once, no matter how many callers wait. Keys that this version cannot use are left
    out."""

    def __init__(
        self, fetch: Callable[[], Awaitable[PublicKeys]], flight: Flight[None], now: Callable[[], float]
    ) -> None:
        self._fetch = fetch
        self._flight = flight
        self._now = ElapsedTime(now)
        self._keys: dict[str, VerifyingKey] = {}
        self._fetched_at = -math.inf
        self._fetch_again_at = 0.0
        self._unknown_again_at = 0.0
        self._failure: DwarError | None = None
        """Error of the last fetch, if it brought no keys."""

    async def find(self, kid: str) -> VerifyingKey | None:
        """Raises without keys that were fetched within the last hour. Raises for an unknown `kid` if the last fetch
        failed, since the key may have been published meanwhile."""
        if self._are_too_old():
            await self._flight.join(self._replace_stale)
        elif self._are_stale():
            await self._flight.join_for(_PATIENCE_SECONDS, self._replace_stale)
        if kid not in self._keys:
            # Calls during a fetch wait for it, since the new set may contain the key.
            await self._flight.join(self._ask_for_unknown)
        key, failure = self._keys.get(kid), self._failure
        if key is None and failure is not None:
            # Each caller gets its own error object, since a shared one would keep the stack frames of others.
            raise copy.copy(failure) from failure.__cause__
        return key

    def _are_too_old(self) -> bool:
        return self._now() - self._fetched_at >= _TOO_OLD_SECONDS

    def _are_stale(self) -> bool:
        return self._are_too_old() or self._now() >= self._fetch_again_at

    async def _replace_stale(self) -> None:
        if self._are_stale():
            await self._replace()

    async def _ask_for_unknown(self) -> None:
        if self._now() >= self._unknown_again_at:
            await self._replace()
            # Set only now, because an interrupted fetch has not asked for the keys.
            self._unknown_again_at = self._now() + _ASKED_AGAIN_SECONDS

    async def _replace(self) -> None:
        try:
            self._keys = _usable((await self._fetch())["keys"])
            self._fetched_at = self._now()
            self._fetch_again_at = self._fetched_at + _CACHED_SECONDS
            self._failure = None
        except DwarError as error:
            self._failure = error
            if self._are_too_old():
                raise
            self._fetch_again_at = self._now() + _ASKED_AGAIN_SECONDS


def _usable(published: object) -> dict[str, VerifyingKey]:
    """Refuses a set without a usable key: the service always publishes one."""
    usable: dict[str, VerifyingKey] = {}
    for jwk in published if isinstance(published, list) else []:
        try:
            if jwk["use"] == "sig":
                usable[str(jwk["kid"])] = VerifyingKey(jwk)
        except (KeyError, TypeError, ValueError, UnsupportedAlgorithm):
            continue
    if not usable:
        error = DwarError("UNKNOWN_ERROR", "the answer has no key that can be used")
        error.status = 200
        raise error
    return usable


def _es256(jwk: Mapping[str, Any]) -> Check:
    key = ec.EllipticCurvePublicNumbers(_number(jwk["x"]), _number(jwk["y"]), ec.SECP256R1()).public_key()

    def check(signature: bytes, data: bytes) -> None:
        if len(signature) != 64:
            raise InvalidSignature
        r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
        key.verify(encode_dss_signature(r, s), data, ec.ECDSA(SHA256()))

    return check


def _eddsa(jwk: Mapping[str, Any]) -> Check:
    return Ed25519PublicKey.from_public_bytes(from_base64url(jwk["x"])).verify


def _rs256(jwk: Mapping[str, Any]) -> Check:
    key = rsa.RSAPublicNumbers(_number(jwk["e"]), _number(jwk["n"])).public_key()
    return lambda signature, data: key.verify(signature, data, padding.PKCS1v15(), SHA256())


_CHECKS: dict[str, Callable[[Mapping[str, Any]], Check]] = {"ES256": _es256, "EdDSA": _eddsa, "RS256": _rs256}


def _number(text: str) -> int:
    return int.from_bytes(from_base64url(text), "big")
