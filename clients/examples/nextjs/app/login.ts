import { Dwar, TokenVerifier } from "dwar-client";
import { createLogin, type Login } from "dwar-client/login";

let login: Login | undefined;

/** Made at the first request, since `next build` loads this file too, without the secrets. */
export const getLogin = () => (login ??= make(process.env as Record<string, string>));

const make = ({ DWAR_URL, DWAR_API_KEY, DWAR_PROJECT_ID, DWAR_MODE, DWAR_SECRET, ORIGIN }: Record<string, string>) =>
  createLogin({
    dwar: new Dwar({ url: DWAR_URL, apiKey: DWAR_API_KEY }),
    verifier: new TokenVerifier({ url: DWAR_URL, audience: DWAR_PROJECT_ID, mode: DWAR_MODE as "live" | "test" }),
    secret: DWAR_SECRET,
    origins: [ORIGIN],
    // Next.js does not check this header, so there must be a proxy that sets it: the last address is the one from the
    // proxy.
    clientAddress: ({ headers }) => headers.get("X-Forwarded-For")?.split(",").at(-1),
    onError: ({ code, requestId }) => console.error("login:", code, requestId),
  });
