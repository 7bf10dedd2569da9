#!/usr/bin/env node
// Reads the packages as a registry shows them: the manifest names repository, homepage and issues, and no link of the README
// is relative, since it would lead nowhere there.
import { existsSync, readFileSync } from "node:fs";

const REPOSITORY = "https://github.com/dwar-auth/dwar";
const root = new URL("../../", import.meta.url);
const read = (path) => readFileSync(new URL(path, root), "utf8");

/** What each manifest must contain, literally. Go's has no such fields, nor has Cargo's one for issues. */
const MANIFESTS = {
  typescript: ["package.json", `"git+${REPOSITORY}.git"`, '"homepage": ', `"bugs": "${REPOSITORY}/issues"`],
  form: ["package.json", `"git+${REPOSITORY}.git"`, '"homepage": ', `"bugs": "${REPOSITORY}/issues"`],
  python: ["pyproject.toml", `Repository = "${REPOSITORY}"`, "Homepage = ", `Issues = "${REPOSITORY}/issues"`],
  rust: ["Cargo.toml", `repository = "${REPOSITORY}"`, "homepage = "],
  go: ["go.mod"],
};

const faults = [];
for (const [folder, [manifest, ...said]] of Object.entries(MANIFESTS)) {
  const text = read(`clients/${folder}/${manifest}`);
  for (const one of said) if (!text.includes(one)) faults.push(`clients/${folder}/${manifest} does not say ${one}`);
  const readme = read(`clients/${folder}/README.md`).replace(/^```.*?^```/gms, "");
  const inline = [...readme.matchAll(/\]\(([^)]+)\)/g)];
  const referred = [...readme.matchAll(/^\[[\w-]+\]: +(\S+)$/gm)];
  for (const [, link] of [...inline, ...referred]) {
    const [, path] = new RegExp(`^${REPOSITORY}/(?:blob|tree)/main/([^#]+)`).exec(link) ?? [];
    if (!/^(https:|#)/.test(link) || (path && !existsSync(new URL(path, root))))
      faults.push(`clients/${folder}/README.md links to ${link}, which leads nowhere`);
  }
  const labels = new Set([...readme.matchAll(/^\[([\w-]+)\]: /gm)].map(([, label]) => label));
  for (const [, label] of readme.matchAll(/\]\[([\w-]+)\]/g))
    if (!labels.has(label)) faults.push(`clients/${folder}/README.md has no link for ${label}`);
}
for (const fault of faults) console.log(`not ok  ${fault}`);
process.exitCode = faults.length === 0 ? 0 : 1;
