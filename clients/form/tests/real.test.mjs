// One login against the real service (DWAR_BIN) and a real backend, the Express example; only the page is the test's.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { serve } from "../../suite/serve.mjs";
import { POLICY, alert, button, field, house, until } from "./house.mjs";

const it = house();
const example = fileURLToPath(new URL("../../examples/express/", import.meta.url));
const missing = !process.env.DWAR_BIN ? "DWAR_BIN is not set" : !existsSync(`${example}node_modules`) &&
  "the Express example is not installed";
const PAGE = `<!doctype html><html lang="hi"><title>Shop</title><script type="module" src="/dwar-login.js"></script>
  <main><dwar-login next="/me"></dwar-login></main></html>`;

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  await new Promise((closed) => server.close(closed));
  return port;
}

async function withBackend(run) {
  const service = await serve("real");
  const { url, test_key, project_id } = service.variables;
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const backend = spawn(process.execPath, ["server.mjs"], {
    cwd: example,
    stdio: "inherit",
    env: {
      PATH: process.env.PATH, PORT: port, ORIGIN: origin, DWAR_URL: url, DWAR_API_KEY: test_key,
      DWAR_PROJECT_ID: project_id, DWAR_MODE: "test", DWAR_SECRET: "a secret of this test and no other",
    },
  });
  try {
    await until(async () => assert.equal((await fetch(`${origin}/me`)).status, 401));
    await run(origin, async () => {
      const response = await fetch(`${url}/v1/sandbox/messages?phone=9876543210`, { headers: { "X-Api-Key": test_key } });
      return (await response.json()).messages[0].code;
    });
  } finally {
    backend.kill();
    await service.stop();
  }
}

async function openAt(origin) {
  it.spent = true;
  const module = readFileSync(new URL("../dwar-login.js", import.meta.url), "utf8");
  await it.page.route(`${origin}/dwar-login.js`, (route) => route.fulfill({ contentType: "text/javascript", body: module }));
  await it.page.route(`${origin}/`, (route) => route.fulfill({
    contentType: "text/html; charset=utf-8", headers: { "Content-Security-Policy": POLICY }, body: PAGE,
  }));
  await it.page.goto(`${origin}/`);
}

test("a login against the real service ends on a page for those who are logged in", { skip: missing }, () =>
  withBackend(async (origin, code) => {
    await openAt(origin);
    await field(it).fill("+91 98765-43210");
    await field(it).press("Enter");
    await button(it, "लॉग इन करें").waitFor();
    const right = await code();
    await it.page.keyboard.insertText(right === "000000" ? "000001" : "000000");
    await alert(it).getByText("OTP सही नहीं है।").waitFor();
    await it.page.keyboard.insertText(right);
    await it.page.waitForURL(`${origin}/me`);
    assert.match(await it.page.textContent("body"), /"identity_id":"[0-9a-f-]{36}"/);
    const cookies = await it.context.cookies();
    assert.deepEqual(cookies.map(({ name }) => name).sort(), ["__Host-dwar_access", "__Host-dwar_refresh"]);
    it.elsewhere.splice(0, Infinity, ...it.elsewhere.filter((url) => !url.startsWith(`${origin}/`)));
  }));
