// Has Logto's connector for HTTP SMS deliver a code, as Logto does when a user signs in.
//
// usage: AUTHORIZATION=… node logto.mjs ENDPOINT PHONE CODE
import createConnector from "@logto/connector-http-sms";

const [endpoint, to, code] = process.argv.slice(2);
const { sendMessage } = await createConnector({
  getConfig: async () => ({ endpoint, authorization: process.env.AUTHORIZATION }),
});
await sendMessage({ to, type: "SignIn", payload: { code } });
