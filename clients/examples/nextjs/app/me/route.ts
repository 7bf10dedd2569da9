import { getLogin } from "../login";

async function handle(request: Request) {
  // A route handler can set cookies: those of a session that is renewed are in these headers.
  const headers = new Headers();
  const claims = await getLogin().authenticate(request, headers);
  return claims ? Response.json({ identity_id: claims.sub }, { headers }) : new Response(null, { status: 401, headers });
}

export { handle as GET, handle as POST };
