// The events of docs/events.md, with names as TypeScript writes them.
import type { Channel } from "./types.js";

/** Members of every event. */
export interface EventData {
  projectId: string;
  mode: "live" | "test";
}

export interface OtpEventData extends EventData {
  otpId: string;
  /** The channel that carried the code, or was tried last. */
  channel: Channel | null;
  /** Masked, unless the endpoint gets full numbers; nothing after the person was erased. */
  phone: string | null;
}

export interface SessionEventData extends EventData {
  sessionId: string;
  identityId: string;
}

export interface IdentityEventData extends EventData {
  identityId: string;
  sessionsRevoked: number;
}

export interface WalletEventData extends EventData {
  balancePaise: number;
  thresholdPaise: number;
}

export interface SpendEventData extends EventData {
  /** The part of the limit that is reached: 50, 80 or 100. */
  percent: number;
  spentPaise: number;
  limitPaise: number;
}

export interface GuardEventData extends EventData {
  /** What the level is of. */
  subject: "address" | "series" | "project";
  /** The mode of the guard. */
  guard: "watch" | "enforce";
}

export interface EndpointEventData extends EventData {
  webhookId: string;
  failures: number;
  /** RFC 3339 in UTC. */
  failingSince: string;
}

export interface ProviderEventData extends EventData {
  provider: string;
  failed: number;
  receipts: number;
}

export interface AlertEventData extends EventData {
  /** Kind of the alert, such as `wallet_empty`. */
  alert: string;
  severity: "page" | "ticket";
  /** Only for alerts about an endpoint. */
  webhookId: string | null;
  /** RFC 3339 in UTC. */
  since: string;
}

export interface WebhookTestData extends EventData {
  webhookId: string;
}

export interface EventOf<Type extends string, Data extends EventData> {
  /** The header `webhook-id`, the same for every delivery of the event. */
  id: string;
  type: Type;
  /** When it happened, RFC 3339 in UTC. */
  timestamp: string;
  data: Data;
}

/** Types of events about a code; `relay.…` for a code that you made yourself. */
export type OtpEventType =
  | "otp.sent"
  | "otp.delivered"
  | "otp.failed"
  | "otp.verified"
  | "otp.under_attack"
  | "relay.sent"
  | "relay.delivered"
  | "relay.failed";

/**
 * An event; `type` decides which `data` it has. A later version of the service may add types and fields: ignore those
 * that you do not know, by a `default` for example.
 */
export type DwarEvent =
  | EventOf<OtpEventType, OtpEventData>
  | EventOf<"session.revoked", SessionEventData>
  | EventOf<"identity.deleted", IdentityEventData>
  | EventOf<"wallet.low", WalletEventData>
  | EventOf<"spend.reached", SpendEventData>
  | EventOf<"guard.emptied", GuardEventData>
  | EventOf<"endpoint.disabled", EndpointEventData>
  | EventOf<"provider.failing", ProviderEventData>
  | EventOf<"alert.opened" | "alert.resolved", AlertEventData>
  | EventOf<"webhook.test", WebhookTestData>;
