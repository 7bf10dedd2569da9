import { test } from "node:test";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

test("the suite passes against the service and the fake", () => {
  const { status } = spawnSync(process.execPath, [path("../../suite/run.mjs"), process.execPath, path("adapter.mjs")], {
    stdio: "inherit",
  });
  assert.equal(status, 0);
});
