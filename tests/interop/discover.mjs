// Checks an access token with oauth4webapi, which finds the keys by both kinds of discovery.
//
// usage: node discover.mjs JWKS_URL ISSUER AUDIENCE ALG [ROLE] < token
// Prints one line. Exit status: 0 accepted, 3 refused.
import { readFileSync } from "node:fs";
import * as oauth from "oauth4webapi";

const [, issuer, audience, , role] = process.argv.slice(2);
// The issuer of a service under development may be http:// on loopback.
const insecure = { [oauth.allowInsecureRequests]: true };
const request = new Request("https://shop.example", {
  headers: { authorization: `Bearer ${readFileSync(0, "utf8").trim()}` },
});

async function verify(algorithm) {
  const url = new URL(issuer);
  const server = await oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, { algorithm, ...insecure }));
  try {
    const claims = await oauth.validateJwtAccessToken(server, request, audience, insecure);
    return role && claims.role !== role ? "another role" : undefined;
  } catch (error) {
    if (error.name !== "OperationProcessingError" && error.name !== "UnsupportedOperationError") throw error;
    return error.message;
  }
}

const refusals = [await verify("oidc"), await verify("oauth2")];
console.log(refusals.map((refusal) => refusal ?? "accepted").join(", "));
process.exitCode = refusals.every(Boolean) ? 3 : refusals.some(Boolean) ? 1 : 0;
