// A proxy in the environment of every adapter. Loopback traffic, with an API key in the clear, has to go past it.
import { once } from "node:events";
import { createServer } from "node:net";

export class Proxy {
  #asked = [];
  #server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (head) => {
      this.#asked.push(head.toString("latin1").split("\r\n", 1)[0]);
      socket.end("HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    });
  });

  /** The environment that names it. */
  async start() {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    const url = `http://127.0.0.1:${this.#server.address().port}`;
    const { NO_PROXY: _, no_proxy: __, ...env } = process.env;
    for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]) env[name] = env[name.toLowerCase()] = url;
    // Node asks the environment only then.
    return { ...env, NODE_USE_ENV_PROXY: "1" };
  }

  /**
   * The loopback requests since the last call of this function. Others are ignored: a runtime may check elsewhere for a
   * newer version.
   */
  takeLoopback() {
    return this.#asked.splice(0).filter((line) => /127\.0\.0\.1|localhost|\[::1\]/.test(line));
  }

  stop() {
    this.#server.close();
  }
}
