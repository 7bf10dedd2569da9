import { test } from "node:test";
import assert from "node:assert/strict";
import { isCode, isPhone } from "../dist/form.js";

test("a form knows what the service takes", () => {
  for (const text of ["9876543210", "+919876543210", "6000000000"]) assert.equal(isPhone(text), true, text);
  for (const text of ["", "98765 43210", "919876543210", "5876543210", "987654321", "9876543210\n"])
    assert.equal(isPhone(text), false, text);
  assert.equal(isCode("012345"), true);
  for (const text of ["", "12345", "1234567", "12345a", "123456\n"]) assert.equal(isCode(text), false, text);
});
