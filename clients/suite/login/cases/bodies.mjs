import assert from "node:assert/strict";
import { asks, refused } from "../claims.mjs";

const STEPS = ["send", "verify", "refresh", "logout"];
const post = (world, step, body, headers) => world.browser().ask("POST", `/login/${step}`, { body, headers });

export default {
  "a body that is not declared as JSON is refused": async (world) => {
    for (const type of [null, "text/plain", "application/x-www-form-urlencoded", "application/jsonx", "text/json"])
      for (const step of STEPS)
        refused(await post(world, step, "{}", { "Content-Type": type }), 415, "UNSUPPORTED_MEDIA_TYPE");
    asks(world.gateway);
  },

  "JSON may name its charset": async (world) => {
    for (const type of ["application/json; charset=utf-8", "application/json;charset=UTF-8", "Application/JSON"])
      assert.equal((await post(world, "logout", "{}", { "Content-Type": type })).status, 204);
  },

  "anything but a JSON object is refused": async (world) => {
    for (const body of ["", "{", "[]", "null", '"x"', "5", "{}{}", "phone=9876543210", Buffer.from([0x7b, 0xff, 0x7d])])
      for (const step of STEPS) refused(await post(world, step, body), 400, "INVALID_REQUEST");
    asks(world.gateway);
  },

  "a body over 16 KiB is refused, with its length told or not": async (world) => {
    const body = JSON.stringify({ phone: world.phone(), filler: "x".repeat(16 * 1024) });
    for (const headers of [{}, { "Transfer-Encoding": "chunked" }])
      refused(await post(world, "send", body, headers), 413, "PAYLOAD_TOO_LARGE");
    asks(world.gateway);
  },

  "a body of 16 KiB is read": async (world) => {
    const start = `{"phone":"${world.phone()}","filler":"`;
    const body = `${start}${"x".repeat(16 * 1024 - start.length - 2)}"}`;
    assert.equal(body.length, 16 * 1024);
    assert.equal((await post(world, "send", body)).status, 200);
    assert.equal((await post(world, "send", body, { "Transfer-Encoding": "chunked" })).status, 200);
  },

  "another method is refused": async (world) => {
    for (const step of STEPS) {
      const answer = await world.browser().ask("GET", `/login/${step}`);
      assert.equal(answer.status, 405);
      assert.match(answer.headers.allow ?? "", /\bPOST\b/);
    }
    asks(world.gateway);
  },

  "another path is not there": async (world) => {
    for (const path of ["other", "send/x", "sendx", "%73end2"])
      assert.equal((await post(world, path, "{}")).status, 404, path);
    asks(world.gateway);
  },

  "deep and odd JSON does not count as a fault": async (world) => {
    const deep = `${'{"a":'.repeat(2000)}1${"}".repeat(2000)}`;
    for (const body of [
      deep,
      '{"__proto__":{"phone":"9876543210"}}',
      '{"phone":{"toString":1}}',
      '{"phone":"\\ud800"}',
    ])
      for (const step of STEPS) {
        const { status } = await post(world, step, body);
        assert.ok(status === 204 || (status >= 400 && status < 500), `${step}: ${status}`);
      }
  },

  "odd cookies do not count as a fault": async (world) => {
    const browser = world.browser();
    for (const cookie of ["", ";;;", "=", "__Host-dwar_refresh", "__Host-dwar_refresh=", 'a="b; c', "x".repeat(4000)]) {
      refused(await browser.post("refresh", {}, { Cookie: cookie }), 401, "SESSION_EXPIRED");
      assert.equal((await browser.me({ Cookie: cookie })).status, 401);
    }
    asks(world.gateway);
  },
};
