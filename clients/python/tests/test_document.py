"""Holds the client to docs/openapi.json: every operation, parameter, field, value and code, and no other."""

import inspect
import json
import re
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest

import dwar_client
from dwar_client import AsyncDwar, Dwar, DwarEvent, Event, ServiceCode, WalletEventData
from operations import METHODS

DOCUMENT = json.loads((Path(__file__).parents[3] / "docs" / "openapi.json").read_text())
SCHEMAS = DOCUMENT["components"]["schemas"]
# For callers that cannot vary a header; a client always can, and sends an `Idempotency-Key`.
del SCHEMAS["RelayBody"]["properties"]["reference"]

OPERATIONS = {
    operation["operationId"]: operation
    for path, methods in DOCUMENT["paths"].items()
    if path.startswith("/v1/") or path == "/.well-known/jwks.json"
    for operation in methods.values()
    # Clients lack the operation that proxies call, and the events, which a job reads in a loop around one GET.
    if not {"Proxies", "Events"} & set(operation["tags"])
}


def test_every_operation_has_a_method_in_both_styles() -> None:
    assert OPERATIONS.keys() == METHODS.keys()
    for method in METHODS.values():
        blocking, asynchronous = getattr(Dwar, method), getattr(AsyncDwar, method)
        assert inspect.signature(blocking) == inspect.signature(asynchronous)


@pytest.mark.parametrize("operation_id", OPERATIONS)
def test_a_method_takes_what_its_operation_takes(operation_id: str) -> None:
    operation = OPERATIONS[operation_id]
    parameters = {one["name"]: one["in"] for one in operation.get("parameters", []) if "name" in one}
    wanted = {name for name, place in parameters.items() if place in ("path", "query")}
    if "Idempotency-Key" in parameters:
        wanted.add("idempotency_key")
    if "requestBody" in operation:
        wanted |= SCHEMAS[schema_of(operation["requestBody"])]["properties"].keys()
    method = inspect.signature(getattr(AsyncDwar, METHODS[operation_id]))
    assert method.parameters.keys() - {"self"} == wanted


@pytest.mark.parametrize("operation_id", OPERATIONS)
def test_a_method_gives_what_its_operation_gives(operation_id: str) -> None:
    answer = get_type_hints(getattr(AsyncDwar, METHODS[operation_id]))["return"]
    assert answer.__name__ == schema_of(OPERATIONS[operation_id]["responses"]["200"])
    same_fields(answer.__name__)


def test_the_codes_are_those_of_the_document() -> None:
    assert set(get_args(ServiceCode)) == set(SCHEMAS["Refused"]["properties"]["code"]["enum"])


def same_fields(name: str) -> None:
    schema, answer = SCHEMAS[name], getattr(dwar_client, name)
    hints = get_type_hints(answer)
    assert hints.keys() == schema["properties"].keys()
    assert answer.__required_keys__ == set(schema["required"])
    for field, of in schema["properties"].items():
        assert values_of_hint(hints[field]) == values_of_schema(of), f"{name}.{field}"
        if "items" in of:
            same_fields(referred(of["items"]))


def values_of_hint(hint: Any) -> set[Any]:
    """What a field may hold: values, types, and the names of objects."""
    if get_origin(hint) is Literal:
        return set(get_args(hint))
    if get_origin(hint) in (Union, UnionType):
        return set().union(*(values_of_hint(one) for one in get_args(hint)))
    if get_origin(hint) is list:
        return {"list of", *values_of_hint(*get_args(hint))}
    return {None if hint is NoneType else hint.__name__}


def values_of_schema(schema: dict[str, Any]) -> set[Any]:
    if "items" in schema:
        return {"list of", referred(schema["items"])}
    if "enum" in schema:
        return set(schema["enum"])
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return {{"string": "str", "integer": "int", "null": None}[one] for one in types}


def schema_of(holder: dict[str, Any]) -> str:
    return referred(holder["content"]["application/json"]["schema"])


def referred(schema: dict[str, str]) -> str:
    return schema["$ref"].rpartition("/")[2]


def documented_events() -> dict[str, set[str]]:
    """The types of docs/events.md and the fields of their data."""
    text = (Path(__file__).parents[3] / "docs" / "events.md").read_text()
    fields: set[str] = set()
    found: dict[str, set[str]] = {}
    for types, told in re.findall(r"^\| (`[a-z]+\.[^|]*) \|[^|]*\| ([^|]*) \|$", text, re.M):
        fields = fields if told == "same" else set(re.findall("`([a-z_]+)`", told))
        found |= dict.fromkeys(re.findall("`([a-z_.]+)`", types), fields | {"project_id", "mode"})
    return found


def test_the_types_of_events_are_those_of_the_document() -> None:
    typed: dict[str, set[str]] = {}
    for event in get_args(dwar_client.DwarEvent):
        types, data = get_args(event)
        typed |= dict.fromkeys(get_args(types), set(get_type_hints(data)))
    assert typed == documented_events()


def of_an_event(event: DwarEvent) -> str:
    """Which mypy and pyright judge."""
    if event.type == "otp.failed" or event.type == "relay.failed":
        return event.data["otp_id"]
    if event.type == "wallet.low":
        return f"{event.data['balance_paise'] / 100:.2f}"
    return event.data["project_id"]


def test_the_type_of_an_event_tells_its_data() -> None:
    data = WalletEventData(project_id="p1", mode="live", balance_paise=5, threshold_paise=7)
    assert of_an_event(Event[Literal["wallet.low"], WalletEventData]("msg_1", "wallet.low", "", data)) == "0.05"
