/// <reference types="node" />
// For tests, on Node alone: a service in memory, and logins without a phone.
import { spawn, type ChildProcess } from "node:child_process";
import { devNull } from "node:os";
import { Dwar } from "./client.js";
import { ACCESS, REFRESH } from "./login/cookies.js";
import type { Tokens } from "./types.js";

export interface TestDwarOptions {
  /** Path of the service's binary: by default `DWAR_BIN`, or `dwar` on the path. */
  binary?: string;
  /** Further settings, such as `{ DWAR__OTP__LIFETIME_SECONDS: "60" }`. The settings of your shell are ignored. */
  settings?: Record<string, string>;
}

/** Environment of a backend under test, besides its own secret and origin. */
export interface TestEnvironment extends Record<string, string> {
  DWAR_URL: string;
  /** A test key. */
  DWAR_API_KEY: string;
  DWAR_PROJECT_ID: string;
  DWAR_MODE: "test";
}

/** Cookies as `browser.newContext({ storageState })` of Playwright takes them. */
export interface StorageState {
  cookies: {
    name: string;
    value: string;
    domain: string;
    path: string;
    expires: number;
    httpOnly: boolean;
    secure: boolean;
    sameSite: "Lax";
  }[];
  origins: [];
}

const START_MS = 30_000;
const SETTINGS = {
  DWAR__DATABASE__URL: "memory:",
  DWAR__HTTP__ADDRESS: "127.0.0.1:0",
  DWAR__DASHBOARD__ADDRESS: "",
  DWAR__METRICS__ADDRESS: "off",
  // Many fast calls of tests are not an attack.
  DWAR__LIMITS__TEST__GENERAL_PER_MINUTE: "100000",
  DWAR__LIMITS__TEST__VALIDATE_PER_MINUTE: "100000",
};

/**
 * Starts a service for this process on a free port of loopback. It keeps all data in memory and ends with the process.
 */
export async function startDwar({ binary, settings }: TestDwarOptions = {}): Promise<TestDwar> {
  const program = binary ?? process.env["DWAR_BIN"] ?? "dwar";
  const env = { PATH: process.env["PATH"], ...SETTINGS, ...settings };
  // The test ignores the settings file of the current folder.
  const service = spawn(program, ["serve", "--config", devNull], { env, stdio: ["ignore", "pipe", "pipe"] });
  const kill = () => void service.kill();
  const ended = new Promise<void>((resolve) => service.once("close", () => resolve()));
  const stayOn = endWithThisProcess(kill);
  const stop = async () => {
    stayOn();
    kill();
    await ended;
  };
  try {
    return new TestDwar(await environmentOf(service), stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A signal ends Node without the event `exit`. Returns a function that cancels this. */
function endWithThisProcess(kill: () => void): () => void {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const killed = (signal: NodeJS.Signals) => {
    kill();
    // Listeners keep the signal from ending this process, so the last one sends it again.
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  };
  process.once("exit", kill);
  for (const signal of signals) process.once(signal, killed);
  return () => {
    process.off("exit", kill);
    for (const signal of signals) process.off(signal, killed);
  };
}

export class TestDwar {
  readonly #environment: TestEnvironment;
  /** Calls the service with the test key. */
  readonly client: Dwar;
  /** Stops the service; its data is lost. */
  readonly stop: () => Promise<void>;

  constructor(environment: TestEnvironment, stop: () => Promise<void>) {
    this.#environment = environment;
    this.client = new Dwar({ url: environment.DWAR_URL, apiKey: environment.DWAR_API_KEY });
    this.stop = stop;
  }

  get environment(): TestEnvironment {
    return this.#environment;
  }

  /** The last code that was sent to this phone. */
  async lastCode(phone: string): Promise<string> {
    const { messages } = await this.client.sandboxMessages(phone);
    if (!messages[0]) throw new Error("this phone has got no code");
    return messages[0].code;
  }

  /** Logs in as this phone, at the service itself. */
  async logIn(phone: string): Promise<Tokens> {
    const { otpId } = await this.client.send({ phone });
    return this.client.verify({ phone, code: await this.lastCode(phone), otpId });
  }

  /** The cookies of a browser in which this phone has logged in at `url`, such as `http://localhost:3000`. */
  async storageState(phone: string, url: string): Promise<StorageState> {
    const { accessToken, refreshToken, expiresIn, refreshExpiresIn } = await this.logIn(phone);
    const own = { domain: new URL(url).hostname, path: "/", httpOnly: true, secure: true };
    const expires = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;
    return {
      cookies: [
        { ...own, name: ACCESS, value: accessToken, expires: expires(expiresIn), sameSite: "Lax" },
        { ...own, name: REFRESH, value: refreshToken, expires: expires(refreshExpiresIn), sameSite: "Lax" },
      ],
      origins: [],
    };
  }
}

/** Reads the address and the keys that the service prints once. */
function environmentOf(service: ChildProcess): Promise<TestEnvironment> {
  return new Promise((resolve, reject) => {
    let printed = "";
    let log = "";
    const fail = (reason: string) => reject(new Error(`the service did not start: ${reason}\n${log}`));
    const timer = setTimeout(() => fail("no keys within 30 s"), START_MS);
    service.stderr?.on("data", (chunk) => (log = (log + chunk).slice(-10_000)));
    service.stdout?.on("data", (chunk) => {
      printed = (printed + chunk).slice(-10_000);
      const environment = understood(printed);
      if (environment) resolve(environment);
    });
    service.once("error", ({ message }) => fail(message));
    service.once("close", (status) => fail(`it ended with ${status}`));
    service.once("close", () => clearTimeout(timer));
  });
}

function understood(printed: string): TestEnvironment | undefined {
  const found = /ready at (\S+)[^]*\(([0-9a-f-]{36})\)[^]*Test key +(svc_test_\w+)\n/.exec(printed);
  if (!found) return undefined;
  const [, url = "", project = "", key = ""] = found;
  return { DWAR_URL: url, DWAR_API_KEY: key, DWAR_PROJECT_ID: project, DWAR_MODE: "test" };
}
