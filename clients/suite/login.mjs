#!/usr/bin/env node
// Plays the cases of the login contract against a backend that COMMAND starts:
//   node login.mjs [--forwarded] [--only TEXT] COMMAND [WORD…]
// Prints a line for each case and exits with 1 if one failed, at once with DWAR_SUITE_STOP set. The service is DWAR_BIN.
// clients/login/README.md says what the backend has to be.
import { randomBytes, randomInt } from "node:crypto";
import { readdirSync } from "node:fs";
import { parseArgs } from "node:util";
import { Asker } from "./login/asker.mjs";
import { Backend } from "./login/backend.mjs";
import { everyAnswer } from "./login/claims.mjs";
import { Gateway } from "./login/gateway.mjs";
import { serve } from "./serve.mjs";

const ORIGIN = "https://shop.example";
const SECRET = randomBytes(24).toString("hex");

async function cases({ only, forwarded }) {
  const folder = new URL("login/cases/", import.meta.url);
  const modules = await Promise.all(
    readdirSync(folder)
      .sort()
      .map((name) => import(new URL(name, folder))),
  );
  return modules
    .flatMap((module) => Object.entries(module.default))
    .filter(([name]) => name.includes(only) && !(forwarded && name.includes("X-Forwarded-For")));
}

/** The browsers, apps, phones and servers of a case. */
class World {
  #number = 0;
  #secrets = new Set();
  origin = ORIGIN;
  secret = SECRET;

  constructor(variables, gateway, backend, forwarded) {
    this.variables = variables;
    this.gateway = gateway;
    this.backend = backend;
    this.forwarded = forwarded;
    for (const secret of [variables.test_key, SECRET]) this.#secrets.add(secret);
  }

  /** From a new address, unless one is given. */
  browser(address) {
    return this.asker({ Origin: ORIGIN, "Sec-Fetch-Site": "same-origin" }, address);
  }

  app(address) {
    return this.asker({}, address);
  }

  asker(headers, address = this.address()) {
    const forwarding = this.forwarded ? { "X-Forwarded-For": address } : {};
    const seen = (answer) => this.#see(answer);
    return new Asker({ port: this.backend.port, address, headers: { ...forwarding, ...headers }, seen });
  }

  address() {
    const number = ++this.#number;
    return `127.1.${number >> 8}.${number & 255}`;
  }

  phone() {
    return String(randomInt(9_100_000_000, 9_999_999_999));
  }

  /** The last code that was sent to this phone. */
  async code(phone) {
    const path = `/v1/sandbox/messages?phone=${encodeURIComponent(phone)}`;
    const { messages } = await (await this.service("GET", path)).json();
    this.#secrets.add(messages[0].code);
    return messages[0].code;
  }

  /** Calls the service directly. */
  service(method, path, body, key = this.variables.test_key) {
    const headers = { "X-Api-Key": key, "Content-Type": "application/json" };
    return fetch(this.variables.url + path, { method, headers, body: body && JSON.stringify(body) });
  }

  /** A browser that is logged in, with its phone. */
  async loggedIn(browser = this.browser()) {
    const phone = this.phone();
    await browser.post("send", { phone });
    const answer = await browser.post("verify", { phone, code: await this.code(phone) });
    if (answer.status !== 200) throw new Error(`no login: ${answer.status} ${answer.text}`);
    return { browser, phone, answer };
  }

  /** An app that is logged in, with its tokens. */
  async appLoggedIn(app = this.app()) {
    const phone = this.phone();
    const { otp_id } = (await app.post("send", { phone })).json;
    const code = await this.code(phone);
    const answer = await app.post("verify", { phone, code, otp_id, tokens: "body" });
    if (answer.status !== 200) throw new Error(`no login: ${answer.status} ${answer.text}`);
    return { app, phone, answer, tokens: answer.json };
  }

  #see(answer) {
    everyAnswer(answer);
    const { access_token, refresh_token } = answer.json ?? {};
    for (const token of [access_token, refresh_token, ...answer.cookies.map(({ value }) => value)])
      if (token?.length > 40) this.#secrets.add(token);
  }

  refusePrintedSecrets() {
    for (const secret of this.#secrets)
      if (new RegExp(`(?<!\\w)${secret}(?!\\w)`).test(this.backend.printed))
        throw new Error("the backend printed a key, code or token");
  }
}

async function play([name, run], world) {
  world.gateway.reset();
  try {
    await run(world);
    world.refusePrintedSecrets();
    console.log(`ok      ${name}`);
    return true;
  } catch (error) {
    console.log(`not ok  ${name}\n        ${error.message.replaceAll("\n", "\n        ")}`);
    return false;
  }
}

async function main(words) {
  const start = words.findIndex((word, index) => !word.startsWith("--") && words[index - 1] !== "--only");
  const options = { forwarded: { type: "boolean", default: false }, only: { type: "string", default: "" } };
  const { values } = parseArgs({ args: words.slice(0, start), options });
  const gateway = new Gateway();
  const backend = new Backend();
  const service = await serve("real");
  let passed = 0;
  const chosen = await cases(values);
  try {
    await gateway.start(service.variables.url);
    await backend.start(words.slice(start), {
      ORIGIN,
      DWAR_URL: gateway.url,
      DWAR_API_KEY: service.variables.test_key,
      DWAR_PROJECT_ID: service.variables.project_id,
      DWAR_MODE: "test",
      DWAR_SECRET: SECRET,
    });
    const world = new World(service.variables, gateway, backend, values.forwarded);
    for (const one of chosen) {
      const is = await play(one, world);
      passed += is;
      if (!is && process.env.DWAR_SUITE_STOP) break;
    }
  } finally {
    await backend.stop();
    gateway.stop();
    await service.stop();
  }
  console.log(`${passed} passed, ${chosen.length - passed} failed`);
  return passed === chosen.length && passed > 0 ? 0 : 1;
}

for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
process.exitCode = await main(process.argv.slice(2));
