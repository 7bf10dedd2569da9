// Talks to the adapter of the client under test: one line of JSON for each call, one for each answer.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const TIME_LIMIT_MS = 60_000;

/** No further case can be played. */
export class AdapterEnded extends Error {}

export class Adapter {
  #child;
  #lines;
  #waiting = Promise.resolve();
  /** What it wrote to standard error. */
  printed = "";

  constructor([program, ...words], env) {
    this.#child = spawn(program, words, { env, stdio: ["pipe", "pipe", "pipe"] });
    this.#child.on("error", ({ message }) => (this.printed += message));
    this.#child.stdin.on("error", ({ message }) => (this.printed += message));
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
    this.#child.stderr.on("data", (chunk) => (this.printed += chunk));
  }

  /** One at a time: a second call waits for the answer to the first. */
  ask(message) {
    const answer = this.#waiting.then(() => this.#ask(message));
    this.#waiting = answer.catch(() => {});
    return answer;
  }

  async #ask(message) {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error("the adapter did not answer")), TIME_LIMIT_MS);
    });
    try {
      const { value, done } = await Promise.race([this.#lines.next(), late]);
      if (done) throw new AdapterEnded(`the adapter ended: ${this.printed}`);
      return JSON.parse(value);
    } finally {
      clearTimeout(timer);
    }
  }

  stop() {
    this.#child.stdin.end();
    this.#child.kill();
  }
}
