const form = document.querySelector("dwar-login");
$altcha.algorithms.set("PBKDF2/SHA-256", () => new Worker("/altcha-worker.js", { type: "module" }));

// A new widget, and so a new challenge, each time that the form is asked for a proof.
form.addEventListener("dwar-login-proof", () => {
  const widget = document.createElement("altcha-widget");
  widget.setAttribute("challenge", "/altcha");
  widget.addEventListener("statechange", ({ detail }) => {
    if (detail.state === "verified") form.proof = detail.payload;
  });
  form.querySelector("[slot=proof]").replaceChildren(widget);
});
