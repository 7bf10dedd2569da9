// Puts many requests on record around those of a few people, and half as many sessions:
//   fill.mjs URL COUNT [AGE OF THE NEWEST, MS] [AGE OF THE OLDEST, MS]
// Run by scripts/bench-scale.sh and scripts/soak.sh, by way of benches/src/scale/fill.rs.

import { fill } from "../dashboard/fill.mjs";

const [url, count, newest, oldest] = process.argv.slice(2);

/** Sessions of few in a row would lie together; in the order of their ids they lie as they come. */
const SCATTER = {
  postgres: "CLUSTER sessions USING sessions_pkey;",
  sqlite: `CREATE TEMP TABLE sorted AS SELECT * FROM sessions ORDER BY id;
    DELETE FROM sessions;
    INSERT INTO sessions SELECT * FROM sorted;
    DROP TABLE sorted;`,
};
/** What was filled in is not to be counted beside the requests that are measured. */
const COUNTED = {
  postgres: `UPDATE figures_lease SET settled_at = date_trunc('minute', now() - interval '1 hour'),
    fresh_at = now();`,
  sqlite: `UPDATE figures_lease SET settled_at = strftime('%s', 'now') / 60 * 60000 - 3600000,
    fresh_at = strftime('%s', 'now') * 1000;`,
};

const kind = url.startsWith("postgres") ? "postgres" : "sqlite";
const last = SCATTER[kind] + COUNTED[kind];
const ages = newest ? { age: Number(newest), span: oldest - newest } : {};
await fill(url, Number(count), { people: Math.floor(Number(count) / 2), last, ...ages });
