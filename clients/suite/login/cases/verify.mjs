import assert from "node:assert/strict";
import { ACCESS, asks, hasFields, other, OTP, REFRESH, refused, retryAfter, setsCookies } from "../claims.mjs";

/** A browser that has asked for a code, its phone and the code. */
async function asked(world, phone = world.phone()) {
  const browser = world.browser();
  assert.equal((await browser.post("send", { phone })).status, 200);
  return { browser, phone, code: await world.code(phone) };
}

export default {
  "the right code logs in, and the tokens are in cookies alone": async (world) => {
    const { browser, phone, code } = await asked(world);
    const answer = await browser.post("verify", { phone, code });
    assert.equal(answer.status, 200);
    hasFields(answer, "identity_id", "expires_in");
    setsCookies(answer, { [ACCESS]: answer.json.expires_in, [REFRESH]: 2_592_000, [OTP]: 0 });
    assert.ok(!answer.text.includes(browser.cookies.get(ACCESS)));
    assert.deepEqual((await browser.me()).json, { identity_id: answer.json.identity_id });
  },

  "verify names the otp_id of the cookie": async (world) => {
    const { browser, phone, code } = await asked(world);
    const otp_id = browser.cookies.get(OTP);
    world.gateway.take();
    await browser.post("verify", { phone, code });
    assert.deepEqual(world.gateway.take()[0].body, { phone, code, otp_id });
  },

  "a stranger's code opens nothing here": async (world) => {
    const { browser, phone } = await asked(world);
    const stranger = await asked(world, phone);
    refused(await browser.post("verify", { phone, code: stranger.code }), 400, "OTP_NOT_FOUND");
    assert.equal((await stranger.browser.post("verify", { phone, code: stranger.code })).status, 200);
  },

  "without a request of its own a page has no code, and the service is not asked": async (world) => {
    const { browser, phone, code } = await asked(world);
    world.gateway.take();
    refused(await world.browser().post("verify", { phone, code }), 400, "OTP_NOT_FOUND");
    asks(world.gateway);
    assert.equal((await browser.post("verify", { phone, code })).status, 200);
  },

  "an otp_id in the body of a page does not count": async (world) => {
    const { browser, phone, code } = await asked(world);
    const otp_id = browser.cookies.get(OTP);
    world.gateway.take();
    refused(await world.browser().post("verify", { phone, code, otp_id }), 400, "OTP_NOT_FOUND");
    asks(world.gateway);
  },

  "a cookie with something else has no code": async (world) => {
    const { phone, code } = await asked(world);
    for (const value of ["x", "01a1fd34-3aef-7770-a038-fb77decadd73", '"quoted"', "%00%zz"]) {
      const browser = world.browser();
      browser.cookies.set(OTP, value);
      refused(await browser.post("verify", { phone, code }), 400, "OTP_NOT_FOUND");
    }
  },

  "a wrong code sets no cookie, and the right one works after it": async (world) => {
    const { browser, phone, code } = await asked(world);
    const answer = refused(await browser.post("verify", { phone, code: other(code) }), 400, "INVALID_OTP");
    setsCookies(answer, {});
    assert.match(answer.json.request_id, /./);
    assert.equal((await browser.post("verify", { phone, code })).status, 200);
  },

  "a code is locked by wrong guesses": async (world) => {
    const { browser, phone, code } = await asked(world);
    for (let guesses = 0; guesses < 3; guesses++)
      refused(await browser.post("verify", { phone, code: other(code) }), 400, "INVALID_OTP");
    retryAfter(refused(await browser.post("verify", { phone, code }), 429, "VERIFY_RATE_LIMITED"), 1, 600);
  },

  "a code works once": async (world) => {
    const { browser, phone, code } = await asked(world);
    const otp_id = browser.cookies.get(OTP);
    await browser.post("verify", { phone, code });
    browser.cookies.set(OTP, otp_id);
    refused(await browser.post("verify", { phone, code }), 400, "OTP_NOT_FOUND");
  },

  "what cannot be a code is refused": async (world) => {
    const { browser, phone } = await asked(world);
    for (const code of ["", "12345", "1234567", "abcdef", null, 123456, [], undefined])
      refused(await browser.post("verify", { phone, code }), 422, "INVALID_OTP_CODE");
  },

  "a malformed phone is refused before its code": async (world) => {
    const { browser } = await asked(world);
    for (const phone of ["", "x", null, 5])
      refused(await browser.post("verify", { phone, code: 1 }), 422, "INVALID_PHONE");
  },

  "the person of a phone is the same at the next login": async (world) => {
    const { browser, phone, code } = await asked(world);
    const first = await browser.post("verify", { phone, code });
    const again = await asked(world, phone);
    const second = await again.browser.post("verify", { phone, code: again.code });
    assert.equal(second.json.identity_id, first.json.identity_id);
  },
};
