import assert from "node:assert/strict";
import { ACCESS, DEVICE, hasFields, OTP, REFRESH, refused, setsCookies } from "../claims.mjs";
import { refusal } from "../gateway.mjs";

const device = "dev_MDFhMWZkMzQ.x-y~z";
const TOKENS = {
  access_token: "a.b.c",
  refresh_token: "svc_rt_1",
  token_type: "Bearer",
  expires_in: 900,
  refresh_expires_in: 2_592_000,
  session_id: "01a1fd34-3aef-7770-a038-fb77decadd73",
  identity_id: "01a1fd34-405d-7726-8dd7-a07883461652",
};
/** What nobody who asks may decide. */
const CLAIMED = { visitor: { address: "203.0.113.9", trusted: true }, trusted: true, address: "203.0.113.9" };

/** Whatever is verified from now on, the service knows the device afterwards. */
function verifies(world, more) {
  const body = JSON.stringify({ ...TOKENS, ...more });
  const answer = { status: 200, headers: { "Content-Type": "application/json" }, body };
  world.gateway.fail((path) => (path === "/v1/otp/verify" ? answer : undefined));
}

const lastBody = ({ gateway }) => gateway.take().at(-1).body;

/** A browser that has logged in, its phone, and the answer. */
async function known(world) {
  const [browser, phone] = [world.browser(), world.phone()];
  await browser.post("send", { phone });
  verifies(world, { device });
  return { browser, phone, answer: await browser.post("verify", { phone, code: "123456" }) };
}

export default {
  "the service is told the address of the visitor, and nothing that the visitor says of themselves": async (world) => {
    for (const kind of ["browser", "app"]) {
      const [address, phone] = [world.address(), world.phone()];
      const answer = await world[kind](address).post("send", { phone, proof: "x", ...CLAIMED });
      assert.equal(answer.status, 200);
      assert.deepEqual(lastBody(world), { phone, visitor: { address } });
    }
  },

  "a page keeps its device in a cookie, and names it in each send and verify": async (world) => {
    const { browser, phone, answer } = await known(world);
    setsCookies(answer, { [ACCESS]: 900, [REFRESH]: 2_592_000, [OTP]: 0, [DEVICE]: 15_552_000 });
    hasFields(answer, "identity_id", "expires_in");
    assert.equal(browser.cookies.get(DEVICE), device);
    world.gateway.take();
    assert.equal((await browser.post("send", { phone })).status, 200);
    assert.equal(lastBody(world).device, device);
    const otp_id = browser.cookies.get(OTP);
    await browser.post("verify", { phone, code: "123456" });
    assert.deepEqual(lastBody(world), { phone, code: "123456", otp_id, device });
  },

  "a device outlives the session": async (world) => {
    const { browser } = await known(world);
    setsCookies(await browser.post("logout"), { [ACCESS]: 0, [REFRESH]: 0 });
    assert.equal(browser.cookies.get(DEVICE), device);
  },

  "a device in the body of a page does not count": async (world) => {
    const [browser, phone] = [world.browser(), world.phone()];
    await browser.post("send", { phone, device });
    assert.equal(lastBody(world).device, undefined);
    await browser.post("verify", { phone, code: "123456", device });
    assert.equal(lastBody(world).device, undefined);
  },

  "an app gets its device in the body, and names it there": async (world) => {
    const [app, phone] = [world.app(), world.phone()];
    const { otp_id } = (await app.post("send", { phone })).json;
    verifies(world, { device });
    const answer = await app.post("verify", { phone, code: "123456", otp_id, tokens: "body" });
    assert.equal(answer.json.device, device);
    setsCookies(answer, {});
    world.gateway.take();
    await app.post("send", { phone, device });
    assert.equal(lastBody(world).device, device);
    await app.post("verify", { phone, code: "123456", otp_id, device, tokens: "body" });
    assert.equal(lastBody(world).device, device);
  },

  "what cannot be a device is not passed on": async (world) => {
    for (const wrong of ["x".repeat(513), 'a"b', "a,b", "a%00b"]) {
      const [browser, phone] = [world.browser(), world.phone()];
      browser.cookies.set(DEVICE, wrong);
      assert.equal((await browser.post("send", { phone })).status, 200);
      assert.equal(lastBody(world).device, undefined, wrong);
      assert.equal((await world.app().post("send", { phone, device: wrong })).status, 200);
      assert.equal(lastBody(world).device, undefined, wrong);
    }
  },

  "a device that no cookie can hold is kept by nobody": async (world) => {
    for (const wrong of ["", "x".repeat(513), "a;b", null]) {
      const [browser, phone] = [world.browser(), world.phone()];
      world.gateway.reset();
      await browser.post("send", { phone });
      verifies(world, { device: wrong });
      const answer = await browser.post("verify", { phone, code: "123456" });
      setsCookies(answer, { [ACCESS]: 900, [REFRESH]: 2_592_000, [OTP]: 0 });
    }
  },

  "a send that needs a proof is refused as the service says, and does not count": async (world) => {
    const browser = world.browser();
    world.gateway.fail(refusal(403, "PROOF_REQUIRED"));
    for (let sends = 0; sends < 31; sends++) {
      const answer = refused(await browser.post("send", { phone: world.phone() }), 403, "PROOF_REQUIRED");
      setsCookies(answer, {});
    }
    world.gateway.reset();
    assert.equal((await browser.post("send", { phone: world.phone() })).status, 200);
  },

  "a number that asks for a proof is refused without one": async (world) => {
    const answer = refused(await world.browser().post("send", { phone: "9000000006" }), 403, "PROOF_REQUIRED");
    assert.match(answer.json.request_id, /./);
  },

  "a day's bound of the project is no business of the person": async (world) => {
    world.gateway.fail(refusal(402, "SPEND_LIMIT_REACHED"));
    const answer = refused(await world.browser().post("send", { phone: world.phone() }), 503, "LOGIN_UNAVAILABLE");
    assert.doesNotMatch(answer.text, /spend|limit/i);
  },
};
