// Checks an access token with jose against the published keys, as a customer's backend would.
//
// usage: node verify.mjs JWKS_URL ISSUER AUDIENCE ALG [ROLE] < token
// environment (optional): TYP, the type that the token must be of; at+jwt by default.
// Prints one line. Exit status: 0 accepted, 3 refused.
import { readFileSync } from "node:fs";
import { createRemoteJWKSet, errors, jwtVerify } from "jose";

const [jwksUrl, issuer, audience, algorithm, role] = process.argv.slice(2);
const keys = createRemoteJWKSet(new URL(jwksUrl), { timeoutDuration: 10_000 });

try {
  const { payload, protectedHeader } = await jwtVerify(readFileSync(0, "utf8").trim(), keys, {
    algorithms: [algorithm],
    issuer,
    audience,
    typ: process.env.TYP ?? "at+jwt",
    requiredClaims: ["iss", "aud", "sub", "sid", "jti", "iat", "exp", "client_id", "mode"],
  });
  if (role && payload.role !== role) throw new errors.JWTInvalid("another role");
  console.log(`accepted, ${protectedHeader.alg}`);
} catch (refusal) {
  if (!(refusal instanceof errors.JOSEError)) throw refusal;
  console.log(refusal.message);
  process.exitCode = 3;
}
