// Logs a person in by better-auth, in both ways, against the service (DWAR_BIN) and its sandbox.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { betterAuth } from "better-auth";
import { memoryAdapter } from "better-auth/adapters/memory";
import { Dwar } from "dwar-client";
import { serve } from "../../suite/serve.mjs";
import { byDelivery } from "./delivery.mjs";
import { byVerification } from "./verification.mjs";

let service, dwar;
before(async () => {
  service = await serve("real");
  dwar = new Dwar({ url: service.variables.url, apiKey: service.variables.test_key });
});
after(() => service.stop());

const SIGN_UP = { signUpOnVerification: { getTempEmail: (phone) => `${phone.slice(1)}@example.invalid` } };

/** better-auth with nothing but logins by phone, as a function from path and body to status and answer. */
function backend(plugin) {
  const tables = { user: [], session: [], account: [], verification: [] };
  const auth = betterAuth({
    baseURL: "http://127.0.0.1:1",
    secret: "for this test alone, 32 characters or more",
    database: memoryAdapter(tables),
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: { disabled: true },
    plugins: [plugin],
  });
  const post = async (path, body) => {
    const headers = { "content-type": "application/json" };
    const request = { method: "POST", headers, body: JSON.stringify(body) };
    const response = await auth.handler(new Request(`http://127.0.0.1:1/api/auth/phone-number/${path}`, request));
    return { status: response.status, answer: await response.json() };
  };
  return { post, tables };
}

const lastCode = async (phone) => (await dwar.sandboxMessages(phone)).messages[0].code;
const other = (code) => String((Number(code) + 1) % 1_000_000).padStart(6, "0");

for (const [way, plugin, phone] of [
  ["Dwar delivers the code of better-auth", byDelivery, "+919812345670"],
  ["Dwar makes and checks the code", byVerification, "+919812345671"],
]) {
  test(`${way}, and the right one logs in`, async () => {
    const { post, tables } = backend(plugin(dwar, SIGN_UP));
    assert.equal((await post("send-otp", { phoneNumber: phone })).status, 200);
    const code = await lastCode(phone);
    const wrong = await post("verify", { phoneNumber: phone, code: other(code) });
    assert.equal(wrong.status, 400);
    assert.equal(tables.session.length, 0);

    const right = await post("verify", { phoneNumber: phone, code });
    assert.equal(right.status, 200);
    assert.equal(right.answer.user.phoneNumber, phone);
    assert.equal(tables.session.length, 1);
    assert.notEqual((await post("verify", { phoneNumber: phone, code })).status, 200);
  });
}

test("a relayed code opens nothing at Dwar", async () => {
  const phone = "+919812345672";
  const { post } = backend(byDelivery(dwar, SIGN_UP));
  await post("send-otp", { phoneNumber: phone });
  const code = await lastCode(phone);
  await assert.rejects(dwar.verify({ phone, code }), { code: "OTP_NOT_FOUND" });
  await assert.rejects(dwar.check({ phone, code }), { code: "OTP_NOT_FOUND" });
});
