export { Dwar, type DwarOptions, type Repetition } from "./client.js";
export { DwarError, type ErrorCode, type ServiceCode } from "./error.js";
export { verifyEvent, type DwarEvent, type EventOptions, type SignedRequest } from "./events.js";
export { type Algorithm } from "./keys.js";
export { Session, type SessionOptions, type StoredTokens } from "./session.js";
export { TokenVerifier, type AccessClaims, type TokenType, type VerifierOptions } from "./verifier.js";
export type * from "./types.js";
