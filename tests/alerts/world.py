"""A service under way, as an installation has it: providers that accept, refuse and break down, people who log in
or mistype, and an endpoint for events. All of it on loopback, in a scratch folder."""

import json
import os
import subprocess
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count

WEBHOOK_TOKEN = "the-webhook-token-of-a-test"
METRICS_TOKEN = "the-metrics-token-of-a-test-4711"
# How the service calls a provider of `Outside`.
PROVIDER = """
name = "{name}"
[secrets]
webhook_token = "{token}"
[request]
url = "http://127.0.0.1:{port}/{name}"
json = '''{{"to":"{{phone_national}}","code":"{{code}}","attempt":"{{attempt_id}}"}}'''
[answer]
reference = "/id"
[[answer.reasons]]
status = 409
reason = "not_on_channel"
[receipts]
secret = "webhook_token"
secret_in = {{ query = "token" }}
payload = "json"
reference = "/reference"
status = "/status"
delivered = ["delivered"]
[[receipts.failed]]
values = ["failed"]
reason = "blocked"
"""


def call(url, body=None, headers=(), method=None):
    """The status and the JSON of an answer; a refusal is an answer too."""
    data = None if body is None else json.dumps(body).encode()
    sent = {"Content-Type": "application/json", **dict(headers)} if data is not None else dict(headers)
    request = urllib.request.Request(url, data, sent, method=method)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            status, text = answer.status, answer.read()
    except urllib.error.HTTPError as refusal:
        status, text = refusal.code, refusal.read()
    return status, json.loads(text) if text.startswith(b"{") else {}


class Outside(ThreadingHTTPServer):
    """The providers that the service calls, and an endpoint for its events. `chat` (WhatsApp) refuses numbers that
    end in 1 and fails to deliver to those that end in 2, `broken` (SMS) never works, `text` (SMS) always does."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.port = self.server_address[1]
        self.service = ""
        self.codes = {}
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def report(self, provider, reference, status):
        url = f"{self.service}/webhooks/{provider}?token={WEBHOOK_TOKEN}"
        time.sleep(0.3)
        call(url, {"reference": reference, "status": status})


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        name = self.path.strip("/")
        if name == "events":
            return self.answer(500 if b"otp.failed" in body else 204)
        message = json.loads(body)
        if name == "broken":
            return self.answer(503)
        if name == "chat" and message["to"].endswith("1"):
            return self.answer(409)
        reference = f"{name}-{message['attempt']}"
        self.server.codes[message["to"]] = message["code"]
        self.answer(200, {"id": reference})
        status = "failed" if name == "chat" and message["to"].endswith("2") else "delivered"
        self.server.report(name, reference, status)

    def answer(self, status, body=None):
        text = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


class Service:
    """The binary, on SQLite, with metrics behind a token."""

    def __init__(self, binary, folder, outside, ports):
        self.binary, self.folder = binary, folder
        self.base = f"http://127.0.0.1:{ports[0]}"
        for name in ("chat", "broken", "text"):
            path = folder / f"{name}.toml"
            path.write_text(PROVIDER.format(name=name, token=WEBHOOK_TOKEN, port=outside.port), encoding="utf-8")
            path.chmod(0o600)
        self.environment = {
            **os.environ,
            "DWAR__DATABASE__URL": "sqlite://dwar.db",
            "DWAR__HTTP__ADDRESS": f"127.0.0.1:{ports[0]}",
            "DWAR__METRICS__ADDRESS": f"127.0.0.1:{ports[1]}",
            "DWAR__METRICS__TOKEN": METRICS_TOKEN,
            "DWAR__DASHBOARD__ADDRESS": "",
            "DWAR__LOG__LEVEL": "warn",
            "DWAR__EVENTS__ALLOW_PRIVATE": "true",
            "DWAR__GATEWAYS__GENERIC_FILES": "chat.toml,broken.toml,text.toml",
            "DWAR__GATEWAYS__WHATSAPP": "chat",
            "DWAR__GATEWAYS__SMS": "broken,text",
            "DWAR__GATEWAYS__BREAKER_FAULTS": "3",
            # Limits of the key that the load would otherwise reach within a minute.
            "DWAR__LIMITS__TEST__GENERAL_PER_MINUTE": "100000",
            "DWAR__LIMITS__LIVE__GENERAL_PER_MINUTE": "100000",
            "DWAR__LIMITS__TEST__VALIDATE_PER_MINUTE": "100000",
        }
        with open(folder / "log", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [binary, "serve"], cwd=folder, env=self.environment, stdout=log, stderr=log
            )

    def ready(self):
        for _ in range(300):
            try:
                if call(f"{self.base}/readyz")[0] == 200:
                    return
            except OSError:
                pass
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        raise SystemExit("the service does not start:\n" + (self.folder / "log").read_text(encoding="utf-8"))

    def command(self, *arguments):
        done = subprocess.run(
            [self.binary, *arguments, "--json"], cwd=self.folder, env=self.environment, check=True, capture_output=True
        )
        return json.loads(done.stdout)

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=30)


class People(threading.Thread):
    """Logins in both modes until told to stop: right codes, wrong ones, refusals of every kind."""

    def __init__(self, service, outside):
        super().__init__(daemon=True)
        self.base, self.outside = service.base, outside
        self.going = threading.Event()
        made = service.command("project", "create", "--name", "Watched", "--balance-rupees", "10000")
        project = made["project_id"]
        service.command("webhook", "add", "--project", project, "--url", f"http://127.0.0.1:{outside.port}/events")
        self.keys = made["test_key"], made["live_key"]
        self.numbers = count(7_000_000_000)

    def run(self):
        while not self.going.wait(0.2):
            for key in self.keys:
                self.log_in(key, str(next(self.numbers)))
            self.refused()

    def post(self, path, key, body):
        return call(self.base + path, body, {"X-Api-Key": key})

    def log_in(self, key, phone):
        status, _ = self.post("/v1/otp/send", key, {"phone": phone})
        if status != 200:
            return
        code = self.code(key, phone)
        wrong = "000000" if code != "000000" else "000001"
        self.post("/v1/otp/verify", key, {"phone": phone, "code": wrong})
        _, tokens = self.post("/v1/otp/verify", key, {"phone": phone, "code": code})
        self.post("/v1/session/validate", key, {"access_token": tokens["access_token"]})
        self.post("/v1/session/refresh", key, {"refresh_token": tokens["refresh_token"]})
        self.post("/v1/session/logout", key, {"access_token": tokens["access_token"]})

    def code(self, key, phone):
        """The text of the message: for a test key from the sandbox, for a live key from the provider."""
        if key == self.keys[1]:
            return self.outside.codes[phone]
        _, inbox = call(f"{self.base}/v1/sandbox/messages?phone={phone}", headers={"X-Api-Key": key})
        return inbox["messages"][0]["code"]

    def refused(self):
        test = self.keys[0]
        for phone in ("9000000001", "9000000002", "9000000003", "9000000004", "12"):
            self.post("/v1/otp/send", test, {"phone": phone})
        self.post("/v1/otp/send", "svc_test_nobody", {"phone": "9876543210"})
        call(f"{self.base}/nowhere", headers={"X-Api-Key": test})

    def stop(self):
        self.going.set()
        self.join(timeout=30)
