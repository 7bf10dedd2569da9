#!/usr/bin/env node
// Runs every case against the client that COMMAND puts to work:
//   node run.mjs [--real] [--only TEXT] COMMAND [WORD…]
// Prints a line for each case and exits with 1 if one failed. The real service is DWAR_BIN; --real plays its cases alone.
// With DWAR_SUITE_STOP set it ends at the first that fails.
import { readFileSync, readdirSync } from "node:fs";
import { Adapter, AdapterEnded } from "./adapter.mjs";
import { Case } from "./case.mjs";
import { documentCases } from "./document.mjs";
import { Fake } from "./fake.mjs";
import { Proxy } from "./proxy.mjs";
import { serve } from "./serve.mjs";

const FAKE = {
  test_key: "svc_test_fakefakefakefakefakefakefakefake",
  live_key: "svc_live_fakefakefakefakefakefakefakefake",
  closed_key: "svc_test_closedclosedclosedclosedclosed",
};

function cases(real, only) {
  const folder = new URL("cases/", import.meta.url);
  const files = readdirSync(folder)
    .sort()
    .map((name) => JSON.parse(readFileSync(new URL(name, folder))));
  const all = [...files.flat(), ...documentCases()];
  const names = new Set(all.map(({ name }) => name));
  if (names.size !== all.length) throw new Error("two cases have the same name");
  return all.filter(({ name, server }) => name.includes(only) && !(real && server === "fake"));
}

/** The services that cases have asked for so far. */
class Services {
  #running = new Map();
  #fake;

  constructor(fake) {
    this.#fake = fake;
  }

  async variables(server) {
    if (server === "fake") return { ...FAKE, url: this.#fake.url };
    if (!this.#running.has(server)) this.#running.set(server, await serve(server, `${this.#fake.url}/events`));
    return this.#running.get(server).variables;
  }

  async stop() {
    for (const service of this.#running.values()) await service.stop();
  }
}

async function main(words) {
  const real = words[0] === "--real" && words.shift() !== undefined;
  const only = words[0] === "--only" ? words.splice(0, 2)[1] : "";
  const chosen = cases(real, only);
  const fake = new Fake();
  await fake.start();
  const services = new Services(fake);
  const proxy = new Proxy();
  const env = await proxy.start();
  const adapters = [new Adapter(words, env), new Adapter(words, env)];
  const count = { ok: 0, "not ok": 0 };
  let number = 0;
  try {
    for (const one of chosen) {
      const phone = String(9100000000 + Math.floor(Math.random() * 8e6) * 100 + (number++ % 100));
      const outcome = await play(one, phone, services, adapters, fake, proxy);
      count[outcome.word]++;
      console.log(`${outcome.word.padEnd(7)} ${one.name}${outcome.reason ? `\n        ${outcome.reason}` : ""}`);
      if (outcome.final || (outcome.reason && process.env.DWAR_SUITE_STOP)) break;
    }
  } finally {
    for (const adapter of adapters) adapter.stop();
    fake.stop();
    proxy.stop();
    await services.stop();
  }
  console.log(`${count.ok} passed, ${count["not ok"]} failed`);
  return count["not ok"] === 0 && count.ok > 0 ? 0 : 1;
}

async function play(one, phone, services, adapters, fake, proxy) {
  try {
    const variables = { ...(await services.variables(one.server)), phone };
    await new Case(one, variables, adapters, fake).play();
    if (proxy.takeLoopback().length > 0) throw new Error("a proxy of the environment got loopback traffic");
    return { word: "ok" };
  } catch (error) {
    return { word: "not ok", reason: error.message, final: error instanceof AdapterEnded };
  }
}

for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
process.exitCode = await main(process.argv.slice(2));
