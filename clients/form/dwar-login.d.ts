/** Logs a person in by phone and one-time password. */
export declare class DwarLogin extends HTMLElement {
  /** The path at which the backend mounts the login contract, `/login` if absent. */
  endpoint: string | null | undefined;
  /** The path of this origin to go to after the login. */
  next: string | null | undefined;
  /** The proof that the next send has, once, such as the answer to a captcha. Empty if there is none. */
  proof: string;
}

/** The backend asks for a proof: show what the person has to do, and set `proof`. It bubbles, also out of shadow roots. */
export interface DwarLoginProofEvent extends CustomEvent<null> {
  readonly type: "dwar-login-proof";
}

/**
 * The event `dwar-login`, which bubbles, also out of shadow roots. If it is cancelled, the page does not go to `next`.
 */
export interface DwarLoginEvent extends CustomEvent<{ identity_id: string }> {
  readonly type: "dwar-login";
}

/** The attributes of `<dwar-login>` in JSX. */
export interface DwarLoginAttributes {
  endpoint?: string | undefined;
  next?: string | undefined;
  lang?: string | undefined;
  /** The form replaces the children, for pages without a framework. */
  "light-dom"?: boolean | "" | undefined;
  "ondwar-login"?: ((event: DwarLoginEvent) => void) | undefined;
  "ondwar-login-proof"?: ((event: DwarLoginProofEvent) => void) | undefined;
  proof?: string | undefined;
  id?: string | undefined;
  class?: string | undefined;
  className?: string | undefined;
  hidden?: boolean | undefined;
  slot?: string | undefined;
  key?: string | number | null | undefined;
  ref?: any;
  children?: any;
}

declare global {
  interface HTMLElementTagNameMap {
    "dwar-login": DwarLogin;
  }
  interface GlobalEventHandlersEventMap {
    "dwar-login": DwarLoginEvent;
    "dwar-login-proof": DwarLoginProofEvent;
  }
  namespace JSX {
    interface IntrinsicElements {
      "dwar-login": DwarLoginAttributes;
    }
  }
}

// A project has one of these, or none.
// @ts-ignore
declare module "react" {
  namespace JSX {
    interface IntrinsicElements {
      "dwar-login": DwarLoginAttributes;
    }
  }
}

// @ts-ignore
declare module "preact" {
  namespace JSX {
    interface IntrinsicElements {
      "dwar-login": DwarLoginAttributes;
    }
  }
}
