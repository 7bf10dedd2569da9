// Asks the browser for a passkey, and sends its answer as a form.

const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

const ask = async (form) => {
  const csrf = document.querySelector("meta[name=csrf-token]")?.content;
  const headers = csrf ? { "x-csrf-token": csrf } : {};
  const answer = await fetch(form.dataset.ask, { method: "POST", headers, body: new URLSearchParams() });
  if (!answer.ok) throw new Error(answer.status);
  return answer.json();
};

const create = async (asked) => {
  const { response, rawId } = await navigator.credentials.create({ publicKey: {
    challenge: bytes(asked.challenge),
    rp: { id: asked.rpId, name: "Dwar" },
    user: { id: bytes(asked.user), name: asked.name, displayName: asked.name },
    pubKeyCredParams: asked.algorithms.map((alg) => ({ type: "public-key", alg })),
    excludeCredentials: asked.known.map((id) => ({ type: "public-key", id: bytes(id) })),
    authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
    attestation: "none",
    timeout: 120000,
  } });
  return {
    credential: text(rawId),
    client_data: text(response.clientDataJSON),
    authenticator_data: text(response.getAuthenticatorData()),
    spki: text(response.getPublicKey()),
    algorithm: response.getPublicKeyAlgorithm(),
  };
};

const get = async (asked) => {
  const { response, rawId } = await navigator.credentials.get({ publicKey: {
    challenge: bytes(asked.challenge), rpId: asked.rpId, userVerification: "required", timeout: 120000,
  } });
  return {
    credential: text(rawId),
    client_data: text(response.clientDataJSON),
    authenticator_data: text(response.authenticatorData),
    signature: text(response.signature),
  };
};

for (const form of document.querySelectorAll("form[data-passkey]")) {
  if (!window.PublicKeyCredential) continue;
  form.hidden = false;
  const failed = form.querySelector("[data-failed]");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    failed.hidden = true;
    try {
      const asked = await ask(form);
      const answer = await (form.dataset.passkey === "create" ? create : get)(asked);
      for (const [name, value] of Object.entries({ challenge: asked.challenge, ...answer })) {
        form.elements.namedItem(name).value = value;
      }
      form.submit();
    } catch {
      failed.textContent = failed.dataset.failed;
      failed.hidden = false;
    }
  });
}
