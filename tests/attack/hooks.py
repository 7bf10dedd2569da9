"""What schemathesis cannot know: how a login comes about, how CSV and lines of JSON are read, and what was answered.

Of the requests that are right by the document, every other one gets a session, a code or an identity that is
really there, so that each operation also does what it is for. What was answered is written to the file that
ATTACK_TALLY names when the run ends.
"""

import atexit
import collections
import functools
import http.server
import itertools
import json
import os
import threading
import time

import requests
import schemathesis
from schemathesis.generation import GenerationMode

PUBLIC = os.environ["ATTACK_PUBLIC"]
ADMIN = os.environ["ATTACK_ADMIN"] + "/admin/v1"
TEST = {"X-Api-Key": os.environ["ATTACK_TEST_KEY"]}
TOKEN = {"Authorization": "Bearer " + os.environ["ATTACK_TOKEN"]}
PROJECT = os.environ["ATTACK_PROJECT"]
OWN = f"/projects/{PROJECT}"
numbers = itertools.count(9_100_000_000, 7)
turn = itertools.count()
answered = collections.defaultdict(collections.Counter)


def ask(method, path, headers=None, **rest):
    """The answer of the public API, which has to have the given status."""
    response = requests.request(method, PUBLIC + path, headers=headers or TEST, timeout=10, **rest)
    response.raise_for_status()
    return response.json()


def code():
    """A code that is in force: phone, code, request."""
    phone = str(next(numbers))
    sent = ask("POST", "/v1/otp/send", json={"phone": phone})
    messages = ask("GET", "/v1/sandbox/messages", params={"phone": phone})["messages"]
    return {"phone": phone, "code": messages[0]["code"], "otp_id": sent["otp_id"]}


def login():
    """A session and its phone."""
    used = code()
    return ask("POST", "/v1/otp/verify", json=used) | {"phone": used["phone"]}


@functools.cache
def paid():
    """A project with money: its id, and its live key."""
    project = made("/projects", {"name": "Paid", "balance_paise": 100_000_000})
    return project["project_id"], project["live_key"]


def charged():
    """A send that was charged."""
    # A generated change may have taken its providers away.
    providers = {"whatsapp_providers": None, "sms_providers": None}
    requests.patch(f"{ADMIN}/projects/{paid()[0]}", headers=TOKEN, json=providers, timeout=10).raise_for_status()
    key = {"X-Api-Key": paid()[1]}
    return ask("POST", "/v1/otp/send", headers=key, json={"phone": str(next(numbers))})["otp_id"]


def listed(path):
    """A list of the admin API."""
    response = requests.get(ADMIN + path, headers=TOKEN, timeout=10)
    return response.json()["items"] if response.ok else []


def made(path, body, *members):
    """Something that the admin API has created, by these members."""
    response = requests.post(ADMIN + path, headers=TOKEN, json=body, timeout=10)
    response.raise_for_status()
    answer = response.json()
    for member in members:
        answer = answer[member]
    return answer


def operator():
    """An invited person: name and access."""
    access = {"everything": False, "projects": [{"project_id": PROJECT, "role": "viewer"}]}
    return {"name": f"op{next(numbers)}", "access": access}


class Taker(http.server.BaseHTTPRequestHandler):
    """An endpoint that accepts every event."""

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


taker = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Taker)
threading.Thread(target=taker.serve_forever, daemon=True).start()


def make_room(path, member):
    """Removes what earlier requests made, where a project may have no more: twenty of each."""
    there = [item[member] for item in listed(path)]
    for one in there if len(there) >= 20 else []:
        if one != WATCHED:
            requests.delete(f"{ADMIN}{path}/{one}", headers=TOKEN, timeout=10).raise_for_status()


def hook():
    """A webhook that works."""
    make_room(OWN + "/webhooks", "webhook_id")
    url = f"http://127.0.0.1:{taker.server_port}/{next(numbers)}"
    return made(OWN + "/webhooks", {"url": url}, "webhook", "webhook_id")


def login_hook():
    """A hook for the codes of another login system."""
    make_room(OWN + "/hooks", "hook_id")
    new = {"kind": "supabase", "mode": "test", "expires_in": 300}
    return made(OWN + "/hooks", new, "hook", "hook_id")


def real(operation, case):
    """Changes a request so that it names something that exists."""
    if operation in ("verifyOtp", "checkOtp"):
        case.body = code()
    elif operation in ("validateSession", "logoutSession"):
        case.body = {"access_token": login()["access_token"]}
    elif operation == "forwardAuth":
        case.headers["Authorization"] = "Bearer " + login()["access_token"]
    elif operation == "introspectToken":
        case.body = {"token": login()["access_token"]}
    elif operation == "refreshSession":
        case.body = {"refresh_token": login()["refresh_token"]}
    elif operation in ("getIdentity", "deleteIdentity"):
        case.path_parameters = {"id": login()["identity_id"]}
    elif operation.startswith("getIssuer") or operation == "getOpenIdConfiguration":
        case.path_parameters = {"project": PROJECT}
    elif operation == "findIdentity":
        case.query = {"phone": login()["phone"]}
    elif operation == "find_identity":
        case.body = {"phone": login()["phone"]}
    elif operation == "refund_send":
        case.body = {"otp_id": charged()}
    elif operation == "invite_operator":
        case.body = operator()
    elif operation == "make_token":
        case.body = operator() | {"lifetime_seconds": 3_600, "may_delegate": False}
    elif operation == "change_operator":
        case.body = operator()["access"]
    elif operation == "regenerate_key":
        keys = {key["mode"]: key["key_id"] for key in listed(f"/projects/{spare()}/keys")}
        case.body = {"replaces": keys["live"]}
    elif operation == "resend_event":
        case.body = {"event_id": EVENT}


@functools.cache
def spare():
    """A project whose keys no other request needs."""
    return made("/projects", {"name": "Spare"}, "project_id")


def whose(operation):
    """The project that an operation may be about without disturbing the others."""
    if operation in ("regenerate_key", "archive_project"):
        return spare()
    return paid()[0] if operation == "refund_send" else PROJECT


def entered(operation, parts):
    """The parts of a path of the admin API, each of something that exists."""
    name = operation.definition.raw["operationId"]
    of_login = login() if {"identity", "session"} & parts.keys() else {}
    values = {
        "project": lambda: whose(name),
        "mode": lambda: "live" if name == "regenerate_key" else "test",
        "identity": lambda: of_login["identity_id"],
        "session": lambda: of_login["session_id"],
        "request": lambda: code()["otp_id"],
        "hook": login_hook,
        "webhook": lambda: WATCHED if name in ("resend_event", "list_webhook_calls") else hook(),
        "operator": lambda: made("/operators", operator(), "operator", "operator_id"),
        "token": lambda: made(
            "/tokens", operator() | {"lifetime_seconds": 3_600, "may_delegate": False}, "token", "token_id"
        ),
    }
    return {part: values[part]() for part in parts}


def told():
    """An event that the watched webhook has accepted; it can be sent again a few seconds later."""
    login()
    while True:
        calls = [entry["call"] for entry in listed(f"{OWN}/webhooks/{WATCHED}/calls")]
        taken = [call["event_id"] for call in calls if call["taken"]]
        if taken:
            return taken[0]
        time.sleep(0.2)


WATCHED = hook()
EVENT = told()


def id_of(case):
    return case.operation.definition.raw["operationId"]


@schemathesis.hook
def before_call(context, case, kwargs):
    generated = case.meta and case.meta.generation.mode == GenerationMode.POSITIVE
    if generated and not case.meta.phase.name.value == "stateful" and next(turn) % 2:
        real(id_of(case), case)
        if case.operation.path.startswith("/admin/"):
            case.path_parameters = entered(case.operation, case.path_parameters or {})
    # Schemathesis fills in ids from earlier answers too.
    parts = case.path_parameters or {}
    if parts.get("project") == PROJECT:
        case.path_parameters = parts | {"project": whose(id_of(case))}


@schemathesis.hook
def after_call(context, case, response):
    answered[id_of(case)][str(response.status_code)] += 1


@schemathesis.deserializer("text/csv")
def read_csv(context, response):
    return response.content.decode()


@schemathesis.deserializer("application/x-ndjson")
def read_lines(context, response):
    return [json.loads(line) for line in response.content.decode().splitlines()]


@atexit.register
def tell():
    with open(os.environ["ATTACK_TALLY"], "w", encoding="utf-8") as file:
        json.dump(answered, file)
