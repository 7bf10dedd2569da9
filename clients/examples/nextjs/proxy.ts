import { NextResponse, type NextRequest } from "next/server";
import { getLogin } from "./app/login";

/** Renews the session before a server component is rendered, which cannot set cookies itself. */
export async function proxy(request: NextRequest) {
  const answer = new Headers();
  await getLogin().authenticate(request, answer);
  const renewed = answer.getSetCookie();
  if (renewed.length === 0) return NextResponse.next();
  // The component must see the new cookies too: the first cookie of a name counts.
  const headers = new Headers(request.headers);
  const pairs = renewed.map((cookie) => cookie.split(";", 1)[0]);
  headers.set("Cookie", [...pairs, request.headers.get("Cookie")].join("; "));
  const response = NextResponse.next({ request: { headers } });
  for (const [name, value] of answer) response.headers.append(name, value);
  return response;
}

export const config = { matcher: "/account/:path*" };
