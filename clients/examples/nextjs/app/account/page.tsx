import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { getLogin } from "../login";

/** A server component for those who are logged in. proxy.ts has renewed the session, so this asks for claims alone. */
export default async function Account() {
  const request = { method: "GET", headers: await headers() };
  const claims = await getLogin().authenticate(request);
  if (!claims) redirect("/");
  return <p>Logged in as {claims.sub}</p>;
}
