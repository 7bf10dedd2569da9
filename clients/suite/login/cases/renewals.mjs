import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { ACCESS, asks, everyCookie, REFRESH, setsCookies } from "../claims.mjs";
import { refusal } from "../gateway.mjs";

const CLEARED = { [ACCESS]: 0, [REFRESH]: 0 };
const EVIL = { Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" };
const EXPIRED = "eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6IngifQ.e30.x";

/** A browser whose access token has ended: its cookie is gone, or its clock is behind. */
async function stale(world, access) {
  const { browser, answer } = await world.loggedIn();
  browser.cookies.delete(ACCESS);
  if (access) browser.cookies.set(ACCESS, access);
  world.gateway.take();
  return { browser, identity_id: answer.json.identity_id };
}

/** The answer logs in and carries a new pair. */
function renews(answer, identity_id) {
  assert.deepEqual([answer.status, answer.json], [200, { identity_id }], answer.text);
  everyCookie(answer.cookies);
  const age = Number(answer.cookies.find(({ name }) => name === ACCESS)?.attributes["max-age"]);
  assert.ok(age > 0);
  setsCookies(answer, { [ACCESS]: age, [REFRESH]: 2_592_000 });
  assert.match(answer.headers["cache-control"] ?? "", /no-store/, "a cache may keep the new cookies");
}

/** Nobody is logged in, the service was not asked, and no cookie changes. */
function isNobody(world, answer) {
  assert.equal(answer.status, 401, answer.text);
  setsCookies(answer, {});
  asks(world.gateway);
}

const mayRenew = ({ headers }) => /^Bearer\b.*\berror="invalid_token"/.test(headers["www-authenticate"] ?? "");

export default {
  "a page whose access token has ended is renewed by its answer": async (world) => {
    for (const access of [undefined, EXPIRED]) {
      const { browser, identity_id } = await stale(world, access);
      const token = browser.cookies.get(REFRESH);
      renews(await browser.me(), identity_id);
      const [{ path, headers, body }, ...more] = world.gateway.take();
      assert.deepEqual([path, body, more], ["/v1/session/refresh", { refresh_token: token }, []]);
      assert.equal(headers["idempotency-key"], createHmac("sha256", world.secret).update(token).digest("hex"));
      assert.notEqual(browser.cookies.get(REFRESH), token);
      const next = await browser.me();
      assert.equal(next.status, 200);
      setsCookies(next, {});
      asks(world.gateway);
    }
  },

  "a page that is logged in is not renewed": async (world) => {
    const { browser } = await world.loggedIn();
    world.gateway.take();
    setsCookies(await browser.me(), {});
    asks(world.gateway);
  },

  "ten tabs that are renewed at once get the same pair": async (world) => {
    const { browser, identity_id } = await stale(world);
    const answers = await Promise.all(Array.from({ length: 10 }, () => browser.me()));
    for (const answer of answers) renews(answer, identity_id);
    const pairs = answers.map(({ cookies }) => cookies.map(({ name, value }) => `${name}=${value}`).sort().join());
    assert.equal(new Set(pairs).size, 1);
    assert.equal((await browser.me()).status, 200);
    assert.equal((await browser.post("refresh")).status, 200);
  },

  "a tab whose renewal was lost is renewed again": async (world) => {
    const { browser, identity_id } = await stale(world);
    const before = new Map(browser.cookies);
    renews(await browser.me(), identity_id);
    browser.cookies = before;
    renews(await browser.me(), identity_id);
    assert.equal((await browser.me()).status, 200);
  },

  "a link from another site arrives logged in after the access token has ended": async (world) => {
    const { browser, identity_id } = await stale(world);
    renews(await browser.me({ Origin: null, "Sec-Fetch-Site": "cross-site" }), identity_id);
  },

  "an old browser that names no site is renewed": async (world) => {
    const { browser, identity_id } = await stale(world);
    renews(await browser.me({ Origin: null, "Sec-Fetch-Site": null }), identity_id);
  },

  "a form of the own site is renewed, one of another site is not": async (world) => {
    const { browser, identity_id } = await stale(world);
    isNobody(world, await browser.me(EVIL, "POST"));
    isNobody(world, await browser.me({ Origin: null, "Sec-Fetch-Site": "same-site" }, "POST"));
    renews(await browser.me({}, "POST"), identity_id);
  },

  "a bearer token is not renewed": async (world) => {
    const { browser } = await stale(world);
    isNobody(world, await browser.me({ Authorization: "Bearer x" }));
    assert.equal(mayRenew(await browser.claims({ Authorization: "Bearer x" })), false);
  },

  "without a session nothing is renewed": async (world) => isNobody(world, await world.browser().me()),

  "a session that is over is cleared by a page": async (world) => {
    const { browser } = await world.loggedIn();
    await world.service("POST", "/v1/session/logout", { access_token: browser.cookies.get(ACCESS) });
    browser.cookies.delete(ACCESS);
    const answer = await browser.me();
    assert.equal(answer.status, 401);
    everyCookie(answer.cookies);
    setsCookies(answer, CLEARED);
    assert.equal(browser.cookies.size, 0);
  },

  "while nothing can be renewed nobody is logged out": async (world) => {
    for (const fault of ["cut", refusal(503, "SERVICE_UNAVAILABLE"), refusal(401, "INVALID_API_KEY")]) {
      const { browser, identity_id } = await stale(world);
      world.gateway.fail(fault);
      const answer = await browser.me();
      assert.ok(answer.status >= 500, `${answer.status} ${answer.text}`);
      setsCookies(answer, {});
      world.gateway.reset();
      renews(await browser.me(), identity_id);
    }
  },

  "claims alone renew nothing, and say that a renewal may help": async (world) => {
    for (const access of [undefined, EXPIRED]) {
      const { browser, identity_id } = await stale(world, access);
      const answer = await browser.claims();
      isNobody(world, answer);
      assert.equal(mayRenew(answer), true);
      assert.equal(mayRenew(await browser.claims({ Origin: null, "Sec-Fetch-Site": "cross-site" })), true);
      assert.equal(mayRenew(await browser.claims(EVIL, "POST")), false);
      assert.equal((await browser.post("refresh")).status, 200);
      assert.deepEqual((await browser.claims()).json, { identity_id });
    }
  },

  "claims alone do not say so where no renewal can help": async (world) => {
    for (const cookie of [null, "__Host-dwar_refresh=", "theme=dark"]) {
      const answer = await world.browser().claims(cookie === null ? {} : { Cookie: cookie });
      isNobody(world, answer);
      assert.equal(mayRenew(answer), false);
    }
  },
};
