// A proxy between the backend and the service: it records the requests of the backend, and fails those that a case
// tells it to.
import { createServer, request as ask } from "node:http";
import { once } from "node:events";

export class Gateway {
  #target;
  #requests = [];
  #fault = () => undefined;
  #server = createServer((request, response) => void this.#handle(request, response));

  async start(target) {
    this.#target = target;
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    this.url = `http://127.0.0.1:${this.#server.address().port}`;
  }

  stop() {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** Until `reset`, `fault(path)` says how a request fails: "cut", or the answer `status`, `headers`, `body`. */
  fail(fault) {
    this.#fault = typeof fault === "function" ? fault : () => fault;
  }

  reset() {
    this.#fault = () => undefined;
    this.#requests = [];
  }

  /** The requests under /v1/ since the last call: `path`, `headers`, `body`. */
  take() {
    return this.#requests.splice(0);
  }

  async #handle(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    if (request.url.startsWith("/v1/")) this.#note(request, body);
    const fault = this.#fault(request.url);
    if (fault === "cut") return request.socket.destroy();
    if (fault) return response.writeHead(fault.status, fault.headers).end(fault.body);
    this.#forward(request, body, response);
  }

  #note({ url, headers }, body) {
    this.#requests.push({ path: url, headers, body: body.length ? JSON.parse(body) : undefined });
  }

  #forward({ url, method, headers }, body, response) {
    const onward = ask(this.#target + url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.rawHeaders);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    onward.end(body);
  }
}

/** A refusal as the service writes it. */
export function refusal(status, code, headers = {}) {
  const body = JSON.stringify({ error: "A sentence.", code, request_id: "r-1" });
  return { status, headers: { "Content-Type": "application/json", "X-Request-Id": "r-1", ...headers }, body };
}
