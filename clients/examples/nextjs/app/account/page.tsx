import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { getLogin } from "../login";

/** A server component that requires a login. proxy.ts has renewed the session, so this only reads the claims. */
export default async function Account() {
  const request = { method: "GET", headers: await headers() };
  const claims = await getLogin().authenticate(request);
  if (!claims) redirect("/");
  return <p>Logged in as {claims.sub}</p>;
}
