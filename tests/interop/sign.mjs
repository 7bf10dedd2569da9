// Signs a webhook with standardwebhooks from npm.
//
// usage: SECRET=whsec_… node sign.mjs ID SECONDS_SINCE_1970 < body
import { readFileSync } from "node:fs";
import { Webhook } from "standardwebhooks";

const [id, seconds] = process.argv.slice(2);
console.log(new Webhook(process.env.SECRET).sign(id, new Date(seconds * 1000), readFileSync(0, "utf8")));
