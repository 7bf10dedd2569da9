// The peer of the comparison: better-auth as its documentation sets it up for logins by phone, with
// bearer tokens as clients of an API use them. https://www.better-auth.com/docs/plugins/phone-number
import { createServer } from "node:http";
import { betterAuth } from "better-auth";
import { getMigrations } from "better-auth/db/migration";
import { toNodeHandler } from "better-auth/node";
import { bearer, phoneNumber } from "better-auth/plugins";
import Database from "better-sqlite3";
import pg from "pg";

const { PEER_DATABASE, PEER_PORT, PEER_PROVIDER } = process.env;

function open(url) {
  if (url.startsWith("postgres://")) return new pg.Pool({ connectionString: url });
  const database = new Database(url);
  // As better-sqlite3 recommends; commits are flushed to disk all the same, as Dwar's are.
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = FULL");
  return database;
}

const auth = betterAuth({
  baseURL: `http://127.0.0.1:${PEER_PORT}`,
  secret: "for the comparison alone, 32 characters or more",
  database: open(PEER_DATABASE),
  // Neither side is to refuse what the comparison asks for.
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  plugins: [
    bearer(),
    phoneNumber({
      async sendOTP({ phoneNumber, code }) {
        const answer = await fetch(PEER_PROVIDER, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ to: phoneNumber, text: `${code} is your code` }),
        });
        if (!answer.ok) throw new Error(`the provider answered ${answer.status}`);
        await answer.json();
      },
      signUpOnVerification: { getTempEmail: (phone) => `${phone.slice(1)}@peer.invalid` },
    }),
  ],
});

const { runMigrations } = await getMigrations(auth.options);
await runMigrations();
createServer(toNodeHandler(auth)).listen(Number(PEER_PORT), "127.0.0.1");
