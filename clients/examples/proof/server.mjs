// A login whose form shows something when Dwar asks for a proof: PROOF is `altcha` or `turnstile`. Both are examples; Dwar
// knows neither. `prove` alone makes a visitor trusted: nothing that a page sends may.
import express from "express";
import { fileURLToPath } from "node:url";
import { Dwar, TokenVerifier } from "dwar-client";
import { createLogin } from "dwar-client/express";

const { PORT, ORIGIN, PROOF, DWAR_URL, DWAR_API_KEY, DWAR_PROJECT_ID, DWAR_MODE, DWAR_SECRET } = process.env;
const { prove, challenge, policy } = await import(`./${PROOF}.mjs`);

const login = createLogin({
  dwar: new Dwar({ url: DWAR_URL, apiKey: DWAR_API_KEY }),
  verifier: new TokenVerifier({ url: DWAR_URL, audience: DWAR_PROJECT_ID, mode: DWAR_MODE }),
  secret: DWAR_SECRET,
  origins: [ORIGIN],
  prove,
  onError: ({ code, requestId }) => console.error("login:", code, requestId),
});

const app = express();
app.use("/login", login.router);
if (challenge) app.get("/altcha", challenge);

const FILES = {
  "/": `./${PROOF}.html`,
  [`/${PROOF}.page.js`]: `./${PROOF}.page.js`,
  "/dwar-login.js": "../../form/dwar-login.js",
  ...(challenge && {
    "/altcha.js": "./node_modules/altcha/dist/external/altcha.min.js",
    "/altcha.css": "./node_modules/altcha/dist/external/altcha.css",
    "/altcha-worker.js": "./node_modules/altcha/dist/workers/pbkdf2.js",
  }),
};
const usual = { "default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "connect-src": "'self'" };
const csp = Object.entries({ ...usual, ...policy }).map((directive) => directive.join(" ")).join("; ");
for (const [path, file] of Object.entries(FILES))
  app.get(path, (request, response) =>
    response.set("Content-Security-Policy", csp).sendFile(fileURLToPath(new URL(file, import.meta.url))),
  );
app.get("/me", async (request, response) => {
  const claims = await login.authenticate(request, response);
  if (!claims) return response.sendStatus(401);
  response.json({ identity_id: claims.sub });
});
app.listen(PORT, "127.0.0.1");
