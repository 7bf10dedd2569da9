// Plays one case: its steps in order, against one client.
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { differences, requestDifferences } from "./match.mjs";
import { mint } from "./tokens.mjs";

/** Fields whose values must never be printed. */
const SECRET_FIELDS = ["api_key", "access_token", "refresh_token", "code", "token", "secret", "device"];

export class Case {
  #definition;
  #variables;
  #adapters;
  #fake;
  #secrets = new Set();

  constructor(definition, variables, adapters, fake) {
    this.#definition = definition;
    this.#variables = { ...variables, store: join(tmpdir(), `dwar-suite-${process.pid}.json`) };
    this.#adapters = adapters;
    this.#fake = fake;
  }

  /** Throws with the differences from what the case expects. */
  async play() {
    const { fake, client = {}, steps } = this.#definition;
    for (const key of ["test_key", "live_key", "closed_key"]) this.#secrets.add(this.#variables[key]);
    this.#fake.play(this.#filled(fake));
    try {
      for (const adapter of this.#adapters) {
        await adapter.ask({ do: "reset" });
        await this.#tell(adapter, { new: "client", with: client });
      }
      for (const [index, step] of steps.entries()) {
        await this.#step(step).catch((error) => {
          error.message = `step ${index + 1}: ${error.message}`;
          throw error;
        });
      }
      claim(requestDifferences(this.#fake.takeRequests(), []));
    } finally {
      rmSync(this.#variables.store, { force: true });
    }
  }

  async #step({ after_ms, ...step }) {
    if (after_ms) await sleep(after_ms);
    const adapter = this.#adapters[(step.process ?? 1) - 1];
    if (step.together) return void (await Promise.all(step.together.map((one) => this.#step(one))));
    if (step.wait_ms) return sleep(step.wait_ms);
    if (step.requests) return claim(requestDifferences(this.#fake.takeRequests(), this.#filled(step.requests)));
    if (step.mint) return void (this.#variables[step.save] = mint(this.#filled(step.mint)));
    if (step.event) return void (this.#variables[step.save] = await this.#event(step.event));
    if (step.equal) return claim(differences(...this.#filled(step.equal)));
    if (step.clock_at) return this.#setClock(step.clock_at - Math.floor(Date.now() / 1000));
    if (step.clock !== undefined) return this.#setClock(step.clock);
    return this.#tell(adapter, step);
  }

  async #setClock(seconds) {
    for (const adapter of this.#adapters) await adapter.ask({ do: "clock", seconds });
  }

  async #event(type) {
    const { body, headers } = await this.#fake.event((event) => event.type === type);
    return {
      body,
      headers: Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("webhook-"))),
    };
  }

  async #tell(adapter, step) {
    const message = this.#filled(step.new ? made(step, this.#definition.server) : called(step));
    this.#collectSecrets(message);
    const started = performance.now();
    const answer = await adapter.ask(message);
    const took = performance.now() - started;
    const outcomes = answer.all ?? [answer];
    for (const outcome of outcomes) {
      this.#collectSecrets(outcome.result);
      this.#expect(step, outcome);
    }
    this.#refusePrintedSecrets(adapter, answer);
    if (step.within_ms && (took < step.within_ms[0] || took > step.within_ms[1])) {
      throw new Error(`it took ${Math.round(took)} ms`);
    }
    if (step.same && new Set(outcomes.map(({ result }) => JSON.stringify(result))).size !== 1) {
      throw new Error("the answers differ");
    }
    for (const [name, path] of Object.entries(step.save ?? {})) {
      this.#variables[name] = path
        .split(".")
        .reduce((value, field) => (field ? value[field] : value), outcomes[0].result);
    }
  }

  #expect({ expect = {} }, { result, error, request_id }) {
    if (expect.error) return claim(differences({ result, error }, this.#filled({ error: expect.error })));
    if (error) throw new Error(`refused: ${JSON.stringify(error)}`);
    if ("result" in expect) claim(differences(result, this.#filled(expect.result), "result"));
    if (expect.request_id) claim(differences(request_id, expect.request_id, "request_id"));
  }

  #collectSecrets(value, field) {
    if (typeof value === "object" && value !== null) {
      for (const [name, inner] of Object.entries(value)) this.#collectSecrets(inner, name);
    } else if (typeof value === "string" && value.length > 3 && SECRET_FIELDS.includes(field)) {
      this.#secrets.add(value);
    }
  }

  #refusePrintedSecrets(adapter, { printed, error }) {
    const shown = [printed, error?.message, adapter.printed].join("\n");
    for (const secret of [...this.#secrets, ...(this.#definition.secrets ?? [])]) {
      if (secret && shown.includes(secret)) throw new Error("a key, code or token is printed");
    }
  }

  /** "$name" becomes the value of that variable, "${name}" is replaced within a text. */
  #filled(value) {
    if (typeof value === "string") {
      const whole = /^\$([\w.-]+)$/.exec(value);
      return whole ? this.#variable(whole[1]) : value.replace(/\$\{([\w.-]+)\}/g, (_, name) => this.#variable(name));
    }
    if (Array.isArray(value)) return value.map((item) => this.#filled(item));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [this.#filled(name), this.#filled(inner)]));
  }

  #variable(path) {
    const value = path.split(".").reduce((inner, field) => inner?.[field], this.#variables);
    if (value === undefined) throw new Error(`no variable ${path}`);
    return value;
  }
}

/** An object under test, with defaults that cases need not repeat. */
function made({ new: kind, as = kind, with: options }, server) {
  const usual = {
    client: { url: "$url", api_key: "$test_key", timeout_ms: 5000 },
    verifier: {
      url: "$url",
      timeout_ms: 5000,
      ...(server === "fake" ? { audience: "project-1" } : { audience: "$project_id", mode: "test" }),
    },
    session: { client: "client", store: "$store", secret: "the secret of this backend, 32 characters" },
  }[kind];
  return { do: "new", kind, as, with: { ...usual, ...options } };
}

function called({ on = "client", call, args = {}, at_once }) {
  return { do: "call", on, call, args, ...(at_once && { at_once }) };
}

function claim(found) {
  if (found.length > 0) throw new Error(found.join("; "));
}
