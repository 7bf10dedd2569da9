"""The login of your own backend, apart from any framework: clients/login/README.md has its contract."""

from ._http import LoginAnswer, LoginRequest, Refusal
from ._login import AsyncLogin, Login

__all__ = ["AsyncLogin", "Login", "LoginAnswer", "LoginRequest", "Refusal"]
