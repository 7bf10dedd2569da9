// Dwar makes, delivers and checks the codes, better-auth keeps the sessions: POST /v1/otp/send and /v1/otp/check.
import { phoneNumber } from "better-auth/plugins";

/** Refusals of a wrong code; any other error says nothing about the code. */
const NOT_RIGHT = ["INVALID_OTP", "INVALID_OTP_CODE", "OTP_NOT_FOUND", "VERIFY_RATE_LIMITED"];

export const byVerification = (dwar, more = {}) =>
  phoneNumber({
    sendOTP: async ({ phoneNumber: phone }) => {
      await dwar.send({ phone });
    },
    verifyOTP: async ({ phoneNumber: phone, code }) => {
      try {
        return (await dwar.check({ phone, code })).verified;
      } catch (error) {
        if (NOT_RIGHT.includes(error.code)) return false;
        throw error;
      }
    },
    ...more,
  });
