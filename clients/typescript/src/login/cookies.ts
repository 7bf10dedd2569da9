import type { Tokens } from "../types.js";

const OTP = "__Host-dwar_otp";
export const ACCESS = "__Host-dwar_access";
export const REFRESH = "__Host-dwar_refresh";

export interface Credentials {
  otpId: string;
  accessToken: string;
  refreshToken: string;
}

export function fromCookies(header: string | null): Credentials {
  const pairs = (header ?? "").split(";").map((pair) => pair.trim());
  const value = (name: string) => pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? "";
  return { otpId: value(OTP), accessToken: value(ACCESS), refreshToken: value(REFRESH) };
}

/**
 * The token cookies are Lax, so that a person who follows a link into the site is logged in. Only the form needs the
 * cookie of the code.
 */
function cookie(name: string, value: string, seconds: number): string {
  return `${name}=${value}; Max-Age=${seconds}; Path=/; HttpOnly; Secure; SameSite=${name === OTP ? "Strict" : "Lax"}`;
}

export const codeCookie = (otpId: string, seconds: number) => [cookie(OTP, otpId, seconds)];
export const noCodeCookie = () => [cookie(OTP, "", 0)];
export const noTokenCookies = () => [cookie(ACCESS, "", 0), cookie(REFRESH, "", 0)];
export const tokenCookies = (tokens: Tokens) => [
  cookie(ACCESS, tokens.accessToken, tokens.expiresIn),
  cookie(REFRESH, tokens.refreshToken, tokens.refreshExpiresIn),
];
