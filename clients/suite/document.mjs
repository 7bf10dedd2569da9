// Makes samples and cases from docs/openapi.json: a client has to know every operation under /v1/, every field and
// every code.
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";

const DOCUMENT = JSON.parse(readFileSync(new URL("../../docs/openapi.json", import.meta.url)));
const SCHEMAS = DOCUMENT.components.schemas;
// For callers that cannot vary a header; a client always can, and sends an `Idempotency-Key`.
delete SCHEMAS.RelayBody.properties.reference;
const EVENTS = readFileSync(new URL("../../docs/events.md", import.meta.url), "utf8");

/** An object of this schema with all of its fields. */
export function sample(name) {
  return sampleOf(SCHEMAS[name]);
}

function sampleOf(schema) {
  if (schema.$ref) return sample(schema.$ref.split("/").at(-1));
  if (schema.properties) {
    return Object.fromEntries(Object.entries(schema.properties).map(([name, field]) => [name, sampleOf(field)]));
  }
  if (schema.items) return [sampleOf(schema.items)];
  if (schema.enum) return schema.enum[0];
  const example = schema.examples?.find((one) => one !== null) ?? schema.example;
  if (example !== undefined) return example;
  if (schema.pattern === "^[0-9]{6}$") return "123456";
  if (schema.pattern?.includes("[6-9][0-9]{9}")) return "+919876543210";
  const [type] = [schema.type].flat();
  return { string: "text", integer: schema.minimum ?? 1, boolean: true }[type];
}

/**
 * The operations under /v1/ that clients have: not the one that proxies call, and not the events, which a job reads in
 * a loop around one GET.
 */
export function operations() {
  return Object.entries(DOCUMENT.paths)
    .filter(([path]) => path.startsWith("/v1/"))
    .flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, operation })))
    .filter(({ operation }) => !operation.tags.some((tag) => ["Proxies", "Events"].includes(tag)));
}

/** Every code of a refusal. */
export function codes() {
  return SCHEMAS.Refused.properties.code.enum;
}

/**
 * Samples of the schemas that operations under /v1/ and the public keys use, for clients whose types can be checked:
 * each with all fields, and once more for each value of an enumeration.
 */
export function samples() {
  const text = JSON.stringify([
    ...operations().map(({ operation }) => operation),
    DOCUMENT.paths["/.well-known/jwks.json"],
  ]);
  const found = new Set();
  const follow = (json) => {
    for (const [, name] of json.matchAll(/#\/components\/schemas\/(\w+)/g)) {
      if (found.has(name) || name === "Refused") continue;
      found.add(name);
      follow(JSON.stringify(SCHEMAS[name]));
    }
  };
  follow(text);
  return [...found].flatMap((schema) => variants(schema).map((sample) => ({ schema, sample })));
}

function variants(name) {
  const values = Object.entries(SCHEMAS[name].properties).flatMap(([field, { enum: all = [] }]) =>
    all.map((value) => ({ [field]: value })),
  );
  return [sample(name), ...values.map((changed) => ({ ...sample(name), ...changed }))];
}

/** Every type of event, with a sample of its data: the table of docs/events.md. */
export function events() {
  let fields = [];
  return [...EVENTS.matchAll(/^\| (`[a-z]+\.[^|]*) \|[^|]*\| ([^|]*) \|$/gm)].flatMap(([, types, told]) => {
    if (told !== "same") fields = named(told);
    const data = Object.fromEntries(["project_id", "mode", ...fields].map((name) => [name, eventField(name)]));
    return named(types).map((type) => ({ type, data }));
  });
}

function named(cell) {
  return [...cell.matchAll(/`([a-z_.]+)`/g)].map(([, name]) => name);
}

function eventField(name) {
  if (name.endsWith("_id")) return "01a1fd52-99b3-7153-a92f-729c806553a2";
  if (name === "failing_since" || name === "since") return "2026-11-21T08:57:07.416Z";
  const words = { channel: "whatsapp", provider: "msg91", alert: "wallet_empty", severity: "page", subject: "series", guard: "watch" };
  return { mode: "live", phone: "+9198••••3210", ...words }[name] ?? 7;
}

/** One case for each operation, for each code and for each type of event. */
export function documentCases() {
  const told = events();
  const nothing = { ...told[0].data, channel: null, phone: null };
  return [
    ...operations().map(operationCase),
    ...codes().map(codeCase),
    ...told.map(({ type, data }) => eventCase(type, data)),
    eventCase("otp.sent", nothing, { phone: "@absent", channel: "@absent" }, "document: otp.sent of an erased person"),
    eventCase("otp.dreamed", { later: 1 }, { later: 1 }, "document: a type of event of a later version"),
    eventCase("wallet.low", { balance_paise: "7" }, { balance_paise: "7" }, "document: wallet.low of a later version"),
  ];
}

function eventCase(type, data, expected = data, name = `document: ${type}`) {
  const secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
  const body = JSON.stringify({ type, timestamp: "2026-11-21T08:57:07.416Z", data });
  const mac = createHmac("sha256", Buffer.from(secret.slice(6), "base64")).update(`msg_1.1674087231.${body}`);
  const headers = {
    "webhook-id": "msg_1",
    "webhook-timestamp": "1674087231",
    "webhook-signature": `v1,${mac.digest("base64")}`,
  };
  return {
    name,
    server: "fake",
    steps: [
      { clock_at: 1674087231 },
      {
        on: "events",
        call: "verifyEvent",
        args: { secret, headers, body },
        expect: { result: { type, timestamp: "2026-11-21T08:57:07.416Z", data: expected } },
      },
    ],
  };
}

function operationCase({ path, method, operation }) {
  const given = (operation.parameters ?? []).filter(({ in: place }) => place === "path" || place === "query");
  const args = Object.fromEntries(given.map(({ name, schema }) => [name, sampleOf(schema)]));
  const body = operation.requestBody && sampleOf(operation.requestBody.content["application/json"].schema);
  const answer = sampleOf(operation.responses["200"].content["application/json"].schema);
  const real = path.replace(/\{(\w+)\}/g, (_, name) => args[name]);
  const query = given
    .filter(({ in: place }) => place === "query")
    .map(({ name }) => `${name}=${encodeURIComponent(args[name])}`);
  const is = `${method.toUpperCase()} ${real}`;
  return {
    name: `document: ${operation.operationId}`,
    server: "fake",
    fake: { [is]: [{ body: answer }] },
    steps: [
      { call: operation.operationId, args: { ...args, ...body }, expect: { result: answer, request_id: "fake-1" } },
      {
        requests: [
          { is, path: [real, ...query].join("?"), headers: { "x-api-key": "$test_key", "user-agent": "@user-agent" }, ...(body && { body }) },
        ],
      },
    ],
  };
}

/** Sent once, whatever the code: logout is not repeated. */
function codeCase(code) {
  return {
    name: `document: ${code}`,
    server: "fake",
    fake: { "POST /v1/session/logout": [{ error: code, status: 418, retry_after: 7 }] },
    steps: [
      {
        call: "logoutSession",
        args: { access_token: "at_1" },
        expect: { error: { code, status: 418, request_id: "fake-1", retry_after: 7 } },
      },
      { requests: [{ is: "POST /v1/session/logout" }] },
    ],
  };
}
