// A last line `@domain #code`, on a page below a public suffix.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { house, pasteAll } from "./house.mjs";

const { messages } = JSON.parse(readFileSync(new URL("../../suite/messages/messages.json", import.meta.url), "utf8"));
const domain = "shop.co.in";
const it = house({ domain });

test("a code that is bound to a name such as co.in is not submitted on a page of shop.co.in", async () => {
  const below = messages.filter((message) => message.domain === domain);
  assert.equal(below.length, messages.filter((message) => message.domain).length);
  assert.ok(below.length > 0);
  await pasteAll(it, below);
});
