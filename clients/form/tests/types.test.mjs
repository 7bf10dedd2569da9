// The types of the package, as a page without a framework takes them; frameworks/run.sh compiles them with three versions of
// TypeScript, with React and with Preact.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const OPTIONS = "--noEmit --strict --target es2022 --module nodenext --lib es2022,dom page.mts".split(" ");

test("a page takes the types of the package", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "dwar-login-types-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const installed = join(folder, "node_modules/dwar-login");
  mkdirSync(installed, { recursive: true });
  const { files } = JSON.parse(readFileSync(path("../package.json")));
  for (const name of ["package.json", ...files]) cpSync(path(`../${name}`), join(installed, name));
  const [page] = readFileSync(path("../frameworks/types.tsx"), "utf8").split("export const page");
  const renewing = 'import { fetchWithLogin } from "dwar-login/fetch-with-login";\n' +
    'export const me: Promise<Response> = fetchWithLogin("/me", { method: "GET" }, { endpoint: "/auth" });\n' +
    '// @ts-expect-error: a path is a text\nfetchWithLogin("/me", {}, { endpoint: 1 });\n';
  writeFileSync(join(folder, "page.mts"), page + renewing);
  const tsc = path("../node_modules/typescript/bin/tsc");
  const { status, stdout } = spawnSync(process.execPath, [tsc, ...OPTIONS], { cwd: folder, encoding: "utf8" });
  assert.equal(status, 0, stdout);
});
