// Checks an access token with jose against the published keys, as a customer's backend would.
//
// usage: node verify.mjs JWKS_URL ISSUER AUDIENCE ALG < token
// Prints one line. Exit status: 0 accepted, 1 refused, 2 wrong usage.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createRemoteJWKSet, errors, jwtVerify } from "jose";

const [jwksUrl, issuer, audience, algorithm, ...rest] = process.argv.slice(2);
if (!algorithm || rest.length > 0) {
  console.error("usage: node verify.mjs JWKS_URL ISSUER AUDIENCE ALG < token");
  process.exit(2);
}
const version = createRequire(import.meta.url)("jose/package.json").version;
const token = readFileSync(0, "utf8").trim();

try {
  const keys = createRemoteJWKSet(new URL(jwksUrl), { timeoutDuration: 10_000 });
  const { payload, protectedHeader } = await jwtVerify(token, keys, {
    algorithms: [algorithm],
    issuer,
    audience,
    typ: "at+jwt",
    requiredClaims: ["iss", "aud", "sub", "sid", "jti", "iat", "exp", "client_id", "mode"],
  });
  const { alg, kid } = protectedHeader;
  console.log(`jose ${version}: accepted ${alg} kid=${kid} sub=${payload.sub}`);
} catch (refusal) {
  if (!(refusal instanceof errors.JOSEError)) throw refusal;
  console.log(`jose ${version}: REFUSED: ${refusal.code}: ${refusal.message}`);
  process.exit(1);
}
