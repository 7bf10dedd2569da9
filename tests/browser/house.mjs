// Starts the service on its own database, and Chromium.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { chromium } from "playwright-core";

const PATIENCE = 30_000;
const axe = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
/** A server on which databases may be created; without it the service makes a SQLite file. */
const POSTGRES = process.env.BROWSER_POSTGRES_URL;

/** A fresh PostgreSQL database: its URL, and a function that drops it. */
function postgres() {
  const name = `dwar_browser_${randomUUID().replaceAll("-", "")}`;
  const run = (statement) => execFileSync("psql", ["-q", "-c", statement, POSTGRES]);
  run(`CREATE DATABASE ${name}`);
  const url = new URL(POSTGRES);
  url.pathname = name;
  return { url: url.href, drop: () => run(`DROP DATABASE ${name} WITH (FORCE)`) };
}

/** A fresh service with its demo project, with these settings and files besides: `link` opens the dashboard once. */
export async function open({ env = {}, files = {} } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "dwar-browser-"));
  const database = POSTGRES ? postgres() : { url: "sqlite://dwar.db", drop() {} };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const surroundings = {
    cwd: folder,
    env: {
      DWAR__HTTP__ADDRESS: "127.0.0.1:0",
      DWAR__DASHBOARD__ADDRESS: "127.0.0.1:0",
      DWAR__METRICS__ADDRESS: "off",
      DWAR__EVENTS__ALLOW_PRIVATE: "true",
      DWAR__DATABASE__URL: database.url,
      ...env,
    },
  };
  const service = spawn(process.env.DWAR, [], surroundings);
  let said = "", logged = "";
  service.stderr.on("data", (data) => { logged += data; });
  await new Promise((ready, failed) => {
    service.stdout.on("data", (data) => {
      said += data;
      if (/\/start#\S+\s/.test(said)) ready();
    });
    service.on("exit", () => failed(new Error(`the service ended: ${logged}`)));
    setTimeout(() => failed(new Error(`not ready: ${said} ${logged}`)), PATIENCE).unref();
  });
  const link = said.match(/http:\S+\/start#\S+/)[0];
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ["--no-sandbox"],
  });
  const context = await browser.newContext(LOOK);
  const page = await context.newPage();
  const faults = [];
  page.on("pageerror", (fault) => faults.push(fault.message));
  return {
    browser, context, page, link, faults,
    base: new URL(link).origin,
    api: said.match(/ready at (http:\S+)/)[1],
    testKey: said.match(/svc_test_\w+/)[0],
    liveKey: said.match(/svc_live_\w+/)[0],
    /** The output of a command on the machine of the service. */
    run: (command) => execFileSync(process.env.DWAR, command, { ...surroundings, encoding: "utf8" }),
    /** Signs in by the link and returns the address of the demo project. */
    async enter() {
      await page.goto(link);
      await page.waitForURL("**/playground");
      return page.url().replace(/\/playground$/, "");
    },
    async close() {
      await browser.close();
      service.kill();
      await new Promise((ended) => service.on("exit", ended));
      database.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** How the browser is set up, the same on every machine. */
export const LOOK = {
  viewport: { width: 1280, height: 860 },
  // Another time zone than that of the pages.
  timezoneId: "America/New_York",
  reducedMotion: "reduce",
};

/** The pages of a project, then those of the installation. */
export const OWN_PAGES = ["/projects", "/operations", "/team", "/audit", "/tokens", "/reference", "/account"];
export const PAGES = [
  "overview",
  "playground",
  "inbox",
  "activity",
  "keys",
  "settings/messages",
  "settings/delivery",
  "settings/tokens",
  "settings/events",
  "settings/project",
  "wallet",
  "identities",
  "audit",
];

/** Reloads the overview until it shows figures. */
export async function counted(page, view) {
  const address = page.url().split("?")[0] + view;
  for (const until = Date.now() + PATIENCE; Date.now() < until;) {
    await page.goto(address);
    if (await page.locator(".chart").count() > 0) return;
    await page.waitForTimeout(500);
  }
  throw new Error("nothing was counted");
}

/** Runs one step of the playground and returns its status. */
export async function step(page, name) {
  await page.click(`[data-step="${name}"] .run`);
  await page.waitForSelector(`[data-step="${name}"][data-state="good"], [data-step="${name}"][data-state="bad"]`);
  return (await page.textContent(`[data-step="${name}"] .status`)).split(" ")[0];
}

/** The id of what has the focus. A browser gives it to a new page with a frame, which can come after the page. */
export async function focused(page) {
  const frame = () => page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => drawn())));
  await page.waitForLoadState();
  await frame();
  await frame();
  return page.evaluate(() => document.activeElement.id);
}

/** Checks that axe finds nothing, nothing is wider than the page, and no script failed. */
export async function sound({ page, faults }, name) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run());
  assert.deepEqual(violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html.slice(0, 120))]), [], name);
  const beyond = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(beyond <= 0, `${name}: ${beyond} pixels too wide`);
  assert.deepEqual(faults, [], name);
}

/** A test at both widths, in both themes; `house` returns the running service. */
export function everywhere(house, name, check) {
  for (const width of [1440, 390]) {
    for (const colorScheme of ["light", "dark"]) {
      test(`${name}, at ${width} and ${colorScheme}`, async () => {
        const { page } = house();
        await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
        await page.emulateMedia({ colorScheme });
        await check(page, width, colorScheme);
      });
    }
  }
}
