import assert from "node:assert/strict";
import { ACCESS, REFRESH } from "../claims.mjs";

const status = async (answer) => (await answer).status;
const bearer = (token) => ({ Authorization: `Bearer ${token}` });

export default {
  "a page of the application is for those who are logged in": async (world) => {
    const { browser, answer } = await world.loggedIn();
    assert.equal(await status(world.browser().me()), 401);
    assert.deepEqual((await browser.me()).json, { identity_id: answer.json.identity_id });
  },

  "a token that is altered, or another kind, does not open a page": async (world) => {
    const { browser } = await world.loggedIn();
    const good = browser.cookies.get(ACCESS);
    const refresh = browser.cookies.get(REFRESH);
    browser.cookies.delete(REFRESH);
    const [header, payload, signature] = good.split(".");
    const none = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString("base64url");
    const others = ["x", refresh, `${header}.${payload}.`, `${none}.${payload}.`];
    for (const token of [...others, `${header}.${payload}.${signature.split("").reverse().join("")}`]) {
      browser.cookies.set(ACCESS, token);
      assert.equal(await status(browser.me()), 401, token.slice(0, 8));
      assert.equal(await status(world.app().me(bearer(token))), 401, token.slice(0, 8));
    }
  },

  "a token of another project does not open a page": async (world) => {
    const phone = world.phone();
    const ask = async (path, body) => (await world.service("POST", path, body, world.variables.closed_key)).json();
    const inbox = `/v1/sandbox/messages?phone=${phone}`;
    await ask("/v1/otp/send", { phone });
    const { messages } = await (await world.service("GET", inbox, undefined, world.variables.closed_key)).json();
    const { access_token } = await ask("/v1/otp/verify", { phone, code: messages[0].code });
    assert.equal(typeof access_token, "string");
    assert.equal(await status(world.app().me(bearer(access_token))), 401);
  },

  "a bearer token decides if there is one": async (world) => {
    const { browser } = await world.loggedIn();
    const good = browser.cookies.get(ACCESS);
    assert.equal(await status(browser.me(bearer("x"))), 401);
    assert.equal(await status(browser.me({ Authorization: "Basic eDp5" })), 200);
    assert.equal(await status(world.app().me({ Authorization: `bearer ${good}` })), 200);
  },

  "a bearer token decides if it is empty or malformed, too": async (world) => {
    const { browser } = await world.loggedIn();
    const good = browser.cookies.get(ACCESS);
    for (const shown of ["Bearer", "bearer", "Bearer ", `Bearer ${good} x`, `Bearer x ${good}`, `Bearer "${good}"`, "Bearer ,"]) {
      assert.equal(await status(browser.me({ Authorization: shown })), 401, shown.replace(good, "TOKEN"));
      const { headers } = await browser.claims({ Authorization: shown });
      assert.doesNotMatch(headers["www-authenticate"] ?? "", /invalid_token/, shown.replace(good, "TOKEN"));
    }
    for (const shown of ["", "Bearerx", `Bearer:${good}`, "Basic Bearer x"])
      assert.equal(await status(browser.me({ Authorization: shown })), 200, shown.replace(good, "TOKEN"));
  },

  "blanks around a bearer token do not count": async (world) => {
    const { tokens } = await world.appLoggedIn();
    for (const shown of [`Bearer  ${tokens.access_token}`, ` Bearer   ${tokens.access_token}  `, `bearer ${tokens.access_token}\t`])
      assert.equal(await status(world.app().me({ Authorization: shown })), 200);
  },

  "a link from another site arrives logged in": async (world) => {
    const { browser } = await world.loggedIn();
    assert.equal(await status(browser.me({ Origin: null, "Sec-Fetch-Site": "cross-site" })), 200);
  },

  "a form of another site does not arrive logged in": async (world) => {
    const { browser } = await world.loggedIn();
    assert.equal(await status(browser.me({}, "POST")), 200);
    assert.equal(await status(browser.me({ Origin: "https://evil.example" }, "POST")), 401);
    assert.equal(await status(browser.me({ Origin: null, "Sec-Fetch-Site": "cross-site" }, "POST")), 401);
    assert.equal(await status(browser.me({ Origin: null, "Sec-Fetch-Site": "same-site" }, "POST")), 401);
  },

  "a bearer token counts from anywhere": async (world) => {
    const { tokens } = await world.appLoggedIn();
    const headers = { ...bearer(tokens.access_token), Origin: "https://evil.example", Cookie: null };
    assert.equal(await status(world.app().me(headers, "POST")), 200);
  },

  "a page opens while the service is out of reach": async (world) => {
    const { browser } = await world.loggedIn();
    await browser.me();
    world.gateway.fail("cut");
    assert.equal(await status(browser.me()), 200);
  },
};
