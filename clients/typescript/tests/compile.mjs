// What the compiler says of a program that uses this client.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const USUAL = {
  strict: true,
  noEmit: true,
  exactOptionalPropertyTypes: true,
  target: "ES2022",
  module: "NodeNext",
  types: [],
};

/** Its complaints, empty if there are none. `compiler` is a folder of `node_modules`, `files` are names of the program. */
export function complaints(program, { compiler = "typescript", files = ["program.mts"], ...options } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "dwar-client-"));
  try {
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(path(".."), join(folder, "node_modules/dwar-client"));
    symlinkSync(path("../node_modules/@types"), join(folder, "node_modules/@types"));
    const compilerOptions = { ...USUAL, ...options };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
    for (const file of files) writeFileSync(join(folder, file), program);
    const tsc = path(`../node_modules/${compiler}/bin/tsc`);
    const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8" });
    return status === 0 ? "" : stdout || `the compiler ended with ${status}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
