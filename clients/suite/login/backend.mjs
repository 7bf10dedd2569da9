// Starts the backend under test, and ends it with all its processes.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const START_MS = 120_000;

export class Backend {
  #process;
  #ended = false;
  /** Everything that it wrote. */
  printed = "";

  async start([program, ...words], environment) {
    this.port = await freePort();
    const env = { ...process.env, ...environment, PORT: String(this.port) };
    // A group of its own, since a command such as npm starts others that do not end with it.
    this.#process = spawn(program, words, { env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    this.#process.once("error", (error) => (this.printed += error.message));
    for (const stream of [this.#process.stdout, this.#process.stderr])
      stream.on("data", (chunk) => (this.printed += chunk));
    this.#process.once("close", () => (this.#ended = true));
    process.once("exit", () => this.#kill());
    const until = Date.now() + START_MS;
    while (!(await listens(this.port))) {
      if (this.#ended || Date.now() > until) throw new Error(`the backend did not start:\n${this.printed}`);
      await sleep(100);
    }
  }

  async stop() {
    if (this.#ended) return;
    this.#kill();
    await once(this.#process, "close");
  }

  #kill() {
    if (this.#ended || !this.#process.pid) return;
    try {
      process.kill(-this.#process.pid, "SIGKILL");
    } catch {
      // It ended just now.
    }
  }
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

async function listens(port) {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
