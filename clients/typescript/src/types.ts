// The bodies of the API under their names in docs/openapi.json. Times are RFC 3339 in UTC, ids UUIDs, lifetimes
// seconds. An enumeration may gain values in a later version of the service.

/** What a call gives: the body of the answer, and what identifies the request in the service's log. */
export type Answer<Body> = Body & { readonly requestId?: string | undefined };

export type SendStatus = "queued" | "sent" | "failed" | "delivered";
export type Channel = "whatsapp" | "sms";

export interface SendBody {
  /** Ten digits, the first 6 to 9, with or without `+91`. */
  phone: string;
  /** The last line of an SMS, a domain or an app hash that the project allows; by default the project's own. */
  last_line?: string | null;
}

export interface VerifyBody {
  phone: string;
  /** Six digits. */
  code: string;
  /** From the answer of `send`: checks the code against that request alone. */
  otp_id?: string | null;
}

export interface AccessBody {
  access_token: string;
}

export interface RefreshBody {
  refresh_token: string;
}

export interface RelayBody {
  phone: string;
  /** 4 to 10 digits. */
  code: string;
  /** Seconds, 60 to 3600. */
  expires_in: number;
}

export interface SentCode {
  otp_id: string;
  status: SendStatus;
  channel: Channel | "sandbox" | null;
  expires_at: string;
  expires_in: number;
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
  otp_id: string;
  status: SendStatus;
  channel: Channel | "sandbox" | null;
  created_at: string;
  expires_at: string;
  attempts: DeliveryTry[];
}

export interface CheckedCode {
  verified: true;
}

export interface Tokens {
  access_token: string;
  refresh_token: string;
  token_type: "Bearer";
  expires_in: number;
  refresh_expires_in: number;
  session_id: string;
  identity_id: string;
}

export interface LiveSession {
  valid: true;
  session_id: string;
  identity_id: string;
  issued_at: string;
  expires_at: string;
  expires_in: number;
}

export interface EndedSession {
  revoked: true;
}

export interface Identity {
  id: string;
  phone: string;
  created_at: string;
  last_verified_at: string;
}

export interface DeletedIdentity {
  id: string;
  deleted: true;
  sessions_revoked: number;
}

export interface SandboxText {
  otp_id: string;
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
