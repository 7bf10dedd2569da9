// Compiles the modules for `import` into dist/, and those for `require` into dist/cjs/.
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

rmSync(path("dist"), { recursive: true, force: true });
for (const config of ["tsconfig.json", "tsconfig.cjs.json"]) {
  const tsc = [path("node_modules/typescript/bin/tsc"), "-p", path(config)];
  const { status } = spawnSync(process.execPath, tsc, { stdio: "inherit" });
  if (status !== 0) process.exit(1);
}
writeFileSync(path("dist/cjs/package.json"), '{ "type": "commonjs" }\n');
