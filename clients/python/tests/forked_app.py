"""An application that gunicorn loads, and that asks the service, before there are workers."""

import json
import os
import uuid
from collections.abc import Callable
from typing import Any

from dwar_client import Dwar

dwar = Dwar(os.environ["DWAR_URL"], "svc_test_1")
dwar.identity(f"preload-{os.getpid()}")


def app(environ: dict[str, Any], start: Callable[[str, list[tuple[str, str]]], object]) -> list[bytes]:
    asked = f"{uuid.uuid4().hex}-{os.getpid()}"
    found = dwar.identity(asked)["id"]
    start("200 OK", [("Content-Type", "application/json")])
    return [json.dumps([os.getpid(), asked, found]).encode()]
