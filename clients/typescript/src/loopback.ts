/// <reference types="node" />
import type { Agent, RequestOptions } from "node:http";

// Bun, Deno and, with NODE_USE_ENV_PROXY or an agent of one's own, Node send every request of `fetch` to proxies,
// including those to loopback: with plain http the proxies would see the API key.

/** The `fetch` of this platform, without proxies. */
export function loopbackFetch(): typeof globalThis.fetch {
  const { fetch } = globalThis;
  if ("Bun" in globalThis) return (url, init) => fetch(url, { ...init, proxy: false } as RequestInit);
  const direct = fetchOfNode();
  if ("Deno" in globalThis) return direct;
  return (url, init) => (mayUseProxy() ? direct : fetch)(url, init);
}

/** Whether `fetch` of Node uses an agent that may connect through a proxy. The agent may change between calls. */
function mayUseProxy(): boolean {
  return ["undici.globalDispatcher.1", "undici.globalDispatcher.2"]
    .map((name) => (globalThis as Record<symbol, object | undefined>)[Symbol.for(name)])
    .some((agent) => agent !== undefined && !["Agent", "MockAgent"].includes(agent.constructor.name));
}

/** Not every `fetch` has an option against proxies. An agent of `node:http` ignores those of the environment. */
function fetchOfNode(): typeof globalThis.fetch {
  let agent: Agent | undefined;
  return async (url, init) => {
    // Not imported, since bundlers for other platforms would look for the modules.
    const http = process.getBuiltinModule(String(url).startsWith("https:") ? "node:https" : "node:http");
    const { Readable } = process.getBuiltinModule("node:stream");
    // Shorter than the service keeps an idle connection, so that no call uses one that is being closed.
    agent ??= new http.Agent({ keepAlive: true, timeout: 15_000, proxyEnv: {} });
    return new Promise((resolve, reject) => {
      const asked = http.request(String(url), { ...init, agent } as RequestOptions, (response) => {
        const { statusCode: status, headers } = response;
        const isEmpty = [204, 304].includes(status!);
        if (isEmpty) response.resume();
        const body = isEmpty ? null : (Readable.toWeb(response) as ReadableStream);
        resolve(new Response(body, { status: status!, headers: headers as Record<string, string> }));
      });
      asked.on("error", (error) => reject(init?.signal?.aborted ? init.signal.reason : error));
      asked.end(init?.body ?? undefined);
    });
  };
}
