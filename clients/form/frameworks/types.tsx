// What the types of the package say: compiled, never run. `tsc` fails if a line under @ts-expect-error has no error.
import "dwar-login";
import type { DwarLogin, DwarLoginEvent } from "dwar-login";

const form: DwarLogin = document.querySelector("dwar-login")!;
form.endpoint = "/auth";
form.next = null;
form.addEventListener("dwar-login", (event) => {
  const identity: string = event.detail.identity_id;
  // @ts-expect-error: tokens are in cookies that no script sees
  event.detail.access_token;
  return identity;
});
document.addEventListener("dwar-login", ({ detail }) => detail.identity_id.length);
const made = document.createElement("dwar-login");
// @ts-expect-error: a path is a text
made.next = 7;

export const page = (welcome: (event: DwarLoginEvent) => void) => (
  <dwar-login endpoint="/login" next="/account" lang="hi" light-dom="" ondwar-login={welcome}>
    <p>Scripts are needed to log in.</p>
  </dwar-login>
);
// @ts-expect-error: there is no such attribute
export const other = <dwar-login endPoint="/login" />;
