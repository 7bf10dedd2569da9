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

const create = (asked) => navigator.credentials.create({ publicKey: {
  challenge: bytes(asked.challenge),
  rp: { id: asked.rpId, name: "Dwar" },
  user: { id: bytes(asked.user), name: asked.name, displayName: asked.name },
  pubKeyCredParams: asked.algorithms.map((alg) => ({ type: "public-key", alg })),
  excludeCredentials: asked.known.map((id) => ({ type: "public-key", id: bytes(id) })),
  authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
  attestation: "none",
  timeout: 120000,
} });

// The server reads the key, because not every browser has getPublicKey().
const made = ({ response, rawId }) => ({
  credential: text(rawId),
  client_data: text(response.clientDataJSON),
  attestation: text(response.attestationObject),
});

const get = (asked) => navigator.credentials.get({ publicKey: {
  challenge: bytes(asked.challenge), rpId: asked.rpId, userVerification: "required", timeout: 120000,
} });

const signed = ({ response, rawId }) => ({
  credential: text(rawId),
  client_data: text(response.clientDataJSON),
  authenticator_data: text(response.authenticatorData),
  signature: text(response.signature),
});

for (const form of document.querySelectorAll("form[data-passkey]")) {
  if (!window.PublicKeyCredential) continue;
  form.hidden = false;
  const failed = form.querySelector("[data-failed]");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    failed.hidden = true;
    const [use, read] = form.dataset.passkey === "create" ? [create, made] : [get, signed];
    // The step under way, as the key of the message for its failure.
    let step = "asking";
    try {
      const asked = await ask(form);
      step = "failed";
      const credential = await use(asked);
      step = "reading";
      for (const [name, value] of Object.entries({ challenge: asked.challenge, ...read(credential) })) {
        form.elements.namedItem(name).value = value;
      }
      form.submit();
    } catch (cause) {
      // WebAuthn, section 5.1.3: this device has one of the registered passkeys.
      if (step === "failed" && cause.name === "InvalidStateError" && failed.dataset.known) step = "known";
      failed.textContent = `${failed.dataset[step]} (${cause.name}: ${cause.message})`;
      failed.hidden = false;
    }
  });
}
