import assert from "node:assert/strict";
import { asks, refused, retryAfter, setsCookies } from "../claims.mjs";
import { refusal } from "../gateway.mjs";

const unavailable = (answer) => {
  setsCookies(refused(answer, 503, "LOGIN_UNAVAILABLE"), {});
  return answer;
};

/** Each call of a person who is logged in and has requested another code. */
async function everyCall(world, claim) {
  const { browser } = await world.loggedIn();
  const phone = world.phone();
  await browser.post("send", { phone });
  const cookies = new Map(browser.cookies);
  for (const [step, body] of Object.entries({
    send: { phone },
    verify: { phone, code: "123456" },
    refresh: {},
    logout: {},
  }))
    await claim(() => browser.post(step, body), step);
  assert.deepEqual(browser.cookies, cookies);
  return browser;
}

export default {
  "while the service is out of reach nothing is lost": async (world) => {
    const browser = await everyCall(world, async (call) => {
      world.gateway.fail("cut");
      unavailable(await call());
      world.gateway.reset();
    });
    assert.equal((await browser.me()).status, 200);
    assert.equal((await browser.post("refresh")).status, 200);
  },

  "a busy service is unavailable, and its Retry-After is passed on": (world) =>
    everyCall(world, async (call) => {
      world.gateway.fail(refusal(503, "SERVICE_UNAVAILABLE", { "Retry-After": "77" }));
      retryAfter(unavailable(await call()), 77, 77);
      world.gateway.reset();
    }),

  "the limit of the key is not a limit of the person": (world) =>
    everyCall(world, async (call) => {
      world.gateway.fail(refusal(429, "RATE_LIMITED", { "Retry-After": "59" }));
      retryAfter(unavailable(await call()), 59, 59);
      world.gateway.reset();
    }),

  "a refused key logs nobody out": (world) =>
    everyCall(world, async (call) => {
      world.gateway.fail(refusal(401, "INVALID_API_KEY"));
      const answer = unavailable(await call());
      assert.equal(answer.headers["retry-after"], undefined);
      assert.doesNotMatch(answer.text, /key/i);
      world.gateway.reset();
    }),

  "an answer that is not from the service is a fault": (world) =>
    everyCall(world, async (call) => {
      world.gateway.fail({ status: 502, headers: { "Content-Type": "text/html" }, body: "<h1>Bad gateway</h1>" });
      unavailable(await call());
      world.gateway.fail({ status: 200, headers: { "Content-Type": "application/json" }, body: "{}" });
      unavailable(await call());
      world.gateway.reset();
    }),

  "a verify whose answer is lost is not repeated": async (world) => {
    const browser = world.browser();
    const phone = world.phone();
    await browser.post("send", { phone });
    world.gateway.take();
    world.gateway.fail("cut");
    unavailable(await browser.post("verify", { phone, code: "123456" }));
    asks(world.gateway, "otp/verify");
  },

  "a logout that failed halfway can be repeated": async (world) => {
    const { browser } = await world.loggedIn();
    browser.cookies.delete("__Host-dwar_access");
    world.gateway.fail((path) => path === "/v1/session/logout" && "cut");
    unavailable(await browser.post("logout"));
    world.gateway.reset();
    assert.equal((await browser.post("logout")).status, 204);
    asks(world.gateway, "session/refresh", "session/logout");
  },
};
