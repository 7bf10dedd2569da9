// Improvements for every page. Pages also work without this script, unless they say otherwise.

// Links with a secret in the fragment: moves it into the form, and removes it from the history.
for (const form of document.querySelectorAll("form[data-secret]")) {
  const secret = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
  form.elements.namedItem(form.dataset.secret).value = secret;
  if (form.id === "start" && secret) form.requestSubmit();
}

// A page that shows the result of a form, or answers a form without a redirect: replaces its address in the history, so
// that a reload neither shows the result nor sends the form again.
const answered = document.querySelector("[data-address]");
if (answered) history.replaceState(null, "", answered.dataset.address + location.hash);

// A link to a section of the settings that has moved to another page: follows the link to that page, which names the
// section.
const moved = location.hash && document.querySelector(`.jump a:has(> #${CSS.escape(location.hash.slice(1))})`);
if (moved) location.replace(moved.href + location.hash);

// Adds a copy button to each example. data-copies of the surrounding part has its label.
for (const pre of document.querySelectorAll("[data-copies] pre")) {
  const { copies, done } = pre.closest("[data-copies]").dataset;
  const button = Object.assign(document.createElement("button"), { type: "button", className: "copy", textContent: copies });
  button.dataset.done = done;
  const box = document.createElement("div");
  box.className = "copied";
  pre.replaceWith(box);
  box.append(pre, button);
}

// Copy buttons: the text to copy is beside the button, or in the element that data-copy names.
for (const button of document.querySelectorAll("button[data-copy], .copied > button")) {
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copy) ?? button.previousElementSibling;
    await navigator.clipboard.writeText(source.textContent);
    button.classList.add("done");
    const label = button.textContent;
    button.textContent = button.dataset.done;
    setTimeout(() => { button.textContent = label; button.classList.remove("done"); }, 1500);
  });
}

// Typed confirmations: enables the button when the word is right. The server checks the word too.
for (const input of document.querySelectorAll("input[data-confirm]")) {
  const button = input.form.querySelector("button[type=submit]");
  const check = () => { button.disabled = input.value.trim() !== input.dataset.confirm; };
  input.addEventListener("input", check);
  check();
}

// Previews a text while it is typed: the server renders it exactly as it will render the message.
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

// Asks before leaving a form with unsaved changes, also after a refusal.
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

// A double click does not send a form twice.
let last = { form: null, at: 0 };
addEventListener("submit", (event) => {
  const { target: form, timeStamp: at, defaultPrevented } = event;
  if (defaultPrevented || form.method !== "post") return;
  if (form === last.form && at - last.at < 3_000) event.preventDefault();
  else last = { form, at };
});

// Shows the values of a bar, under the pointer or by the arrow keys.
for (const box of document.querySelectorAll("[data-chart]")) {
  const value = box.querySelector(".chart-value");
  const bars = () => [...box.querySelectorAll(".hit")].filter((bar) => bar.getBoundingClientRect().width > 0);
  for (const bar of box.querySelectorAll(".hit")) {
    const title = bar.querySelector("title");
    bar.dataset.value = title.textContent;
    bar.querySelector("a")?.setAttribute("aria-label", title.textContent);
    title.remove();
    bar.addEventListener("pointerenter", () => show(bar));
  }
  const show = (bar) => {
    box.querySelector(".on")?.classList.remove("on");
    bar?.classList.add("on");
    value.hidden = !bar;
    if (!bar) return;
    value.textContent = bar.dataset.value;
    const [frame, at] = [box.getBoundingClientRect(), bar.getBoundingClientRect()];
    const middle = at.left + at.width / 2 - frame.left - value.offsetWidth / 2;
    value.style.left = `${Math.max(0, Math.min(middle, frame.width - value.offsetWidth))}px`;
  };
  box.tabIndex = 0;
  box.addEventListener("pointerleave", () => show(null));
  box.addEventListener("blur", () => show(null));
  box.addEventListener("keydown", (event) => {
    const { key } = event;
    const all = bars();
    const at = all.findIndex((bar) => bar.classList.contains("on"));
    const moves = { ArrowLeft: at < 0 ? all.length - 1 : at - 1, ArrowRight: at + 1, Home: 0, End: all.length - 1 };
    if (key === "Escape") show(null);
    else if (key === "Enter" && all[at]?.querySelector("a")) location.assign(all[at].querySelector("a").href.baseVal);
    else if (key in moves) show(all[Math.max(0, Math.min(moves[key], all.length - 1))]);
    else return;
    event.preventDefault();
  });
}

// The pages opened last in this browser, kept until the operator signs out: the search begins with
// them. A title names no phone number.
const RECENT = "dwar-recent";
const recent = () => { try { return JSON.parse(localStorage.getItem(RECENT)) ?? []; } catch { return []; } };
if (document.getElementById("palette")) {
  const page = { href: location.pathname, label: document.title.replace(/ · Dwar$/, "") };
  const others = recent().filter(({ href }) => href !== page.href);
  localStorage.setItem(RECENT, JSON.stringify([page, ...others].slice(0, 6)));
} else localStorage.removeItem(RECENT);

// "?" lists the keys, unless a text field has the focus.
const shortcuts = document.getElementById("shortcuts");
addEventListener("keydown", (event) => {
  const [target] = event.composedPath();
  if (event.key !== "?" || !shortcuts || document.querySelector("dialog[open]")) return;
  if (target.closest?.("input, textarea, select")) return;
  event.preventDefault();
  shortcuts.showModal();
});
shortcuts?.addEventListener("click", ({ target }) => { if (target === shortcuts) shortcuts.close(); });

// The search that Ctrl-K opens, instead of its page. The server finds the results, and searches for a number only when
// the form is sent.
const palette = document.getElementById("palette");
if (palette) {
  const form = palette.querySelector("form"), field = form.elements.namedItem("q");
  const found = document.getElementById("palette-found");
  const links = () => [...found.querySelectorAll("a")];
  const recentLinks = () => {
    const list = document.createElement("ul");
    for (const { href, label } of recent().filter((it) => it.href !== location.pathname)) {
      const [row, link, kind] = ["li", "a", "small"].map((name) => document.createElement(name));
      link.href = href;
      kind.textContent = palette.dataset.recent;
      link.append(`${label} `, kind);
      row.append(link);
      list.append(row);
    }
    return list.children.length ? [list] : [];
  };
  let waiting = 0, asked = 0, known = null;
  const search = async () => {
    clearTimeout(waiting);
    const turn = ++asked, text = field.value, body = new URLSearchParams(new FormData(form));
    body.set("part", "1");
    const answer = await fetch(form.action, { method: "POST", body });
    const list = answer.ok ? await answer.text() : "";
    if (turn !== asked) return;
    found.innerHTML = list;
    if (!text) found.prepend(...recentLinks());
    known = text;
  };
  const open = () => {
    if (palette.open) return;
    shortcuts.close();
    palette.showModal();
    field.select();
    search();
  };
  addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    event.preventDefault();
    open();
  });
  document.querySelector("[data-palette]").addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open();
  });
  field.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(search, 120); });
  palette.addEventListener("click", ({ target }) => { if (target === palette) palette.close(); });
  palette.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const all = [field, ...links()];
    all[(all.indexOf(document.activeElement) + step + all.length) % all.length].focus();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (known !== field.value) await search();
    const first = links()[0];
    if (first) first.click();
    else form.submit();
  });
}
