// Login by phone in Express: the login contract at /login, and two pages for those who are logged in.
import express from "express";
import { Dwar, TokenVerifier } from "dwar-client";
import { createLogin } from "dwar-client/express";

const { PORT, ORIGIN, DWAR_URL, DWAR_API_KEY, DWAR_PROJECT_ID, DWAR_MODE, DWAR_SECRET } = process.env;

const login = createLogin({
  dwar: new Dwar({ url: DWAR_URL, apiKey: DWAR_API_KEY }),
  verifier: new TokenVerifier({ url: DWAR_URL, audience: DWAR_PROJECT_ID, mode: DWAR_MODE }),
  secret: DWAR_SECRET,
  origins: [ORIGIN],
  onError: ({ code, requestId }) => console.error("login:", code, requestId),
});

const app = express();
app.use("/login", login.router);
app.all("/me", async (request, response) => {
  // With the response, so that its cookies renew a session whose access token has expired.
  const claims = await login.authenticate(request, response);
  if (!claims) return response.sendStatus(401);
  response.json({ identity_id: claims.sub });
});
app.all("/claims", async (request, response) => {
  const claims = await login.authenticate(request);
  if (claims) return response.json({ identity_id: claims.sub });
  // fetchWithLogin of the page renews and repeats the request.
  response.set("WWW-Authenticate", login.canRenew(request) ? 'Bearer error="invalid_token"' : "Bearer").sendStatus(401);
});
app.listen(PORT, "127.0.0.1");
