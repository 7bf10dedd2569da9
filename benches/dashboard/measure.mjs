// Opens every page of pages.txt in a service with many requests on record, and prints how long each
// took and what it weighs. Run by scripts/bench-dashboard.sh.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fill } from "./fill.mjs";
import { Service } from "./service.mjs";

const [name, url, count] = process.argv.slice(2);
const TURNS = 100;
const WARM = 5;
const DAY = 86_400_000;
const PHONE = "9876543210";

const passed = async (what, work) => {
  const began = Date.now();
  const result = await work();
  console.error(`${name}: ${what} within ${Math.round((Date.now() - began) / 1000)} s`);
  return result;
};

/** What the fill builds on: a code that was sent to a number, and an endpoint. */
async function prepare(service) {
  await service.post("wallet/credit", { rupees: "100000", reference: "bench" });
  await service.send(PHONE);
  await service.post("settings/events", { url: "https://example.com/dwar-events" });
}

/** Until all that is on record is counted. */
async function counted(service) {
  for (;;) {
    const { text } = await service.get("overview?period=month");
    if (!/Not counted yet|still being filled in/.test(text)) return;
    await new Promise((later) => setTimeout(later, 1000));
  }
}

/** The values for the names in braces. */
async function known(service) {
  const found = (text, pattern) => {
    const match = text.match(pattern);
    if (!match) throw new Error(`no ${pattern} in ${text.slice(0, 2000)}`);
    return match[1];
  };
  const id = "([0-9a-f]{8}-[0-9a-f-]{27})";
  const settings = await service.get("settings/events");
  const activity = await service.get("activity");
  const identity = await service.post("identities", { mode: "live", wanted: PHONE });
  const moment = Date.now() - 29.5 * DAY;
  const digits = Math.floor(moment).toString(16).padStart(12, "0");
  return {
    phone: PHONE,
    endpoint: found(settings.text, new RegExp(`/settings/events/${id}`)),
    otp: found(activity.text, new RegExp(`/activity/${id}`)),
    identity: found(identity.text, new RegExp(`/identities/live/${id}/sessions`)),
    day: new Date(moment).toISOString().slice(0, 10),
    moment: new Date(moment).toISOString(),
    middle: `${digits.slice(0, 8)}-${digits.slice(8)}-7fff-8fff-ffffffffffff`,
    oldest: new Date(Date.now() - 59 * DAY).toISOString(),
  };
}

/** Opens a page often enough, and prints the line of a table about it. */
async function measure(service, line, values) {
  const filled = line.replace(/\{(\w+)\}/g, (_, key) => encodeURIComponent(values[key]));
  const [, form, lines, path, body] = filled.match(/^(?:(POST)\s+|LINES\s+(\d+)\s+)?(\S+)\s*(.*)$/);
  const once = () => {
    if (form) return service.post(path, new URLSearchParams(body));
    return service.get(path, { lines: Number(lines) || Infinity });
  };
  const times = [];
  let answer;
  for (let turn = -WARM; turn < TURNS; turn += 1) {
    const began = performance.now();
    answer = await once();
    if (turn >= 0) times.push(performance.now() - began);
    if (answer.status !== 200) throw new Error(`${filled}: ${answer.status} ${answer.text.slice(0, 500)}`);
  }
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.floor(TURNS * share)].toFixed(1);
  const kilobytes = (bytes) => (bytes / 1000).toFixed(1);
  const whole = lines ? "" : kilobytes(answer.bytes + await service.files(answer.text));
  console.log(`| \`${line}\` | ${name} | ${at(0.5)} | ${at(0.95)} | ${kilobytes(answer.bytes)} | ${whole} |`);
}

// What is on record already is measured again without a fill.
if (count !== "0") {
  const first = await Service.start(url);
  await first.signIn();
  await prepare(first);
  await first.stop();
  await passed(`${count} requests filled in`, () => fill(url, count));
}
const service = await Service.start(url);
await service.signIn();
const values = await known(service);
const pages = readFileSync(join(import.meta.dirname, "pages.txt"), "utf8").split("\n");
const lines = pages.map((line) => line.split(/(?:^|\s)#/)[0].trim()).filter(Boolean);
const overviews = lines.filter((line) => line.startsWith("overview"));
// What shows figures comes last: meanwhile they are counted.
for (const line of lines) if (!overviews.includes(line)) await measure(service, line, values);
await passed("counted", () => counted(service));
for (const line of overviews) await measure(service, line, values);
await service.stop();
