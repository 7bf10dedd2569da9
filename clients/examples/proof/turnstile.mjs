// Cloudflare Turnstile: its widget gives the page a token, and Cloudflare says whether it is good, once.
const { TURNSTILE_SECRET, TURNSTILE_VERIFY = "https://challenges.cloudflare.com/turnstile/v0/siteverify" } = process.env;

export const policy = {
  "script-src": "'self' https://challenges.cloudflare.com",
  "frame-src": "https://challenges.cloudflare.com",
};

export async function prove(request, proof) {
  const body = new URLSearchParams({ secret: TURNSTILE_SECRET, response: proof });
  try {
    const answer = await fetch(TURNSTILE_VERIFY, { method: "POST", body, signal: AbortSignal.timeout(5000) });
    return (await answer.json()).success === true;
  } catch (error) {
    // Without an answer there is no proof, and Dwar decides without it.
    console.error("turnstile:", error.message);
    return false;
  }
}
