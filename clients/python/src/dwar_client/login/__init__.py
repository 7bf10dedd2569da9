"""The login of your own backend, apart from any framework: clients/login/README.md has its contract."""

from ._http import LoginAnswer, LoginRequest, Refusal
from ._login import Login
from ._rules import AsyncLogin

__all__ = ["AsyncLogin", "Login", "LoginAnswer", "LoginRequest", "Refusal"]
