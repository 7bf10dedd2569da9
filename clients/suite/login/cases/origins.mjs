import assert from "node:assert/strict";
import { asks, refused, setsCookies } from "../claims.mjs";

/** Every endpoint refuses a page with these headers, and does nothing. */
async function isRefused(world, headers) {
  const { browser, phone } = await world.loggedIn();
  world.gateway.take();
  for (const [step, body] of Object.entries({
    send: { phone },
    verify: { phone, code: "123456" },
    refresh: {},
    logout: {},
  })) {
    const answer = refused(await browser.post(step, body, headers), 403, "ORIGIN_REFUSED");
    setsCookies(answer, {});
  }
  asks(world.gateway);
}

async function maySend(world, headers) {
  const answer = await world.browser().post("send", { phone: world.phone() }, headers);
  assert.equal(answer.status, 200, answer.text);
}

export default {
  "another origin is refused everywhere": (world) =>
    isRefused(world, { Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" }),

  "another origin is refused also if it says that it is the same": (world) =>
    isRefused(world, { Origin: "https://evil.example", "Sec-Fetch-Site": "same-origin" }),

  "an origin is compared exactly": async (world) => {
    const { origin } = world;
    const { host } = new URL(origin);
    const others = [
      `${origin}.evil.example`,
      `https://evil-${host}`,
      `https://a.${host}`,
      `http://${host}`,
      `${origin}:8443`,
    ];
    for (const other of [...others, `${origin}/`, "null", "", "*", host, `${origin}, https://evil.example`]) {
      const answer = await world.browser().post("send", { phone: world.phone() }, { Origin: other });
      refused(answer, 403, "ORIGIN_REFUSED");
    }
    asks(world.gateway);
  },

  "without an origin another site is refused everywhere": (world) =>
    isRefused(world, { Origin: null, "Sec-Fetch-Site": "cross-site" }),

  "without an origin neither a sister site nor an address that was typed may ask": async (world) => {
    await isRefused(world, { Origin: null, "Sec-Fetch-Site": "same-site" });
    await isRefused(world, { Origin: null, "Sec-Fetch-Site": "none" });
  },

  "without an origin the same origin may ask": (world) => maySend(world, { Origin: null }),

  "a browser that tells the origin alone may ask": (world) => maySend(world, { "Sec-Fetch-Site": null }),

  "a page of its own without https is told that its cookies are not kept": async (world) => {
    for (const host of ["192.168.1.5:3000", "shop.local", "10.0.2.2:8080", "laptop"])
      for (const step of ["send", "verify", "refresh", "logout"]) {
        const headers = { Origin: `http://${host}`, Host: host, "Sec-Fetch-Site": null };
        const answer = refused(await world.browser().post(step, {}, headers), 403, "HTTPS_REQUIRED");
        assert.match(answer.json.error, /https/);
        setsCookies(answer, {});
      }
    asks(world.gateway);
  },

  "without https another host, or loopback, is another origin": async (world) => {
    for (const [origin, host] of [
      ["http://192.168.1.5:3000", "192.168.1.6:3000"],
      ["http://192.168.1.5", "192.168.1.5:3000"],
      ["http://localhost:3000", "localhost:3000"],
      ["http://127.0.0.2", "127.0.0.2"],
      ["http://shop.localhost", "shop.localhost"],
      ["http://[::1]:3000", "[::1]:3000"],
      ["https://192.168.1.5:3000", "192.168.1.5:3000"],
    ]) {
      const headers = { Origin: origin, Host: host, "Sec-Fetch-Site": null };
      refused(await world.browser().post("send", { phone: world.phone() }, headers), 403, "ORIGIN_REFUSED");
    }
    asks(world.gateway);
  },

  "the origin is looked at before the body": async (world) => {
    const answer = await world
      .browser()
      .post("send", [], { Origin: "https://evil.example", "Content-Type": "text/plain" });
    refused(answer, 403, "ORIGIN_REFUSED");
  },
};
