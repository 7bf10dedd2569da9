// By require and by import in one program.
const assert = require("node:assert/strict");
const required = require("dwar-client");
const { startDwar } = require("dwar-client/testing");

async function main() {
  const imported = await import("dwar-client");
  const dwar = await startDwar();
  try {
    const { DWAR_URL: url, DWAR_API_KEY: apiKey, DWAR_PROJECT_ID: audience } = dwar.environment;
    const { accessToken, identityId } = await dwar.logIn("9876543210");
    for (const [{ Dwar, TokenVerifier }, { DwarError }] of [[required, imported], [imported, required]]) {
      assert.equal((await new Dwar({ url, apiKey }).validate(accessToken)).identityId, identityId);
      const verifier = new TokenVerifier({ url, audience, mode: "test" });
      assert.equal((await verifier.verify(accessToken)).sub, identityId);
      await assert.rejects(verifier.verify("a.b.c"), (error) => error instanceof DwarError);
    }
  } finally {
    await dwar.stop();
  }
  console.log(`Node ${process.version}: import and require`);
}

void main();
