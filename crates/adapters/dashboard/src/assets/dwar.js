// What every page can do better with a script; each works without, unless it says so.

// Links that carry their secret in the fragment: it goes into the form, and out of the history.
for (const form of document.querySelectorAll("form[data-secret]")) {
  const secret = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
  form.elements.namedItem(form.dataset.secret).value = secret;
  if (form.id === "start" && secret) form.requestSubmit();
}

// Copy buttons: what to copy stands in the element that data-copy names.
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.classList.add("done");
    const label = button.textContent;
    button.textContent = button.dataset.done;
    setTimeout(() => { button.textContent = label; button.classList.remove("done"); }, 1500);
  });
}

// Typed confirmations: the button wakes up when the word is right. The server asks for it too.
for (const input of document.querySelectorAll("input[data-confirm]")) {
  const button = input.form.querySelector("button[type=submit]");
  const check = () => { button.disabled = input.value.trim() !== input.dataset.confirm; };
  input.addEventListener("input", check);
  check();
}

// The preview of a text while it is typed: the server writes it, as it will write the message.
for (const part of document.querySelectorAll("form [data-preview]")) {
  const form = part.closest("form"), target = document.getElementById(part.dataset.target);
  let waiting = 0, asked = 0;
  const show = async () => {
    const turn = ++asked;
    const answer = await fetch(part.dataset.preview, { method: "POST", body: new URLSearchParams(new FormData(form)) });
    const text = answer.ok ? await answer.text() : null;
    if (text !== null && turn === asked) target.innerHTML = text;
  };
  form.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(show, 250); });
}

// A form that was changed asks before it is left; one that was refused still waits to be saved.
const filled = (form) => new URLSearchParams(new FormData(form)).toString();
const kept = new Map();
let sent = null;
for (const form of document.querySelectorAll("form[data-keep]")) {
  kept.set(form, form.querySelector("[aria-invalid]") ? null : filled(form));
  form.addEventListener("submit", () => { sent = form; });
}
addEventListener("beforeunload", (event) => {
  if ([...kept].some(([form, saved]) => form !== sent && filled(form) !== saved)) event.preventDefault();
});
