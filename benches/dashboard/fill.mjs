// Puts many requests on record, past the service.

import { execFileSync, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const folder = process.env.BENCH_FOLDER;
const here = import.meta.dirname;
/** Their indexes are made anew after the fill, which takes a fraction of keeping them. */
const LARGE = "('otps', 'otp_attempts', 'ledger_entries', 'identities', 'sessions', 'audit_entries')";

const DAYS = 24 * 3_600_000;

/**
 * So many requests, and identities with a session each for so many people: the newest are `age` milliseconds old, the
 * oldest `span` milliseconds older. `last` is SQL that is run before the indexes are made anew.
 */
export async function fill(url, count, { people = Math.floor(count / 10), age = 60_000, span = 59 * DAYS, last = "" } = {}) {
  const wanted = { count, people, age, span, last };
  if (url.startsWith("postgres")) await fillPostgres(url, wanted);
  else fillSqlite(url.replace("sqlite://", ""), wanted);
}

async function fillPostgres(url, { last, ...given }) {
  const values = Object.entries(given).map(([name, value]) => `${name}=${value}`);
  const variables = ["ON_ERROR_STOP=1", ...values].flatMap((one) => ["-v", one]);
  const options = ["-q", "-A", "-t", ...variables, "-f", "-", url];
  const psql = (input) => execFileSync("psql", options, { input, encoding: "utf8" });
  const session = (input) => new Promise((done, failed) => {
    const one = spawn("psql", options, { stdio: ["pipe", "ignore", "inherit"] });
    one.on("exit", (code) => (code === 0 ? done() : failed(new Error(`psql ended with ${code}`))));
    one.stdin.end(input);
  });
  const indexes = psql(`SELECT indexname || ' ' || indexdef FROM pg_indexes
    WHERE tablename IN ${LARGE} AND indexname NOT IN (SELECT conname FROM pg_constraint)`);
  const found = indexes.trim().split("\n").map((line) => line.match(/^(\S+) (.*)$/));
  psql(found.map(([, name]) => `DROP INDEX ${name};`).join("\n"));
  const [head, ...parts] = readFileSync(join(here, "fill.postgres.sql"), "utf8").split(/^-{40}$/m);
  await Promise.all(parts.map((part) => session(head + part)));
  psql(last);
  const half = (rest) => found.filter((_, i) => i % 2 === rest).map(([, , made]) => `${made};`).join("\n");
  await Promise.all([0, 1].map((rest) => session(`SET maintenance_work_mem = '1GB';\n${half(rest)}`)));
  psql("VACUUM ANALYZE;");
}

/** Six bytes of a moment; sixteen of an id of that moment, of one that is always the same, and as text. */
const pair = (n) => `(SELECT b FROM pairs WHERE pairs.n = ((${n}) & 65535))`;
const moment = (at) => [`(${at}) >> 32`, `(${at}) >> 16`, at].map(pair).join(" || ");
const number = (i) => `x'0000' || ${pair(`${i} >> 16`)} || ${pair(i)}`;
const part = (id, from, bytes) => `hex(substr(${id}, ${from}, ${bytes}))`;
const SHORT = {
  moment,
  id: (at, kind, i) => `CAST(${moment(at)} || ${pair(`28672 + (${i} & 4095)`)} || x'${kind}' || ${number(i)} AS blob)`,
  fixed: (kind, i) => `CAST(x'0190000000007000${kind}' || ${number(i)} AS blob)`,
  text: (id) => `lower(${[[1, 4], [5, 2], [7, 2], [9, 2], [11, 6]].map((at) => part(id, ...at)).join(" || '-' || ")})`,
};

function fillSqlite(path, { last, ...given }) {
  const sqlite = (input, ...options) => execFileSync("sqlite3", ["-bail", ...options, path],
    { input, cwd: folder, encoding: "utf8", env: { ...process.env, SQLITE_TMPDIR: folder }, maxBuffer: 1e8 });
  const hex = (n) => n.toString(16).padStart(4, "0");
  const rows = Array.from({ length: 65536 }, (_, n) => `(${n}, x'${hex(n)}')`);
  writeFileSync(join(folder, "pairs.sql"), `INSERT INTO pairs VALUES ${rows.join(", ")};\n`);
  const found = JSON.parse(sqlite(`SELECT type, name, sql FROM sqlite_master
    WHERE tbl_name IN ${LARGE} AND type IN ('index', 'trigger') AND sql IS NOT NULL;`, "-json"));
  const script = readFileSync(join(here, "fill.sqlite.sql"), "utf8")
    .replace(/:(\w+)\(([^()]*)\)/g, (_, name, given) => SHORT[name](...given.split(", ")))
    .replace(/:(count|people|age|span)\b/g, (_, name) => given[name]);
  sqlite([
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -1500000;",
    ...found.map(({ type, name }) => `DROP ${type} ${name};`),
    script,
    last,
    ...found.map(({ sql }) => `${sql};`),
    "PRAGMA journal_mode = WAL;",
  ].join("\n"));
}
