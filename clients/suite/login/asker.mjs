// A browser, or an app, that asks the backend over HTTP from an address of its own.
import { request } from "node:http";

export class Asker {
  #port;
  #address;
  #headers;
  #seen;
  /** What a browser would send back: name to value. */
  cookies = new Map();

  /** `seen` is called with each answer. */
  constructor({ port, address, headers, seen }) {
    this.#port = port;
    this.#address = address;
    this.#headers = headers;
    this.#seen = seen;
  }

  /** Posts JSON to an endpoint of the contract. */
  post(step, body = {}, headers = {}) {
    return this.ask("POST", `/login/${step}`, { body: JSON.stringify(body), headers });
  }

  /** A page of the application, which renews. */
  me(headers = {}, method = "GET") {
    return this.ask(method, "/me", { headers: { "Content-Type": null, ...headers } });
  }

  /** The same page without a renewal. */
  claims(headers = {}, method = "GET") {
    return this.ask(method, "/claims", { headers: { "Content-Type": null, ...headers } });
  }

  /** A header that is null is left out. */
  async ask(method, path, { body, headers = {} } = {}) {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const all = { "Content-Type": "application/json", ...(cookie && { Cookie: cookie }), ...this.#headers, ...headers };
    const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
    const answer = await this.#exchange({ method, path, headers: sent }, body);
    for (const { name, value, attributes } of answer.cookies) {
      if (attributes["max-age"] === "0") this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    this.#seen(answer);
    return answer;
  }

  #exchange(options, body) {
    return new Promise((resolve, reject) => {
      const own = { host: "127.0.0.1", port: this.#port, localAddress: this.#address, agent: false };
      const going = request({ ...own, ...options, timeout: 30_000 }, (answer) => {
        const chunks = [];
        answer.on("data", (chunk) => chunks.push(chunk));
        answer.on("error", reject);
        answer.on("end", () => resolve(understood(options, answer, Buffer.concat(chunks).toString())));
      });
      going.on("timeout", () => going.destroy(new Error(`no answer to ${options.method} ${options.path}`)));
      going.on("error", reject);
      going.end(body);
    });
  }
}

function understood({ method, path }, { statusCode, headers }, text) {
  const cookies = (headers["set-cookie"] ?? []).map(parsedCookie);
  return { is: `${method} ${path}`, status: statusCode, headers, text, json: parsed(text), cookies };
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Names of attributes are in lower case; one without a value is true. */
function parsedCookie(line) {
  const [pair, ...rest] = line.split(";").map((part) => part.trim());
  const [name, value] = split(pair);
  return { name, value, attributes: Object.fromEntries(rest.map(split).map(([key, is]) => [key.toLowerCase(), is])) };
}

function split(pair) {
  const at = pair.indexOf("=");
  return at < 0 ? [pair, true] : [pair.slice(0, at), pair.slice(at + 1)];
}
