// Compiles the modules for `import` into dist/, and those for `require` into dist/cjs/. Who uses dist/ meanwhile has it whole.
import { spawnSync } from "node:child_process";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const built = path(`dist.${process.pid}`);

for (const [config, folder] of [["tsconfig.json", built], ["tsconfig.cjs.json", `${built}/cjs`]]) {
  const tsc = [path("node_modules/typescript/bin/tsc"), "-p", path(config), "--outDir", folder];
  const { status } = spawnSync(process.execPath, tsc, { stdio: "inherit" });
  if (status !== 0) {
    rmSync(built, { recursive: true, force: true });
    process.exit(1);
  }
}
writeFileSync(`${built}/cjs/package.json`, '{ "type": "commonjs" }\n');
rmSync(path("dist"), { recursive: true, force: true });
renameSync(built, path("dist"));
