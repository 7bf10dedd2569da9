// Holds the types to docs/openapi.json: the compiler has to accept a sample of each schema, every value of its
// enumerations included, with no field more or less, and to know exactly its codes.
import { test } from "node:test";
import assert from "node:assert/strict";
import { codes, events, samples } from "../../suite/document.mjs";
import { camelCased } from "../dist/names.js";
import { complaints } from "./compile.mjs";

const renamed = (value) => JSON.parse(JSON.stringify(value), camelCased);

test("the types are those of the document", () => {
  const known = Object.fromEntries(codes().map((code) => [code, true]));
  const program = [
    `import type * as dwar from "dwar-client";`,
    ...samples().map(
      ({ schema, sample }, index) => `export const c${index}: dwar.${schema} = ${JSON.stringify(renamed(sample))};`,
    ),
    `export const codes: Record<dwar.ServiceCode, true> = ${JSON.stringify(known)};`,
  ];
  assert.equal(complaints(program.join("\n")), "");
});

test("the types of events are those of docs/events.md", () => {
  const known = Object.fromEntries(events().map(({ type }) => [type, true]));
  const program = [
    `import type { DwarEvent } from "dwar-client";`,
    ...events().map(({ type, data }, index) => {
      const event = { id: "msg_1", type, timestamp: "2026-11-21T08:57:07.416Z", data: renamed(data) };
      return `export const e${index}: DwarEvent = ${JSON.stringify(event)};`;
    }),
    `export const types: Record<DwarEvent["type"], true> = ${JSON.stringify(known)};`,
    `declare const event: DwarEvent;`,
    `export const phone = event.type === "otp.failed" ? event.data.phone : event.data.projectId;`,
    `export const balance = event.type === "wallet.low" && event.data.balancePaise.toFixed();`,
  ];
  assert.equal(complaints(program.join("\n")), "");
  assert.match(complaints(`${program.join("\n")}\nexport const wrong = event.data.phone;`), /phone/);
});
