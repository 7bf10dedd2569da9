// better-auth makes and checks the codes, Dwar delivers them: POST /v1/otp/relay. Needs
// `dwar project set --relay-live on`, and with a test key `--relay-test on`.
import { phoneNumber } from "better-auth/plugins";

/** Five minutes, as better-auth has it by default; the message names them. */
const EXPIRES_IN = 300;

export const byDelivery = (dwar, more = {}) =>
  phoneNumber({
    expiresIn: EXPIRES_IN,
    sendOTP: async ({ phoneNumber: phone, code }) => {
      await dwar.relay({ phone, code, expiresIn: EXPIRES_IN });
    },
    ...more,
  });
