// Checks an access token with the middleware of a web framework, by a request to an application that it guards.
//
// usage: node frameworks.mjs hono|hono-typ|express JWKS_URL ISSUER AUDIENCE ALG [ROLE] < token
// environment: TYP, the type of token that hono-typ is told to take.
// Prints one line. Exit status: 0 accepted, 3 refused.
import { readFileSync } from "node:fs";
import { once } from "node:events";
import express from "express";
import { auth } from "express-oauth2-jwt-bearer";
import { Hono } from "hono";
import { jwk } from "hono/jwk";

const [framework, keys, issuer, audience, algorithm, role] = process.argv.slice(2);
const headers = { authorization: `Bearer ${readFileSync(0, "utf8").trim()}` };

const ask = {
  async hono(typ) {
    const app = new Hono();
    app.use(jwk({ jwks_uri: keys, alg: [algorithm], verification: { iss: issuer, aud: audience, typ } }));
    app.get("/", (context) => context.json(context.get("jwtPayload")));
    return app.request("/", { headers });
  },
  "hono-typ": () => ask.hono(process.env.TYP),
  async express() {
    const app = express();
    app.use(auth({ issuerBaseURL: issuer, audience, tokenSigningAlg: algorithm }));
    app.get("/", (request, response) => response.json(request.auth.payload));
    // Otherwise Express prints refusals to standard error.
    app.use((error, _request, response, _next) => response.status(error.status ?? 500).send(error.message));
    const server = app.listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
      return await fetch(`http://127.0.0.1:${server.address().port}/`, { headers });
    } finally {
      server.close();
    }
  },
};

const response = await ask[framework]();
if (![200, 401].includes(response.status)) throw new Error(`${response.status}: ${await response.text()}`);
const refusal = response.status === 401 ? await response.text() : undefined;
const other = refusal === undefined && role && (await response.json()).role !== role;
console.log(refusal ?? (other ? "another role" : "accepted"));
process.exitCode = refusal !== undefined || other ? 3 : 0;
