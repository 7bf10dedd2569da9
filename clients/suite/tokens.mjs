// Key sets and access tokens of the fake, good ones and forged ones. All keys are made anew for each run.
import { createHmac, createSign, generateKeyPairSync, randomUUID, sign } from "node:crypto";

const KEYS = {
  a: key("ES256", generateKeyPairSync("ec", { namedCurve: "P-256" })),
  b: key("ES256", generateKeyPairSync("ec", { namedCurve: "P-256" })),
  ed: key("EdDSA", generateKeyPairSync("ed25519")),
  rsa: key("RS256", generateKeyPairSync("rsa", { modulusLength: 2048 })),
};

/** Published, but of no use: of a later kind, and one that cannot be read. */
const USELESS = {
  later: { kty: "AKP", alg: "ML-DSA-44", pub: "AAAA" },
  broken: { kty: "EC", alg: "ES256", crv: "P-256", x: "AAAA", y: "AAAA" },
};

function key(alg, { publicKey, privateKey }) {
  return { alg, privateKey, publicKey, jwk: publicKey.export({ format: "jwk" }) };
}

export function jwks(names) {
  return { keys: names.map((kid) => kid && { ...(USELESS[kid] ?? published(KEYS[kid])), kid, use: "sig" }) };
}

function published({ alg, jwk }) {
  return { ...jwk, alg };
}

/**
 * A token of the fake: signed by `key` with its own algorithm or with `alg`, issued `age` seconds ago for `lifetime`
 * seconds, and valid `nbf` seconds from now on. `header` and `claims` replace; a value of null removes.
 */
export function mint({ key = "a", alg = KEYS[key].alg, age = 10, lifetime = 900, nbf, header, claims, after } = {}) {
  const iat = Math.floor(Date.now() / 1000) - age;
  const of = { iss: "dwar", aud: "project-1", client_id: "project-1", mode: "live", iat, exp: iat + lifetime };
  if (nbf !== undefined) of.nbf = iat + age + nbf;
  const ids = { sub: randomUUID(), sid: randomUUID(), jti: randomUUID() };
  const head = encode({ alg, typ: "at+jwt", kid: key, ...header });
  const signed = `${head}.${encode({ ...of, ...ids, ...claims })}`;
  const token = `${signed}.${signature(alg, KEYS[key], signed).toString("base64url")}`;
  return after === undefined ? token : changed(token, after);
}

function signature(alg, { privateKey, publicKey }, text) {
  const data = Buffer.from(text);
  if (alg === "none") return Buffer.alloc(0);
  // The forgery that works where a verifier takes the algorithm from the token: the public key as an HMAC secret.
  if (alg === "HS256")
    return createHmac("sha256", publicKey.export({ format: "pem", type: "spki" }))
      .update(data)
      .digest();
  if (alg === "EdDSA") return sign(null, data, privateKey);
  return createSign("sha256").update(data).sign({ key: privateKey, dsaEncoding: "ieee-p1363" });
}

function changed(token, part) {
  const [header, payload, signature] = token.split(".");
  if (part === "claims") {
    const claims = JSON.parse(Buffer.from(payload, "base64url"));
    return `${header}.${encode({ ...claims, sub: randomUUID() })}.${signature}`;
  }
  if (part === "signature") return `${header}.${payload}.${(signature[0] === "A" ? "B" : "A") + signature.slice(1)}`;
  throw new Error(`cannot change ${part}`);
}

function encode(value) {
  const present = Object.entries(value).filter(([, field]) => field !== null);
  return Buffer.from(JSON.stringify(Object.fromEntries(present))).toString("base64url");
}
