// Starts the real service (DWAR_BIN) with a project of its own, on a free port of loopback. On its own,
// `node serve.mjs [PROFILE]` prints its address and keys and runs until it is interrupted.
import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

/** One for all services of a run, since on PostgreSQL they share a database. */
const MASTER_KEY = randomBytes(32).toString("base64");

/** Only a name, since verifiers get the address of the service separately. */
const ISSUER = "http://127.0.0.1:8080";

/** Settings beside those of every profile. */
const PROFILES = {
  real: { LIMITS__TEST__GENERAL_PER_MINUTE: 100_000, LIMITS__TEST__VALIDATE_PER_MINUTE: 100_000 },
  /** Tokens that expire while a case waits. Their times are whole seconds, so an access token lives for one or two. */
  short: { SESSION__ACCESS_SECONDS: 2, SESSION__REFRESH_SECONDS: 4 },
  /** A limit of requests that a case reaches. */
  tight: { LIMITS__TEST__GENERAL_PER_MINUTE: 2 },
  /** The guard of the project counts. */
  guarded: {},
  /** The live tokens of the project have an issuer of its own and the type JWT. */
  issuer: { TOKENS__ISSUER: ISSUER, TOKENS__PUBLISH_BEFORE_SECONDS: 7200 },
};

/**
 * The running service and what cases call it by: `url`, `test_key`, `live_key`, `project_id`, `closed_key` of a project
 * without look-up, deletion and relay, and `webhook_secret` if events go to `eventsUrl`. Of the profile `issuer` also the
 * project's `issuer`, and `live_token`, an access token of a login with the live key.
 */
export async function serve(profile, eventsUrl) {
  const binary = process.env.DWAR_BIN;
  if (!binary) throw new Error("DWAR_BIN must be the path of the service's binary");
  const folder = mkdtempSync(join(tmpdir(), "dwar-suite-"));
  const settings = {
    DEMO: false,
    DATABASE__URL: process.env.DWAR_SUITE_DATABASE_URL ?? `sqlite://${join(folder, "dwar.db")}`,
    SECRETS__MASTER_KEY: MASTER_KEY,
    HTTP__ADDRESS: "127.0.0.1:0",
    DASHBOARD__ADDRESS: "",
    METRICS__ADDRESS: "off",
    EVENTS__ALLOW_PRIVATE: true,
    LIMITS__TEST__SEND: 5,
    LIMITS__TEST__VERIFY_ATTEMPTS: 3,
    LOG__FORMAT: "json",
    ...PROFILES[profile],
  };
  const own = Object.entries(settings).map(([name, value]) => [`DWAR__${name}`, String(value)]);
  const options = { cwd: folder, env: { PATH: process.env.PATH, ...Object.fromEntries(own) } };
  const cli = async (...words) => JSON.parse((await run(binary, [...words, "--json"], options)).stdout);
  const project = await cli("project", "create", "--name", "Suite", "--balance-rupees", "100");
  await cli("project", "set", "--project", project.project_id, "--identity-lookup", "on", "--identity-delete", "on",
    "--relay-test", "on");
  if (profile === "issuer")
    await cli("project", "set", "--project", project.project_id, "--own-issuer", "on", "--token-type", "JWT");
  if (profile === "guarded") await cli("project", "set", "--project", project.project_id, "--guard", "watch");
  const closed = await cli("project", "create", "--name", "Closed");
  const add = ["webhook", "add", "--project", project.project_id, "--url", eventsUrl];
  const webhook = eventsUrl ? await cli(...add) : {};
  const stdio = ["ignore", profile === "issuer" ? "pipe" : "ignore", "pipe"];
  const service = spawn(binary, ["serve"], { ...options, stdio });
  // Also when the run ends by an error.
  const end = () => service.kill();
  process.once("exit", end);
  const url = await printed(service.stderr, /listening on (http:[^"]+)/);
  const live = profile === "issuer" ? await liveLogin(service, url, project) : {};
  return {
    variables: {
      url,
      test_key: project.test_key,
      live_key: project.live_key,
      project_id: project.project_id,
      closed_key: closed.test_key,
      webhook_secret: webhook.secret,
      ...live,
    },
    async stop() {
      process.off("exit", end);
      end();
      await once(service, "exit");
      rmSync(folder, { recursive: true });
    },
  };
}

/** Messages of live keys are on standard output, where no provider is set. */
async function liveLogin(service, url, project) {
  const headers = { "Content-Type": "application/json", "X-Api-Key": project.live_key };
  const post = async (path, body) => {
    const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return response.json();
  };
  while (!(await fetch(`${url}/readyz`)).ok) await sleep(20);
  const phone = "9876543210";
  await post("/v1/otp/send", { phone });
  const code = await printed(service.stdout, /"text":"(\d{6})/);
  const { access_token } = await post("/v1/otp/verify", { phone, code });
  return { live_token: access_token, issuer: `${ISSUER}/p/${project.project_id}` };
}

/** The group of the pattern, once the stream has it. */
async function printed(stream, pattern) {
  let text = "";
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    text += chunk;
    const found = pattern.exec(text);
    if (found) {
      stream.resume();
      return found[1];
    }
  }
  throw new Error(`the service did not start:\n${text}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const service = await serve(process.argv[2] ?? "real");
  console.log(JSON.stringify(service.variables, null, 2));
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void service.stop());
}
