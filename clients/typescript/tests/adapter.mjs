// Puts this client to work for the suite: clients/suite/README.md says what the lines mean.
import { readFile, rename, writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { inspect } from "node:util";
import { Dwar, DwarError, Session, TokenVerifier, verifyEvent } from "../dist/index.js";
import { camelCased, snakeCased } from "../dist/names.js";

let objects = {};
let clockSeconds = 0;
const now = () => Date.now() + clockSeconds * 1000;

/** The file that the processes of a case share. */
function store(path) {
  return {
    load: () => readFile(path, "utf8").catch(() => undefined),
    save: async (pair) => {
      const own = `${path}.${process.pid}`;
      await writeFile(own, pair);
      await rename(own, path);
    },
  };
}

const MAKE = {
  client: ({ url, api_key, timeout_ms }) => new Dwar({ url, apiKey: api_key, timeoutMs: timeout_ms }),
  verifier: ({ timeout_ms, token_types, leeway_seconds, ...options }) =>
    new TokenVerifier({
      ...options,
      timeoutMs: timeout_ms,
      ...(token_types && { tokenTypes: token_types }),
      ...(leeway_seconds !== undefined && { leewaySeconds: leeway_seconds }),
      now,
    }),
  session: ({ client, store: path, secret }) => new Session(objects[client], { ...store(path), secret, now }),
};

const repetition = ({ idempotencyKey: key }) => (key === undefined ? {} : { idempotencyKey: key });

function withoutKey({ idempotencyKey: _, ...body }) {
  return body;
}

const CALLS = {
  sendOtp: (client, args) => client.send(withoutKey(args), repetition(args)),
  relayOtp: (client, args) => client.relay(withoutKey(args), repetition(args)),
  getOtpStatus: (client, { otpId }) => client.status(otpId),
  verifyOtp: (client, args) => client.verify(args),
  checkOtp: (client, args) => client.check(args),
  validateSession: (client, { accessToken }) => client.validate(accessToken),
  refreshSession: (client, args) => client.refresh(args.refreshToken, repetition(args)),
  logoutSession: (client, { accessToken }) => client.logout(accessToken),
  getIdentity: (client, { id }) => client.identity(id),
  findIdentity: (client, { phone }) => client.identityByPhone(phone),
  deleteIdentity: (client, { id }) => client.deleteIdentity(id),
  listSandboxMessages: (client, { phone }) => client.sandboxMessages(phone),
  getPublicKeys: (client) => client.keys(),
  begin: (session, { tokens }) => session.begin(tokens),
  accessToken: (session) => session.accessToken(),
  validate: (session) => session.call((token) => objects.client.validate(token)),
  logout: (session) => session.call((token) => objects.client.logout(token)),
  verifyToken: (verifier, { token }) => verifier.verify(token),
  verifyEvent: (_, { secret, headers, body }) => verifyEvent({ headers, body }, { secret, now }),
};

/** By other names. */
const copy = (value, revive, replace) => value && JSON.parse(JSON.stringify(value, replace), revive);

async function outcome(action) {
  try {
    const result = await action();
    return { result, request_id: result?.requestId, printed: typeof result === "string" ? "" : inspect(result) };
  } catch (error) {
    return { error: described(error), printed: inspect(error) };
  }
}

function described(error) {
  if (error instanceof TypeError) return { code: "ARGUMENT", message: error.message };
  if (!(error instanceof DwarError)) return { code: "UNEXPECTED", message: String(error) };
  const { code, message, httpStatus: status, requestId, retryAfter, remaining, raw } = error;
  const cause = error.cause && String(error.cause);
  return { code, message, status, request_id: requestId, retry_after: retryAfter, remaining, raw, cause };
}

async function answer(message) {
  switch (message.do) {
    case "reset":
      objects = {};
      clockSeconds = 0;
      return {};
    case "clock":
      clockSeconds = message.seconds;
      return {};
    case "new": {
      const made = await outcome(() => MAKE[message.kind](message.with));
      objects[message.as] = made.result;
      return made.error ? made : { printed: made.printed };
    }
    case "call": {
      const object = objects[message.on];
      const call = () => outcome(() => CALLS[message.call](object, copy(message.args, camelCased)));
      const found = await Promise.all(Array.from({ length: message.at_once ?? 1 }, call));
      const all = found.map(({ result, ...more }) => ({ result: copy(result, undefined, snakeCased), ...more }));
      const printed = all[0].printed + inspect(object, { showHidden: true });
      return message.at_once ? { all, printed } : { ...all[0], printed };
    }
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line)))}\n`);
}
