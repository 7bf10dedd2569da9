import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

SERVE = Path(__file__).parent.parent.parent / "suite" / "serve.mjs"

MIDDLEWARE = ["django.middleware.common.CommonMiddleware", "django.middleware.csrf.CsrfViewMiddleware"]
settings.configure(ALLOWED_HOSTS=["testserver"], ROOT_URLCONF="test_frameworks", MIDDLEWARE=MIDDLEWARE)


@pytest.fixture(scope="session")
def service() -> Iterator[dict[str, str]]:
    """The address and the keys of a service of its own: DWAR_BIN."""
    with subprocess.Popen(["node", SERVE], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        lines = iter(process.stdout.readline, "")
        text = ""
        for line in lines:
            text += line
            if line == "}\n":
                break
        assert text, "the service did not start: DWAR_BIN"
        yield json.loads(text)
        process.terminate()
