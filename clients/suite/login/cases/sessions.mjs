import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { ACCESS, asks, hasFields, REFRESH, refused, setsCookies } from "../claims.mjs";

const CLEARED = { [ACCESS]: 0, [REFRESH]: 0 };

async function isLive(world, access_token) {
  return (await world.service("POST", "/v1/session/validate", { access_token })).status === 200;
}

/** The tokens that an answer sets, without their ages, which differ when the tokens are sent again. */
const pair = ({ cookies }) => cookies.map(({ name, value }) => `${name}=${value}`).join();

export default {
  "a refresh renews both cookies, and the body has no token": async (world) => {
    const { browser, answer: login } = await world.loggedIn();
    const before = new Map(browser.cookies);
    const answer = await browser.post("refresh");
    assert.equal(answer.status, 200);
    hasFields(answer, "identity_id", "expires_in");
    assert.equal(answer.json.identity_id, login.json.identity_id);
    setsCookies(answer, { [ACCESS]: answer.json.expires_in, [REFRESH]: 2_592_000 });
    for (const name of [ACCESS, REFRESH]) assert.notEqual(browser.cookies.get(name), before.get(name));
    assert.equal(await isLive(world, browser.cookies.get(ACCESS)), true);
    assert.equal((await browser.me()).status, 200);
  },

  "the key of a refresh is the HMAC of its token under the secret": async (world) => {
    const { browser } = await world.loggedIn();
    const token = browser.cookies.get(REFRESH);
    world.gateway.take();
    await browser.post("refresh");
    const [{ headers, body }] = world.gateway.take();
    assert.equal(headers["idempotency-key"], createHmac("sha256", world.secret).update(token).digest("hex"));
    assert.deepEqual(body, { refresh_token: token });
  },

  "two tabs that refresh at once get the same pair": async (world) => {
    const { browser } = await world.loggedIn();
    const answers = await Promise.all(Array.from({ length: 5 }, () => browser.post("refresh")));
    assert.deepEqual([new Set(answers.map(pair)).size, answers[0].status], [1, 200]);
    assert.equal(await isLive(world, browser.cookies.get(ACCESS)), true);
  },

  "a refresh whose answer was lost can be repeated": async (world) => {
    const { browser } = await world.loggedIn();
    const before = new Map(browser.cookies);
    const lost = await browser.post("refresh");
    browser.cookies = before;
    const found = await browser.post("refresh");
    assert.equal(pair(found), pair(lost));
  },

  "without a session a refresh is refused, and the service is not asked": async (world) => {
    const answer = refused(await world.browser().post("refresh"), 401, "SESSION_EXPIRED");
    setsCookies(answer, CLEARED);
    asks(world.gateway);
  },

  "a malformed refresh token clears the cookies": async (world) => {
    const { browser } = await world.loggedIn();
    browser.cookies.set(REFRESH, "svc_rt_x");
    setsCookies(refused(await browser.post("refresh"), 401, "SESSION_EXPIRED"), CLEARED);
  },

  "a refresh token in the body of a page does not count": async (world) => {
    const { browser } = await world.loggedIn();
    const refresh_token = browser.cookies.get(REFRESH);
    world.gateway.take();
    refused(await world.browser().post("refresh", { refresh_token }), 401, "SESSION_EXPIRED");
    asks(world.gateway);
  },

  "a session that was ended elsewhere is over here": async (world) => {
    const { browser } = await world.loggedIn();
    await world.service("POST", "/v1/session/logout", { access_token: browser.cookies.get(ACCESS) });
    setsCookies(refused(await browser.post("refresh"), 401, "SESSION_EXPIRED"), CLEARED);
  },

  "a logout ends the session at the service": async (world) => {
    const { browser } = await world.loggedIn();
    const [access, refresh] = [browser.cookies.get(ACCESS), browser.cookies.get(REFRESH)];
    assert.equal(await isLive(world, access), true);
    const answer = await browser.post("logout");
    assert.deepEqual([answer.status, answer.text], [204, ""]);
    setsCookies(answer, CLEARED);
    assert.equal(await isLive(world, access), false);
    assert.equal((await browser.me()).status, 401);
    browser.cookies.set(REFRESH, refresh);
    refused(await browser.post("refresh"), 401, "SESSION_EXPIRED");
  },

  "a logout without a session is one, and the service is not asked": async (world) => {
    const answer = await world.browser().post("logout");
    assert.equal(answer.status, 204);
    setsCookies(answer, CLEARED);
    asks(world.gateway);
  },

  "a logout whose access token has expired renews it first": async (world) => {
    for (const access of [undefined, "eyJhbGciOiJFUzI1NiJ9.e30.x"]) {
      const { browser } = await world.loggedIn();
      const refresh = browser.cookies.get(REFRESH);
      browser.cookies.delete(ACCESS);
      if (access) browser.cookies.set(ACCESS, access);
      world.gateway.take();
      const answer = await browser.post("logout");
      assert.equal(answer.status, 204);
      setsCookies(answer, CLEARED);
      asks(world.gateway, ...(access ? ["session/logout"] : []), "session/refresh", "session/logout");
      browser.cookies.set(REFRESH, refresh);
      refused(await browser.post("refresh"), 401, "SESSION_EXPIRED");
    }
  },

  "a logout of a session that is over is one": async (world) => {
    const { browser } = await world.loggedIn();
    await world.service("POST", "/v1/session/logout", { access_token: browser.cookies.get(ACCESS) });
    const answer = await browser.post("logout");
    assert.equal(answer.status, 204);
    setsCookies(answer, CLEARED);
  },
};
