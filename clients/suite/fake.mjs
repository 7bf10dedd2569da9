// A fake service that answers as a case says, for answers that the real one does not give. It records its requests.
import { once } from "node:events";
import { createServer } from "node:http";
import { sample } from "./document.mjs";
import { jwks } from "./tokens.mjs";

export class Fake {
  #server = createServer((request, response) => void this.#serve(request, response));
  #answers = {};
  #requests = [];
  #events = [];

  async start() {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    this.url = `http://127.0.0.1:${this.#server.address().port}`;
  }

  stop() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** Answers per "METHOD /path", in order, each `times` times; the last one is repeated. */
  play(answers = {}) {
    const inFull = (list) => list.flatMap(({ times, ...answer }) => Array(times ?? answer.together ?? 1).fill(answer));
    this.#answers = Object.fromEntries(Object.entries(answers).map(([is, list]) => [is, inFull(list)]));
    this.#requests = [];
  }

  /** The requests since the last call of this function. */
  takeRequests() {
    return this.#requests.splice(0);
  }

  /** The first event that the real service has delivered and `wanted` accepts. */
  async event(wanted) {
    for (const end = Date.now() + 10_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 50))) {
      const event = this.#events.find(({ body }) => wanted(JSON.parse(body)));
      if (event) return event;
    }
    throw new Error("the event did not come");
  }

  async #serve(request, response) {
    const at = performance.now();
    const body = Buffer.concat(await request.toArray()).toString();
    if (request.url === "/events") {
      this.#events.push({ headers: request.headers, body });
      response.writeHead(204).end();
      return;
    }
    const is = `${request.method} ${request.url.split("?")[0]}`;
    this.#requests.push({ is, at, path: request.url, headers: request.headers, body: body && JSON.parse(body) });
    const answers = this.#answers[is] ?? [{ error: "NOT_FOUND", status: 404 }];
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (answer.together) await come(answer);
    if (answer.delay_ms) await new Promise((resolve) => setTimeout(resolve, answer.delay_ms));
    write(response, answer);
  }
}

/** Waits until as many requests have come as the answer says. */
function come(answer) {
  answer.waiting ??= [];
  return new Promise((resolve) => {
    answer.waiting.push(resolve);
    if (answer.waiting.length === answer.together) answer.waiting.forEach((go) => go());
  });
}

function write(response, answer) {
  if (answer.hang) return;
  if (answer.cut === "before") return response.socket.destroy();
  // HTTP libraries repeat a request by themselves if a connection that they used before is cut.
  const headers = {
    connection: "close",
    "content-type": "application/json",
    "x-request-id": "fake-1",
    ...answer.headers,
  };
  if (answer.retry_after !== undefined) headers["retry-after"] = String(answer.retry_after);
  const text = textOf(answer);
  if (answer.cut === "body") {
    response.writeHead(200, { ...headers, "content-length": Buffer.byteLength(text) });
    response.write(text.slice(0, text.length / 2));
    setTimeout(() => response.socket?.destroy(), 20);
    return;
  }
  response.writeHead(answer.status ?? 200, headers);
  if (answer.endless) return pour(response);
  if (answer.drip_ms) return drip(response, text, answer.drip_ms);
  response.end(text);
}

/** Sends one character at a time: each arrives soon, the whole does not. */
function drip(response, text, everyMs) {
  let sent = 0;
  const timer = setInterval(() => (sent < text.length ? response.write(text[sent++]) : response.end()), everyMs);
  response.on("close", () => clearInterval(timer));
}

/**
 * Sends as fast as the client reads; after 64 MiB nothing more comes, so that a client that reads on does not fill the
 * memory.
 */
function pour(response, parts = 1024) {
  while (parts > 0 && response.write(" ".repeat(65536))) parts--;
  if (parts > 0) response.once("drain", () => pour(response, parts - 1));
}

function textOf({ text, like, error, jwks: keys, pad, ...answer }) {
  if (pad) return JSON.stringify({ ...sample(like), pad: "x".repeat(pad) });
  if (text !== undefined) return text;
  if (like) return JSON.stringify({ ...sample(like), ...answer.with });
  if (error) return JSON.stringify({ error: "A sentence.", code: error, request_id: "fake-1" });
  if (keys) return JSON.stringify(jwks(keys));
  return JSON.stringify(answer.body ?? {});
}
