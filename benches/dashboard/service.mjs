// A running service, and a browser of sorts that is signed in.

import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";

const folder = process.env.BENCH_FOLDER;
const DASHBOARD = Number(process.env.BENCH_PORT ?? 18099);
const API = DASHBOARD - 1;
const origin = `http://127.0.0.1:${DASHBOARD}`;

export class Service {
  #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  #process;
  #said = "";
  /** How to get in again after a restart. */
  #visit = {};
  #remembered = join(folder, "visit.json");

  /** Starts the service; gives it when it answers. */
  static async start(url) {
    const service = new Service();
    service.#process = spawn(process.env.DWAR, [], {
      cwd: folder,
      env: {
        DWAR__DATABASE__URL: url,
        DWAR__HTTP__ADDRESS: `127.0.0.1:${API}`,
        DWAR__DASHBOARD__ADDRESS: `127.0.0.1:${DASHBOARD}`,
        DWAR__METRICS__ADDRESS: "off",
        // What is filled in is older than a service keeps by default.
        DWAR__RETENTION__REQUESTS_HOURS: "1500",
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    service.#process.stdout.on("data", (data) => { service.#said += data; });
    service.#process.stderr.on("data", (data) => { service.#said += data; });
    // After an error the service must not stay, or the next run would ask it.
    process.on("exit", () => service.#process.kill());
    let ended = false;
    service.#process.on("exit", () => { ended = true; });
    while (!(await service.ask("/sign-in").then(() => true, () => false))) {
      if (ended) throw new Error(`the service ended: ${service.#said}`);
      await new Promise((later) => setTimeout(later, 200));
    }
    return service;
  }

  async stop() {
    const ended = new Promise((ended) => { this.#process.on("exit", ended); });
    this.#process.kill();
    await ended;
    this.#agent.destroy();
  }

  /** By the link of a first start; later as before. */
  async signIn() {
    if (existsSync(this.#remembered)) {
      this.#visit = JSON.parse(readFileSync(this.#remembered, "utf8"));
      return;
    }
    const secret = await this.#told(/\/start#(\S+)\s/);
    const entered = await this.ask("/start", { body: new URLSearchParams({ secret }) });
    const cookie = entered.headers["set-cookie"][0].split(";")[0];
    this.#visit = { cookie };
    const led = await this.ask("/?start");
    const project = led.headers.location.replace(/\/playground$/, "");
    const page = await this.ask(`${project}/settings/messages`);
    const csrf = page.text.match(/name="csrf" value="([^"]+)"/)[1];
    this.#visit = { cookie, project, csrf };
    writeFileSync(this.#remembered, JSON.stringify(this.#visit));
  }

  /** Sends a code with the live key of the first start. */
  async send(phone) {
    const key = await this.#told(/(svc_live_\w+)/);
    const answer = await fetch(`http://127.0.0.1:${API}/v1/otp/send`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({ phone }),
    });
    if (!answer.ok) throw new Error(`no code was sent: ${await answer.text()}`);
  }

  /** A page of the project, or any by a path that begins with a slash. */
  get(path, options) {
    return this.ask(this.#whole(path), options);
  }

  post(path, fields) {
    const body = new URLSearchParams(fields);
    body.set("csrf", this.#visit.csrf);
    return this.ask(this.#whole(path), { body });
  }

  /** What the files weigh that a page names. */
  async files(text) {
    const named = [...text.matchAll(/<(?:link|script)[^>]* (?:href|src)="(\/[^"]+)"/g)];
    const weights = named.map(async ([, path]) => (await this.ask(path)).bytes);
    return (await Promise.all(weights)).reduce((sum, bytes) => sum + bytes, 0);
  }

  /** One request on the one connection, of whose answer so many lines are read. */
  ask(path, { body, lines = Infinity } = {}) {
    const { cookie } = this.#visit;
    const method = body ? "POST" : "GET";
    const form = { origin, "sec-fetch-site": "same-origin", "content-type": "application/x-www-form-urlencoded" };
    const headers = { ...(cookie && { cookie }), ...(body && form) };
    return new Promise((done, failed) => {
      const target = { agent: this.#agent, host: "127.0.0.1", port: DASHBOARD, path, method, headers };
      const sent = request(target, (answer) => {
        const { statusCode: status, headers } = answer;
        let bytes = 0, text = "", read = 0;
        const end = () => done({ status, headers, bytes, text });
        answer.on("data", (data) => {
          bytes += data.length;
          text += data;
          if (lines === Infinity) return;
          for (const byte of data) read += byte === 10;
          if (read < lines) return;
          end();
          sent.destroy();
        });
        answer.on("end", end);
      });
      sent.on("error", failed);
      sent.end(body?.toString());
    });
  }

  async #told(pattern) {
    let told;
    while (!(told = this.#said.match(pattern))) await new Promise((later) => setTimeout(later, 100));
    return told[1];
  }

  #whole(path) {
    return path.startsWith("/") ? path : `${this.#visit.project}/${path}`;
  }
}
