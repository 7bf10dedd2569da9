// Bun, Deno and, with NODE_USE_ENV_PROXY, Node send every request of `fetch` to the proxies of the environment, those to
// loopback too: plain http would show them the API key.

/** The `fetch` of this platform, without proxies. */
export function loopbackFetch(): typeof globalThis.fetch {
  const { fetch } = globalThis;
  if ("Bun" in globalThis) return (url, init) => fetch(url, { ...init, proxy: false } as RequestInit);
  if ("Deno" in globalThis) return fetchOfNode;
  // Node keeps there the agent that asks the environment.
  const dispatcher = (globalThis as Record<symbol, object | undefined>)[Symbol.for("undici.globalDispatcher.1")];
  if (dispatcher?.constructor.name !== "EnvHttpProxyAgent") return fetch;
  const Agent = dispatcher.constructor as new (options: object) => object;
  const direct = new Agent({ noProxy: "*" });
  return (url, init) => fetch(url, { ...init, dispatcher: direct } as RequestInit);
}

/** What is used here of Node's modules. */
interface NodeProcess {
  getBuiltinModule(name: "node:http"): {
    Agent: new (options: object) => object;
    request(url: unknown, options: object, answered: (response: Incoming) => void): Outgoing;
  };
  getBuiltinModule(name: "node:stream"): { Readable: { toWeb(stream: Incoming): ReadableStream } };
}
interface Incoming {
  statusCode: number;
  headers: Record<string, string>;
}
interface Outgoing {
  on(event: "error", listener: (error: Error) => void): void;
  end(body: unknown): void;
}

/** Deno has no option of `fetch` for it. An agent of `node:http` takes the place of the environment. */
const fetchOfNode: typeof globalThis.fetch = async (url, init) => {
  // No import, since bundlers for other platforms would look for the modules.
  const { process } = globalThis as unknown as { process: NodeProcess };
  const { Agent, request } = process.getBuiltinModule("node:http");
  const { Readable } = process.getBuiltinModule("node:stream");
  return new Promise((resolve, reject) => {
    const asked = request(url, { ...init, agent: new Agent({ proxyEnv: {} }) }, (response) => {
      const { statusCode: status, headers } = response;
      resolve(new Response([204, 304].includes(status) ? null : Readable.toWeb(response), { status, headers }));
    });
    asked.on("error", reject);
    asked.end(init?.body ?? undefined);
  });
};
