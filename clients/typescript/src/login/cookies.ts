import type { Tokens } from "../types.js";

const OTP = "__Host-dwar_otp";
export const ACCESS = "__Host-dwar_access";
export const REFRESH = "__Host-dwar_refresh";
const DEVICE = "__Host-dwar_device";
const DEVICE_SECONDS = 180 * 86_400;

export interface Credentials {
  otpId: string;
  accessToken: string;
  refreshToken: string;
  /** Nothing if there is none, or a text that cannot be one. */
  device: string | undefined;
}

/** Whether this can be a device: a text of bounded size that a cookie holds as it is. */
export function deviceOf(value: string | null | undefined): string | undefined {
  return value && /^[\w.~+/=-]{1,512}$/.test(value) ? value : undefined;
}

export function fromCookies(header: string | null): Credentials {
  const pairs = (header ?? "").split(";").map((pair) => pair.trim());
  const value = (name: string) => pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? "";
  return {
    otpId: value(OTP),
    accessToken: value(ACCESS),
    refreshToken: value(REFRESH),
    device: deviceOf(value(DEVICE)),
  };
}

/**
 * The token cookies are Lax, so that a person who follows a link into the site is logged in. Only the form needs the
 * others.
 */
function cookie(name: string, value: string, seconds: number): string {
  return `${name}=${value}; Max-Age=${seconds}; Path=/; HttpOnly; Secure; SameSite=${name === OTP || name === DEVICE ? "Strict" : "Lax"}`;
}

export const codeCookie = (otpId: string, seconds: number) => [cookie(OTP, otpId, seconds)];
export const noCodeCookie = () => [cookie(OTP, "", 0)];
/** It stays after the logout: the next login is that of a known device. */
export const deviceCookie = ({ device }: Tokens) =>
  deviceOf(device) === undefined ? [] : [cookie(DEVICE, device!, DEVICE_SECONDS)];
export const noTokenCookies = () => [cookie(ACCESS, "", 0), cookie(REFRESH, "", 0)];
export const tokenCookies = (tokens: Tokens) => [
  cookie(ACCESS, tokens.accessToken, tokens.expiresIn),
  cookie(REFRESH, tokens.refreshToken, tokens.refreshExpiresIn),
];
