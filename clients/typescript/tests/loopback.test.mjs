// The API key in plain http to loopback goes to no proxy, whatever sends the requests of Node.
import { after, afterEach, before, test } from "node:test";
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { Dwar, TokenVerifier } from "../dist/index.js";
import { loopbackFetch } from "../dist/loopback.js";

const DISPATCHER = Symbol.for("undici.globalDispatcher.1");
let usual;
let sockets = new Set();
const service = createServer((request, response) => {
  sockets.add(request.socket);
  response.setHeader("Content-Type", "application/json");
  response.end('{"id":"i1"}');
});
let url;

before(async () => {
  await fetch("data:,");
  usual = globalThis[DISPATCHER];
  service.listen(0, "127.0.0.1");
  await once(service, "listening");
  url = `http://127.0.0.1:${service.address().port}`;
});
afterEach(() => {
  globalThis[DISPATCHER] = usual;
  sockets = new Set();
});
after(() => {
  service.closeAllConnections();
  service.close();
});

/** An agent that would send a request to a proxy. Bundlers may have given its class another name. */
function proxies(name, asked) {
  const Proxies = { [name]: class {} }[name];
  Proxies.prototype.dispatch = (options) => {
    asked.push(options.origin);
    throw new Error("a proxy got the key");
  };
  return new Proxies();
}

for (const name of ["EnvHttpProxyAgent", "ProxyAgent", "a", "Dispatcher1Wrapper"])
  test(`the agent ${name} that is set after the client was made gets nothing`, { skip: !process.getBuiltinModule }, async () => {
    const asked = [];
    const dwar = new Dwar({ url, apiKey: "svc_test_1", timeoutMs: 2000 });
    assert.equal((await dwar.identity("i1")).id, "i1");
    globalThis[DISPATCHER] = proxies(name, asked);
    assert.equal((await dwar.identity("i1")).id, "i1");
    const verifier = new TokenVerifier({ url, audience: "p" });
    const header = Buffer.from('{"alg":"ES256","typ":"at+jwt","kid":"k"}').toString("base64url");
    await assert.rejects(verifier.verify(`${header}.e30.x`), { code: "UNKNOWN_ERROR" });
    assert.deepEqual(asked, []);
  });

test("past a proxy https is spoken, too", { skip: !process.getBuiltinModule }, async () => {
  globalThis[DISPATCHER] = proxies("EnvHttpProxyAgent", []);
  const dwar = new Dwar({ url: url.replace("http:", "https:"), apiKey: "svc_test_1", timeoutMs: 100 });
  // The service of this test speaks none.
  await assert.rejects(dwar.identity("i1"), ({ cause }) => cause.code !== "ERR_INVALID_PROTOCOL");
});

test("past a proxy connections are kept, too", { skip: !process.getBuiltinModule }, async () => {
  globalThis[DISPATCHER] = proxies("EnvHttpProxyAgent", []);
  const dwar = new Dwar({ url, apiKey: "svc_test_1" });
  for (let call = 0; call < 5; call++) {
    await dwar.identity("i1");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.equal(sockets.size, 1);
});

test("past a proxy a call that is given up has the reason", { skip: !process.getBuiltinModule }, async () => {
  globalThis[DISPATCHER] = proxies("EnvHttpProxyAgent", []);
  const abort = new AbortController();
  const reason = new Error("the person has left");
  const call = loopbackFetch()(url, { signal: abort.signal });
  abort.abort(reason);
  await assert.rejects(call, reason);
});

test("a test's agent and a test's fetch are asked", async (t) => {
  const asked = [];
  globalThis[DISPATCHER] = proxies("MockAgent", asked);
  await assert.rejects(loopbackFetch()(url, {}));
  assert.deepEqual(asked, [url]);
  t.mock.method(globalThis, "fetch", async () => Response.json({ id: "of the test" }));
  globalThis[DISPATCHER] = usual;
  assert.equal((await new Dwar({ url, apiKey: "svc_test_1" }).identity("i1")).id, "of the test");
});
