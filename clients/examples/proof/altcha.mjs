// A computation that the visitor's browser does, with the widget and the library of ALTCHA. Nothing leaves your own server.
import { createChallenge, randomInt, verifySolution } from "altcha-lib";
import { deriveKey } from "altcha-lib/algorithms/pbkdf2";

const SECONDS = 600;
const secrets = { hmacSignatureSecret: process.env.ALTCHA_SECRET, hmacKeySignatureSecret: `${process.env.ALTCHA_SECRET} key` };
/** The signatures of solved challenges until they expire: each proves one send. Several processes need a common store. */
const used = new Map();

export const policy = { "worker-src": "'self'" };

export async function challenge(request, response) {
  const expiresAt = new Date(Date.now() + SECONDS * 1000);
  const task = { algorithm: "PBKDF2/SHA-256", cost: 5_000, counter: randomInt(1_000, 2_000) };
  response.json(await createChallenge({ ...task, deriveKey, expiresAt, ...secrets }));
}

export async function prove(request, proof) {
  const solved = read(proof);
  if (!solved?.challenge?.signature || !solved.solution) return false;
  const { verified } = await verifySolution({ ...solved, deriveKey, ...secrets }).catch(() => ({ verified: false }));
  const now = Date.now();
  for (const [signature, until] of used) if (until < now) used.delete(signature);
  if (!verified || used.has(solved.challenge.signature)) return false;
  used.set(solved.challenge.signature, now + SECONDS * 1000);
  return true;
}

function read(proof) {
  try {
    const { challenge, solution } = JSON.parse(Buffer.from(proof, "base64").toString());
    return { challenge, solution };
  } catch {
    return undefined;
  }
}
