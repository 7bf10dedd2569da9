import assert from "node:assert/strict";
import { ACCESS, asks, hasFields, OTP, REFRESH, refused, setsCookies } from "../claims.mjs";

const TOKENS = ["identity_id", "expires_in", "access_token", "refresh_token", "refresh_expires_in"];

export default {
  "an app gets the tokens in the body, and no cookie": async (world) => {
    const { app, answer, tokens } = await world.appLoggedIn();
    hasFields(answer, ...TOKENS);
    setsCookies(answer, {});
    assert.equal(tokens.refresh_expires_in, 2_592_000);
    const me = await app.me({ Authorization: `Bearer ${tokens.access_token}`, Cookie: null });
    assert.deepEqual(me.json, { identity_id: tokens.identity_id });
  },

  "an app renews its tokens by the body": async (world) => {
    const { app, tokens } = await world.appLoggedIn();
    const answer = await app.post("refresh", { refresh_token: tokens.refresh_token, tokens: "body" });
    assert.equal(answer.status, 200);
    hasFields(answer, ...TOKENS);
    setsCookies(answer, {});
    assert.notEqual(answer.json.refresh_token, tokens.refresh_token);
  },

  "an app ends its session by either token": async (world) => {
    for (const name of ["access_token", "refresh_token"]) {
      const { app, tokens } = await world.appLoggedIn();
      assert.equal((await app.post("logout", { [name]: tokens[name] })).status, 204);
      const { access_token } = tokens;
      assert.equal((await world.service("POST", "/v1/session/validate", { access_token })).status, 401);
    }
  },

  "an otp_id in a cookie of an app does not count": async (world) => {
    const app = world.app();
    const phone = world.phone();
    const { otp_id } = (await app.post("send", { phone })).json;
    const code = await world.code(phone);
    app.cookies.set(OTP, otp_id);
    world.gateway.take();
    refused(await app.post("verify", { phone, code, tokens: "body" }), 400, "OTP_NOT_FOUND");
    asks(world.gateway);
  },

  "tokens in cookies of an app do not count": async (world) => {
    const { browser } = await world.loggedIn();
    const app = world.app();
    app.cookies = browser.cookies;
    world.gateway.take();
    refused(await app.post("refresh", { tokens: "body" }), 401, "SESSION_EXPIRED");
    assert.equal(
      (await world.app().post("logout", {}, { Cookie: `${ACCESS}=${browser.cookies.get(ACCESS)}` })).status,
      204,
    );
    asks(world.gateway);
  },

  "fields of an app that are not text are empty": async (world) => {
    for (const value of [null, 5, {}, ["x"], true]) {
      const app = world.app();
      const guess = { phone: world.phone(), code: "123456", otp_id: value };
      refused(await app.post("verify", guess), 400, "OTP_NOT_FOUND");
      refused(await app.post("refresh", { refresh_token: value }), 401, "SESSION_EXPIRED");
      assert.equal((await app.post("logout", { access_token: value, refresh_token: value })).status, 204);
    }
    asks(world.gateway);
  },

  "a page gets no token in the body, and its code is not used up": async (world) => {
    const phone = world.phone();
    const browser = world.browser();
    await browser.post("send", { phone });
    const guess = { phone, code: await world.code(phone), tokens: "body" };
    world.gateway.take();
    for (const headers of [{}, { Origin: null }, { "Sec-Fetch-Site": null }]) {
      const answer = refused(await browser.post("verify", guess, headers), 403, "ORIGIN_REFUSED");
      setsCookies(answer, {});
    }
    asks(world.gateway);
    assert.equal((await browser.post("verify", { ...guess, tokens: undefined })).status, 200);
  },

  "a page gets no token in the body of a refresh, not even by a token that it names": async (world) => {
    const { browser } = await world.loggedIn();
    const refresh_token = browser.cookies.get(REFRESH);
    world.gateway.take();
    for (const body of [{ tokens: "body" }, { tokens: "body", refresh_token }])
      refused(await browser.post("refresh", body), 403, "ORIGIN_REFUSED");
    asks(world.gateway);
  },
};
