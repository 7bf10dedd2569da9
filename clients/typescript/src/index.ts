export { Dwar, type DwarOptions, type WriteOptions } from "./client.js";
export { DwarError, type ErrorCode, type ServiceCode } from "./error.js";
export { verifyEvent, type EventOptions, type SignedRequest } from "./events.js";
export { type Algorithm } from "./keys.js";
export { Session, type SessionOptions } from "./session.js";
export { type CallOptions } from "./transport.js";
export { TokenVerifier, type AccessClaims, type TokenType, type VerifierOptions } from "./verifier.js";
export type * from "./event-types.js";
export type * from "./types.js";
