import { getLogin } from "../login";

async function handle(request: Request) {
  const claims = await getLogin().authenticate(request);
  return claims ? Response.json({ identity_id: claims.sub }) : new Response(null, { status: 401 });
}

export { handle as GET, handle as POST };
