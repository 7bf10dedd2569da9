// Holds the types to docs/openapi.json: the compiler has to accept a sample of each schema, every value of its
// enumerations included, with no field more or less, and to know exactly its codes.
import { test } from "node:test";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { codes, samples } from "../../suite/document.mjs";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

/** Codes that the next version of the service adds. */
const ANNOUNCED = ["RELAY_DISABLED", "INVALID_FIELD"];

function program() {
  const known = Object.fromEntries([...codes(), ...ANNOUNCED].map((code) => [code, true]));
  return [
    `import type * as dwar from ${JSON.stringify(path("../dist/index.js"))};`,
    ...samples().map(({ schema, sample }, index) => `export const c${index}: dwar.${schema} = ${JSON.stringify(sample)};`),
    `export const codes: Record<dwar.ServiceCode, true> = ${JSON.stringify(known)};`,
  ].join("\n");
}

test("the types are those of the document", () => {
  const folder = mkdtempSync(join(tmpdir(), "dwar-types-"));
  try {
    const compilerOptions = { strict: true, noEmit: true, exactOptionalPropertyTypes: true, target: "ES2022", module: "NodeNext", types: [] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["samples.mts"] }));
    writeFileSync(join(folder, "samples.mts"), program());
    const { status, stdout } = spawnSync(path("../node_modules/.bin/tsc"), ["-p", folder], { encoding: "utf8" });
    assert.equal(status, 0, stdout);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
