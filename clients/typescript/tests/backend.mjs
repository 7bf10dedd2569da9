// A backend of the login contract by the Fetch API alone, for clients/suite/login.mjs.
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { Dwar, TokenVerifier } from "../dist/index.js";
import { createLogin } from "../dist/login/index.js";

const { PORT, ORIGIN, DWAR_URL, DWAR_API_KEY, DWAR_PROJECT_ID, DWAR_MODE, DWAR_SECRET } = process.env;

const login = createLogin({
  dwar: new Dwar({ url: DWAR_URL, apiKey: DWAR_API_KEY }),
  verifier: new TokenVerifier({ url: DWAR_URL, audience: DWAR_PROJECT_ID, mode: DWAR_MODE }),
  secret: DWAR_SECRET,
  origins: [ORIGIN],
  clientAddress: (_, { socket }) => socket.remoteAddress,
});

async function answer(request, context) {
  const { pathname } = new URL(request.url);
  if (pathname !== "/me" && pathname !== "/claims") return login.handle(request, context);
  const headers = new Headers();
  const claims = await login.authenticate(request, pathname === "/me" ? headers : undefined);
  if (claims) return Response.json({ identity_id: claims.sub }, { headers });
  headers.set("WWW-Authenticate", login.canRenew(request) ? 'Bearer error="invalid_token"' : "Bearer");
  return new Response(null, { status: 401, headers });
}

createServer(async (incoming, outgoing) => {
  const { method, url, headers } = incoming;
  const body = method === "GET" ? null : Readable.toWeb(incoming);
  const request = new Request(`http://127.0.0.1${url}`, { method, headers, body, duplex: "half" });
  const response = await answer(request, incoming).catch(() => new Response(null, { status: 503 }));
  outgoing.writeHead(response.status, [...response.headers].flat());
  outgoing.end(await response.text());
}).listen(PORT, "127.0.0.1");
