// The bodies of the API in docs/openapi.json, with names as TypeScript writes them. Times are RFC 3339 in UTC, ids
// UUIDs, lifetimes seconds. A later version of the service may add values to an enumeration.

/** The result of a call: the body of the answer, and the id of the request in the service's log. */
export type Answer<Body> = Body & { readonly requestId?: string | undefined };

export type SendStatus = "queued" | "sent" | "failed" | "delivered";
export type Channel = "whatsapp" | "sms";

export interface SendBody {
  /** Ten digits, the first 6 to 9, with or without `+91`. */
  phone: string;
  /** The last line of an SMS, a domain or an app hash that the project allows; by default the project's own. */
  lastLine?: string | null;
  visitor?: Visitor | null;
  /** From an earlier answer of `verify` to the same browser or app. */
  device?: string | null;
}

/** The person in front of the page or the app, as your backend sees them. */
export interface Visitor {
  /** IP address, without a port. */
  address?: string | null;
  /**
   * Whether your backend has a proof that this is a person, such as a captcha that it checked itself. Never take this from
   * what the visitor sends.
   */
  trusted?: boolean | null;
}

export interface VerifyBody {
  phone: string;
  /** Six digits. */
  code: string;
  /** From the answer of `send`: only the code of that request is accepted. */
  otpId?: string | null;
  /** From an earlier answer to the same browser or app. */
  device?: string | null;
}

export interface AccessBody {
  accessToken: string;
}

export interface RefreshBody {
  refreshToken: string;
}

export interface RelayBody {
  phone: string;
  /** 4 to 10 digits. */
  code: string;
  /** Seconds, 60 to 3600. */
  expiresIn: number;
}

export interface SentCode {
  otpId: string;
  status: SendStatus;
  channel: Channel | "sandbox" | null;
  expiresAt: string;
  expiresIn: number;
}

export interface DeliveryTry {
  channel: Channel;
  provider: string;
  status: SendStatus;
  reason:
    | "not_on_channel"
    | "rejected_number"
    | "blocked"
    | "template_rejected"
    | "provider_auth"
    | "provider_throttled"
    | "provider_refused"
    | "provider_unavailable"
    | "timeout"
    | "unknown"
    | null;
  at: string;
}

export interface CodeStatus {
  otpId: string;
  status: SendStatus;
  channel: Channel | "sandbox" | null;
  createdAt: string;
  expiresAt: string;
  attempts: DeliveryTry[];
}

export interface CheckedCode {
  verified: true;
}

export interface Tokens {
  accessToken: string;
  refreshToken: string;
  tokenType: "Bearer";
  expiresIn: number;
  refreshExpiresIn: number;
  sessionId: string;
  identityId: string;
  /** Of `verify`, if the guard of the project is on: keep it where this browser or app logged in, for its next `send`. */
  device?: string;
}

export interface LiveSession {
  valid: true;
  sessionId: string;
  identityId: string;
  issuedAt: string;
  expiresAt: string;
  expiresIn: number;
}

export interface EndedSession {
  revoked: true;
}

export interface Identity {
  id: string;
  phone: string;
  createdAt: string;
  lastVerifiedAt: string;
}

export interface DeletedIdentity {
  id: string;
  deleted: true;
  sessionsRevoked: number;
}

export interface SandboxText {
  otpId: string;
  phone: string;
  channel: Channel;
  text: string;
  code: string;
  at: string;
}

export interface SandboxMessages {
  messages: SandboxText[];
}

/** A public key as a JSON Web Key (RFC 7517). */
export interface PublicKey {
  kty: "EC" | "OKP" | "RSA";
  use: "sig";
  alg: string;
  kid: string;
  crv?: string | null;
  x?: string | null;
  y?: string | null;
  n?: string | null;
  e?: string | null;
}

export interface PublicKeys {
  keys: PublicKey[];
}
