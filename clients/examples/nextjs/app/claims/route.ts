import { headers } from "next/headers";
import { getLogin } from "../login";

// Like a server component, this cannot set cookies and so must not renew: fetchWithLogin of the page renews and repeats
// the request.
async function handle({ method }: Request) {
  const request = { method, headers: await headers() };
  const claims = await getLogin().authenticate(request);
  if (claims) return Response.json({ identity_id: claims.sub });
  const challenge = getLogin().canRenew(request) ? 'Bearer error="invalid_token"' : "Bearer";
  return new Response(null, { status: 401, headers: { "WWW-Authenticate": challenge } });
}

export { handle as GET, handle as POST };
