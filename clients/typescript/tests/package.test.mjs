// The package as it is installed: by `import` and by `require`, for the compilers that are in use.
import { test } from "node:test";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import * as imported from "dwar-client";
import { complaints } from "./compile.mjs";

const require = createRequire(import.meta.url);
const required = require("dwar-client");
const ENTRIES = ["dwar-client", ...["express", "login", "testing", "form"].map((name) => `dwar-client/${name}`)];

test("what is imported can be required", async () => {
  for (const entry of ENTRIES) assert.deepEqual(Object.keys(require(entry)).sort(), Object.keys(await import(entry)));
});

test("an error is a DwarError, whether it comes from import or from require", () => {
  const [one, other] = [imported, required].map(({ DwarError }) => new DwarError("INVALID_OTP", "no"));
  assert.notEqual(imported.DwarError, required.DwarError);
  for (const { DwarError } of [imported, required]) {
    class Special extends DwarError {}
    assert.ok(one instanceof DwarError && other instanceof DwarError);
    assert.ok(new Special("INVALID_OTP", "no") instanceof Special);
    assert.ok(!(one instanceof Special) && !(new Error() instanceof DwarError) && !(null instanceof DwarError));
  }
});

const PROGRAM = `
  import { Dwar, DwarError, Session, TokenVerifier, verifyEvent } from "dwar-client";
  import * as express from "dwar-client/express";
  import * as login from "dwar-client/login";
  import * as form from "dwar-client/form";
  export const all = [Dwar, DwarError, Session, TokenVerifier, express.createLogin, login.createLogin, form.isPhone];
  export type Types = express.ExpressLogin | login.Login;
`;
const ON_NODE = `
  import { createServer } from "node:http";
  import { startDwar } from "dwar-client/testing";
  createServer((request) => {
    verifyEvent({ headers: request.headers, body: Buffer.from("{}") }, { secret: "whsec_AAAA" });
  });
  export const started = startDwar;
`;
const NODE = { lib: ["ES2023"], types: ["node"] };
const FILES = ["program.mts", "program.cts"];
const CONSUMERS = {
  "TypeScript 5.6 on Node": { compiler: "typescript-5.6", files: FILES, ...NODE },
  "TypeScript 5.6 with CommonJS, as in Nest and Jest": {
    compiler: "typescript-5.6",
    files: ["program.ts"],
    module: "CommonJS",
    moduleResolution: "Node10",
    ...NODE,
  },
  "TypeScript 5.9 on Node": { compiler: "typescript-5.9", files: FILES, ...NODE },
  "TypeScript 7 on Node": { files: FILES, ...NODE },
};
for (const [consumer, options] of Object.entries(CONSUMERS))
  test(`${consumer} takes the types`, () => assert.equal(complaints(PROGRAM + ON_NODE, options), ""));

test("TypeScript 7 takes the types for a bundler, without those of Node", () => {
  const options = { files: ["program.ts"], module: "ESNext", moduleResolution: "Bundler" };
  assert.equal(complaints(PROGRAM, { ...options, lib: ["ES2022", "DOM", "DOM.Iterable"] }), "");
});

test("publint and attw have no complaint", () => {
  for (const [bin, ...words] of [["publint", "--strict"], ["attw", "--pack", "."]]) {
    const cwd = fileURLToPath(new URL("..", import.meta.url));
    const { status, stdout } = spawnSync(`node_modules/.bin/${bin}`, words, { cwd, encoding: "utf8" });
    assert.equal(status, 0, stdout);
  }
});
