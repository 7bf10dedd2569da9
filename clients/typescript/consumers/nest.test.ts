import { DwarError } from "dwar-client";
import { startDwar, type TestDwar } from "dwar-client/testing";
import { start } from "./nest";

const PHONE = "9876543210";
let dwar: TestDwar;
let app: Awaited<ReturnType<typeof start>>;

beforeAll(async () => {
  dwar = await startDwar();
  const { DWAR_URL, DWAR_API_KEY, DWAR_PROJECT_ID } = dwar.environment;
  app = await start(DWAR_URL, DWAR_API_KEY, DWAR_PROJECT_ID);
}, 30_000);
afterAll(async () => {
  await app.close();
  await dwar.stop();
});

async function post(step: string, body: object) {
  const headers = { "Content-Type": "application/json" };
  const url = `${await app.getUrl()}/login/${step}`;
  return fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
}

test("an app logs in, and Nest knows who it is", async () => {
  const sent = (await (await post("send", { phone: PHONE })).json()) as { otp_id: string };
  const code = await dwar.lastCode(PHONE);
  const login = await post("verify", { phone: PHONE, code, otp_id: sent.otp_id, tokens: "body" });
  const { access_token, identity_id } = (await login.json()) as Record<string, string>;
  const me = await fetch(`${await app.getUrl()}/me`, { headers: { Authorization: `Bearer ${access_token}` } });
  expect([me.status, await me.json()]).toEqual([200, { id: identity_id }]);
  expect((await fetch(`${await app.getUrl()}/me`)).status).toBe(401);
});

test("a refusal is a DwarError", async () => {
  const error: unknown = await dwar.client.verify({ phone: PHONE, code: "000000" }).catch((error) => error);
  expect(error).toBeInstanceOf(DwarError);
});

test("without the service Nest says 503, and no 401", async () => {
  const lost = await start("http://127.0.0.1:9", "svc_test_1", "p");
  const headers = { Authorization: `Bearer ${(await dwar.logIn(PHONE)).accessToken}` };
  const answer = await fetch(`${await lost.getUrl()}/me`, { headers });
  expect([answer.status, await answer.json()]).toEqual([503, { code: "NETWORK_ERROR" }]);
  await lost.close();
}, 10_000);
