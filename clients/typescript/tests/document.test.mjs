// Holds the types to docs/openapi.json: the compiler has to accept a sample of each schema, every value of its
// enumerations included, with no field more or less, and to know exactly its codes.
import { test } from "node:test";
import assert from "node:assert/strict";
import { codes, samples } from "../../suite/document.mjs";
import { complaints } from "./compile.mjs";

test("the types are those of the document", () => {
  const known = Object.fromEntries(codes().map((code) => [code, true]));
  const program = [
    `import type * as dwar from "dwar-client";`,
    ...samples().map(
      ({ schema, sample }, index) => `export const c${index}: dwar.${schema} = ${JSON.stringify(sample)};`,
    ),
    `export const codes: Record<dwar.ServiceCode, true> = ${JSON.stringify(known)};`,
  ];
  assert.equal(complaints(program.join("\n")), "");
});
