// Assertions about answers. Each function throws if its assertion fails.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const DOCUMENT = JSON.parse(readFileSync(new URL("../../login/openapi.json", import.meta.url)));

export const OTP = "__Host-dwar_otp";
export const ACCESS = "__Host-dwar_access";
export const REFRESH = "__Host-dwar_refresh";
export const DEVICE = "__Host-dwar_device";

/** Holds for every answer of the contract; 404 and 405 may be the framework's own. */
export function everyAnswer({ is, status, headers, text, json, cookies }) {
  if (!is.includes(" /login/") || status === 404 || status === 405) return;
  assert.match(headers["cache-control"] ?? "", /no-store/, `${is}: Cache-Control`);
  assert.equal(headers["access-control-allow-origin"], undefined, `${is}: a header for other origins`);
  assert.ok(text === "" || typeof json === "object", `${is}: neither JSON nor empty`);
  isInDocument({ is, status, text, json });
  everyCookie(cookies);
}

/** Holds for every cookie, also of an answer that renews. */
export function everyCookie(cookies) {
  for (const { name, value, attributes } of cookies) {
    assert.ok([OTP, ACCESS, REFRESH, DEVICE].includes(name), `another cookie: ${name}`);
    assert.equal(attributes.httponly, true, `${name}: HttpOnly`);
    assert.equal(attributes.secure, true, `${name}: Secure`);
    assert.equal(attributes.path, "/", `${name}: Path`);
    assert.equal(attributes.domain, undefined, `${name}: Domain`);
    assert.equal(attributes.samesite?.toLowerCase(), [OTP, DEVICE].includes(name) ? "strict" : "lax", `${name}: SameSite`);
    assert.match(attributes["max-age"] ?? "", /^[0-9]+$/, `${name}: Max-Age`);
    assert.ok(value !== "" || attributes["max-age"] === "0", `${name}: no value`);
  }
}

/** The document has this status, and the code if it is a refusal. */
function isInDocument({ is, status, text, json }) {
  const { responses } = DOCUMENT.paths[is.replace("POST /login", "")].post;
  const schema = resolved(responses[status])?.content?.["application/json"].schema;
  assert.ok(schema || status === 204, `${is}: ${status} ${text} is not in the document`);
  if (status >= 400)
    assert.ok(codesOf(schema).includes(json.code), `${is}: ${status} ${json.code} is not in the document`);
}

const codesOf = (schema) => schema.allOf.flatMap(({ properties }) => properties?.code.enum ?? []);

function resolved(object) {
  const names = object?.$ref?.split("/").slice(1);
  return names ? names.reduce((value, name) => value[name], DOCUMENT) : object;
}

/** Returns the answer, so that a case can check more of it. */
export function refused(answer, status, code) {
  assert.deepEqual([answer.status, answer.json?.code], [status, code], `${answer.is}: ${answer.status} ${answer.text}`);
  assert.ok(typeof answer.json.error === "string" && answer.json.error !== "", "no sentence");
  return answer;
}

/** `is` maps names to ages in seconds: exactly these cookies are set, 0 for one that is cleared. */
export function setsCookies({ cookies }, is) {
  const found = cookies.map(({ name, attributes }) => [name, Number(attributes["max-age"])]);
  assert.deepEqual(Object.fromEntries(found.sort()), Object.fromEntries(Object.entries(is).sort()));
  assert.equal(cookies.length, Object.keys(is).length, "a cookie is set twice");
}

export function retryAfter({ headers }, least, most) {
  const seconds = Number(headers["retry-after"]);
  assert.ok(seconds >= least && seconds <= most, `Retry-After is ${headers["retry-after"]}`);
}

/** The fields are these and no others. */
export function hasFields({ json }, ...names) {
  assert.deepEqual(Object.keys(json).sort(), names.sort());
}

export function asks(gateway, ...paths) {
  assert.deepEqual(
    gateway.take().map(({ path }) => path),
    paths.map((path) => `/v1/${path}`),
  );
}

/** Another code of six digits. */
export function other(code) {
  return String((Number(code) + 1) % 1_000_000).padStart(6, "0");
}
