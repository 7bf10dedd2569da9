// What the compiler says of a program that uses this client.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const compilerOptions = {
  strict: true,
  noEmit: true,
  exactOptionalPropertyTypes: true,
  target: "ES2022",
  module: "NodeNext",
  types: [],
};

/** Its complaints, empty if there are none. */
export function complaints(program) {
  const folder = mkdtempSync(join(tmpdir(), "dwar-client-"));
  try {
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(path(".."), join(folder, "node_modules/dwar-client"));
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.mts"] }));
    writeFileSync(join(folder, "program.mts"), program);
    const { status, stdout } = spawnSync(path("../node_modules/.bin/tsc"), ["-p", folder], { encoding: "utf8" });
    return status === 0 ? "" : stdout || `the compiler ended with ${status}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
