import assert from "node:assert/strict";
import { asks, refused, retryAfter, setsCookies } from "../claims.mjs";

const send = (world, asker, headers) => asker.post("send", { phone: world.phone() }, headers);

async function sendsFive(world, asker) {
  for (let sends = 0; sends < 5; sends++) assert.equal((await send(world, asker)).status, 200);
}

export default {
  "an address has five sends in ten minutes": async (world) => {
    const address = world.address();
    await sendsFive(world, world.browser(address));
    world.gateway.take();
    for (const asker of [world.browser(address), world.app(address)]) {
      const answer = refused(await send(world, asker), 429, "TOO_MANY_SENDS");
      retryAfter(answer, 540, 600);
      setsCookies(answer, {});
    }
    asks(world.gateway);
    assert.equal((await send(world, world.browser())).status, 200);
  },

  "twenty sends at once are no way around it": async (world) => {
    const browser = world.browser();
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(world, browser)));
    assert.equal(answers.filter(({ status }) => status === 200).length, 5);
    assert.equal(world.gateway.take().length, 5);
  },

  "X-Forwarded-For of anybody is not believed": async (world) => {
    const browser = world.browser();
    await sendsFive(world, browser);
    const headers = { "X-Forwarded-For": "203.0.113.9", "X-Real-IP": "203.0.113.9", Forwarded: "for=203.0.113.9" };
    refused(await send(world, browser, headers), 429, "TOO_MANY_SENDS");
  },

  "a send that was refused before does not count": async (world) => {
    const browser = world.browser();
    for (let tries = 0; tries < 6; tries++) {
      refused(await send(world, browser, { Origin: "https://evil.example" }), 403, "ORIGIN_REFUSED");
      refused(await browser.post("send", { phone: "x" }), 422, "INVALID_PHONE");
    }
    await sendsFive(world, browser);
  },

  "a send that got no answer does not count": async (world) => {
    const browser = world.browser();
    world.gateway.fail("cut");
    for (let tries = 0; tries < 6; tries++) refused(await send(world, browser), 503, "LOGIN_UNAVAILABLE");
    world.gateway.reset();
    await sendsFive(world, browser);
  },

  "a send that the service refused counts": async (world) => {
    const browser = world.browser();
    for (let tries = 0; tries < 5; tries++)
      refused(await browser.post("send", { phone: "9000000004" }), 503, "LOGIN_UNAVAILABLE");
    refused(await send(world, browser), 429, "TOO_MANY_SENDS");
  },

  "the limit of an address is of sends alone": async (world) => {
    const browser = world.browser();
    await sendsFive(world, browser);
    const phone = world.phone();
    await world.browser().post("send", { phone });
    refused(await browser.post("verify", { phone, code: await world.code(phone) }), 400, "OTP_NOT_FOUND");
    assert.equal((await browser.post("logout")).status, 204);
  },
};
