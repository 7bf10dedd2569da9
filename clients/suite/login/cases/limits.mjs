import assert from "node:assert/strict";
import { asks, refused, retryAfter, setsCookies } from "../claims.mjs";
import { refusal } from "../gateway.mjs";

const CODES = 30;
const send = (world, asker, headers) => asker.post("send", { phone: world.phone() }, headers);

/** Requests as many codes as an address may request in ten minutes. */
async function sendsAll(world, asker) {
  const answers = await Promise.all(Array.from({ length: CODES }, () => send(world, asker)));
  for (const { status } of answers) assert.equal(status, 200);
}

/** None of these tries counts: the address can still request all of its codes, and no more. */
async function countsNot(world, tries) {
  const browser = world.browser();
  await tries(browser);
  world.gateway.reset();
  await sendsAll(world, browser);
  refused(await send(world, browser), 429, "TOO_MANY_SENDS");
}

export default {
  "an address has thirty codes in ten minutes": async (world) => {
    const address = world.address();
    await sendsAll(world, world.browser(address));
    world.gateway.take();
    for (const asker of [world.browser(address), world.app(address)]) {
      const answer = refused(await send(world, asker), 429, "TOO_MANY_SENDS");
      retryAfter(answer, 500, 600);
      setsCookies(answer, {});
    }
    asks(world.gateway);
    assert.equal((await send(world, world.browser())).status, 200);
  },

  "forty sends at once do not get around it": async (world) => {
    const browser = world.browser();
    const answers = await Promise.all(Array.from({ length: 40 }, () => send(world, browser)));
    assert.equal(answers.filter(({ status }) => status === 200).length, CODES);
    assert.equal(world.gateway.take().length, CODES);
  },

  "X-Forwarded-For of anybody is not believed": async (world) => {
    const browser = world.browser();
    await sendsAll(world, browser);
    const headers = { "X-Forwarded-For": "203.0.113.9", "X-Real-IP": "203.0.113.9", Forwarded: "for=203.0.113.9" };
    refused(await send(world, browser, headers), 429, "TOO_MANY_SENDS");
  },

  "a send that was refused before does not count": (world) =>
    countsNot(world, async (browser) => {
      refused(await send(world, browser, { Origin: "https://evil.example" }), 403, "ORIGIN_REFUSED");
      refused(await browser.post("send", { phone: "x" }), 422, "INVALID_PHONE");
    }),

  "a send that got no answer, or none that is known, does not count": (world) =>
    countsNot(world, async (browser) => {
      for (const fault of ["cut", { status: 502, headers: { "Content-Type": "text/html" }, body: "<h1>Bad gateway</h1>" }]) {
        world.gateway.fail(fault);
        refused(await send(world, browser), 503, "LOGIN_UNAVAILABLE");
      }
    }),

  "a send that the service refused does not count": async (world) => {
    await countsNot(world, async (browser) => {
      world.gateway.fail(refusal(429, "OTP_RATE_LIMITED", { "Retry-After": "60" }));
      refused(await send(world, browser), 429, "OTP_RATE_LIMITED");
    });
    await countsNot(world, async (browser) => {
      refused(await browser.post("send", { phone: "5876543210" }), 422, "INVALID_PHONE");
      refused(await browser.post("send", { phone: "9000000004" }), 503, "LOGIN_UNAVAILABLE");
    });
  },

  "the limit of an address is of sends alone": async (world) => {
    const browser = world.browser();
    await sendsAll(world, browser);
    const phone = world.phone();
    await world.browser().post("send", { phone });
    refused(await browser.post("verify", { phone, code: await world.code(phone) }), 400, "OTP_NOT_FOUND");
    assert.equal((await browser.post("logout")).status, 204);
  },
};
