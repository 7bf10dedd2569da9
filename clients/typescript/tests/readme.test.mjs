import { test } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { complaints } from "./compile.mjs";

test("the programs of the README compile", () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const blocks = [...readme.matchAll(/^```ts\n(.*?)^```/gms)].map(([, block]) => block);
  assert.equal(blocks.length, 7);
  const program = `
    import { TokenVerifier, verifyEvent } from "dwar-client";
    import { isCode, isPhone } from "dwar-client/form";
    declare const process: { env: Record<string, string | undefined> };
    declare const redis: { get(key: string): Promise<string | null>; set(key: string, value: string): Promise<unknown> };
    declare const browser: { newContext(options: { storageState: object }): Promise<unknown> };
    declare const code: string, id: string, accessToken: string, rawBody: string;
    declare const request: Request, solved: (captcha: unknown) => Promise<boolean>;
    isCode(code) && isPhone(id);
    ${blocks.join("\n")}`;
  assert.equal(complaints(program), "");
});

test("the pages of the service show the calls of this client", () => {
  const shown = new URL("../../../crates/adapters/dashboard/src/reference/clients.json", import.meta.url);
  const calls = Object.values(JSON.parse(readFileSync(shown, "utf8"))).map(({ TypeScript }) => `${TypeScript};`);
  const program = `
    import type { Dwar } from "dwar-client";
    declare const dwar: Dwar;
    declare const phone: string, code: string, otpId: string, accessToken: string, refreshToken: string, id: string;
    ${calls.join("\n")}`;
  assert.equal(complaints(program), "");
});
