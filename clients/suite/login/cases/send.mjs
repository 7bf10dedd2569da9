import assert from "node:assert/strict";
import { asks, hasFields, OTP, refused, retryAfter, setsCookies } from "../claims.mjs";

export default {
  "a send answers with the request and its life, and keeps it in a cookie": async (world) => {
    const browser = world.browser();
    const answer = await browser.post("send", { phone: world.phone() });
    assert.equal(answer.status, 200);
    hasFields(answer, "otp_id", "expires_in");
    setsCookies(answer, { [OTP]: answer.json.expires_in });
    assert.equal(browser.cookies.get(OTP), answer.json.otp_id);
    assert.ok(answer.json.expires_in > 500 && answer.json.expires_in <= 600);
    asks(world.gateway, "otp/send");
  },

  "a phone may have +91": async (world) => {
    const phone = `+91${world.phone()}`;
    assert.equal((await world.browser().post("send", { phone })).status, 200);
    assert.match(await world.code(phone), /^[0-9]{6}$/);
  },

  "unknown fields are ignored": async (world) => {
    const answer = await world.browser().post("send", { phone: world.phone(), captcha: "x", otp_id: "y", tokens: "z" });
    assert.equal(answer.status, 200);
  },

  "what cannot be a number is refused, and the service is not asked": async (world) => {
    for (const phone of ["", "98765 43210", "abc", "+", "９８７６５４３２１０"]) {
      const answer = refused(await world.browser().post("send", { phone }), 422, "INVALID_PHONE");
      setsCookies(answer, {});
    }
    asks(world.gateway);
  },

  "a phone that is absent or no text is refused": async (world) => {
    for (const body of [{}, { phone: null }, { phone: ["9876543210"] }, { phone: { a: 1 } }, { phone: 9876543210 }])
      refused(await world.browser().post("send", body), 422, "INVALID_PHONE");
  },

  "a number that the service does not know is refused": async (world) => {
    const answer = refused(await world.browser().post("send", { phone: "5876543210" }), 422, "INVALID_PHONE");
    assert.match(answer.json.request_id, /./);
    asks(world.gateway, "otp/send");
  },

  "a phone gets a few codes, whatever the address": async (world) => {
    const phone = world.phone();
    for (let sends = 0; sends < 5; sends++) assert.equal((await world.browser().post("send", { phone })).status, 200);
    const answer = refused(await world.browser().post("send", { phone }), 429, "OTP_RATE_LIMITED");
    retryAfter(answer, 1, 600);
    setsCookies(answer, {});
  },

  "an empty wallet is no business of the person": async (world) => {
    const answer = refused(await world.browser().post("send", { phone: "9000000004" }), 503, "LOGIN_UNAVAILABLE");
    assert.doesNotMatch(answer.text, /balance|wallet/i);
  },

  "what providers say is no business of the person": async (world) => {
    refused(await world.browser().post("send", { phone: "9000000002" }), 503, "LOGIN_UNAVAILABLE");
  },
};
