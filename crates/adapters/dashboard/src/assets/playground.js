// The playground: calls the API through the dashboard, and shows requests and responses.

const root = document.getElementById("playground");
const texts = JSON.parse(root.dataset.texts);
const csrf = document.querySelector('meta[name="csrf-token"]').content;
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
const one = (selector, within = root) => within.querySelector(selector);
const all = (selector, within = root) => [...within.querySelectorAll(selector)];
const node = (name, content, classes = "") => {
  const made = document.createElement(name);
  made.textContent = content;
  if (classes) made.className = classes;
  return made;
};

// Times are Indian time, as on every page.
const indian = (at, style) => new Intl.DateTimeFormat("en-IN", { timeZone: "Asia/Kolkata", ...style }).format(at);
const utc = (at) => `${at.toISOString().slice(0, 19).replace("T", " ")} UTC`;

const storyOfNumber = document.getElementById("story-of-number");
const phone = one("#phone"), code = one("#code"), ownKey = one("#own-key");
const state = { access: "", refresh: "", otp: "", send: 0, shown: new Set() };
const answers = {};
const steps = all(".step");

// ---- The request of each step ----
const bodies = {
  send: () => ({ phone: phone.value }),
  verify: () => ({ phone: phone.value, code: code.value }),
  validate: () => ({ access_token: state.access }),
  refresh: () => ({ refresh_token: state.refresh }),
  logout: () => ({ access_token: state.access }),
};

async function ask(method, target, body) {
  const form = new URLSearchParams({ method, target, body: body ? JSON.stringify(body) : "" });
  const response = await fetch(root.dataset.call, { method: "POST", body: form, headers: { "X-CSRF-Token": csrf } });
  if (response.status === 403) throw new Error(texts.stale);
  if (!response.ok) throw new Error(texts.failed);
  const answer = await response.json();
  try { answer.json = JSON.parse(answer.body); } catch { answer.json = null; }
  answer.header = (name) => (answer.headers.find(([given]) => given === name) || [])[1];
  return answer;
}

// ---- Examples ----
const key = () => ownKey.value.trim() || "$DWAR_TEST_KEY";
const own = () => ownKey.value.trim() !== "";
const examples = {
  request: (method, path, body) =>
    `${method} ${path} HTTP/1.1\nHost: ${new URL(root.dataset.api).host}\nX-Api-Key: ${key()}\nContent-Type: application/json\n\n${JSON.stringify(body, null, 2)}`,
  curl: (method, path, body) =>
    `curl -s ${root.dataset.api}${path} \\\n  -H "X-Api-Key: ${key()}" \\\n  -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(body)}'`,
  javascript: (method, path, body) =>
    `const answer = await fetch("${root.dataset.api}${path}", {\n  method: "${method}",\n  headers: {\n    "X-Api-Key": ${own() ? JSON.stringify(key()) : "process.env.DWAR_TEST_KEY"},\n    "Content-Type": "application/json",\n  },\n  body: JSON.stringify(${JSON.stringify(body)}),\n});\nconsole.log(answer.status, await answer.json());`,
  python: (method, path, body) =>
    `import ${own() ? "" : "os, "}requests\n\nanswer = requests.post(\n    "${root.dataset.api}${path}",\n    headers={"X-Api-Key": ${own() ? JSON.stringify(key()) : 'os.environ["DWAR_TEST_KEY"]'}},\n    json=${JSON.stringify(body)},\n    timeout=10,\n)\nprint(answer.status_code, answer.json())`,
  rust: (method, path, body) =>
    `let answer = reqwest::Client::new()\n    .post("${root.dataset.api}${path}")\n    .header("X-Api-Key", ${own() ? JSON.stringify(key()) : 'std::env::var("DWAR_TEST_KEY")?'})\n    .json(&serde_json::json!(${JSON.stringify(body)}))\n    .send()\n    .await?;\nprintln!("{} {}", answer.status(), answer.text().await?);`,
};

function answerText(answer) {
  const lines = answer.headers.map(([name, value]) => `${name}: ${value}`).sort();
  const body = answer.json ? JSON.stringify(answer.json, null, 2) : answer.body;
  return `HTTP/1.1 ${answer.status}\n\n${body}\n\n${texts.headers}\n${lines.join("\n")}`;
}

function paint(step) {
  const { step: name, method, path } = step.dataset;
  const tab = one('[role="tab"][aria-selected="true"]', step).dataset.tab;
  const panel = one(".panel", step);
  panel.setAttribute("aria-labelledby", `${name}-tab-${tab}`);
  const body = answers[name]?.asked ?? bodies[name]();
  one("code", panel).textContent = tab === "answer"
    ? (answers[name] ? answerText(answers[name]) : panel.dataset.empty)
    : examples[tab](method, path, body);
}
const paintAll = () => steps.forEach(paint);

function markTab(button, chosen) {
  button.setAttribute("aria-selected", chosen);
  button.tabIndex = chosen ? 0 : -1;
}
function choose(step, tab) {
  for (const button of all('[role="tab"]', step)) markTab(button, button.dataset.tab === tab);
  paint(step);
}

// ---- Folding ----
function unfold(step, open) {
  one(".step-body", step).hidden = !open;
  one(".fold", step).setAttribute("aria-expanded", open);
  // The code field belongs to a step that is not done yet, or is done again.
  const entry = one(".step-do", step);
  if (entry) entry.hidden = step.dataset.state === "good" && !open;
}

// Folds finished steps and opens the first unfinished one. A failed step stays open.
function settle() {
  const next = steps.find(({ dataset }) => dataset.state !== "good");
  for (const step of steps) {
    unfold(step, step === next || step.dataset.state === "bad");
    one(".run", step).className = `${step === next ? "primary" : "plain"} run`;
  }
  one(".next").hidden = answers.verify?.status !== 200;
  return next;
}

// Links each step to the story of its request; a send without a request, to the story of its number.
function linkStories() {
  for (const step of steps) {
    const asked = Boolean(answers[step.dataset.step]);
    const [link, button] = all(".story", step);
    link.hidden = !asked || !state.otp;
    link.href = root.dataset.stories + state.otp;
    button.hidden = !asked || Boolean(state.otp);
  }
  one('[name="phone"]', storyOfNumber).value = phone.value;
}

// Clears the results of the steps after the first: a new send starts over.
function startOver() {
  state.send += 1;
  Object.assign(state, { access: "", refresh: "", otp: "" });
  code.value = "";
  for (const step of steps) {
    delete answers[step.dataset.step];
    step.dataset.state = "";
    one(".status", step).textContent = "";
    for (const tab of all('[role="tab"]', step)) markTab(tab, tab.dataset.tab === "request");
  }
  one(".token-empty").hidden = false;
  one(".token-full").hidden = true;
  clearChat();
  settle();
  linkStories();
  paintAll();
}

// ---- Limits ----
const limits = {};
function noteLimit(name, answer) {
  const limit = Number(answer.header("ratelimit-limit"));
  if (!limit) return;
  const remaining = Number(answer.header("ratelimit-remaining"));
  limits[name] = { limit, remaining, until: Date.now() + 1000 * Number(answer.header("ratelimit-reset")) };
  paintLimits();
}
const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
function paintLimits() {
  for (const [name, known] of Object.entries(limits)) {
    const line = one(`[data-step="${name}"] .limit`);
    const seconds = Math.max(0, (known.until - Date.now()) / 1000);
    const remaining = seconds > 0 ? known.remaining : known.limit;
    const meter = one("meter", line);
    meter.max = known.limit;
    meter.value = remaining;
    const left = fill(texts.left, { left: remaining, limit: known.limit });
    meter.setAttribute("aria-label", left);
    const rest = seconds > 0 ? fill(texts.reset, { time: clock(seconds) }) : texts.full;
    one("span", line).textContent = `${left} · ${rest}`;
    meter.hidden = false;
  }
}

// ---- The phone ----
const chat = one(".chat"), autofill = one(".autofill"), handset = one(".phone");
const testMode = one(".phone-channel").textContent;
function clearChat() {
  state.shown.clear();
  all(".bubble, .bubble-note, .chat-day", chat).forEach((old) => old.remove());
  one(".chat-empty", chat).hidden = false;
  one(".chat-why", chat).hidden = true;
  autofill.hidden = true;
  handset.dataset.channel = "none";
  one(".phone-channel", handset).textContent = testMode;
  one(".delivery").replaceChildren();
}

// Shows on the phone why no message came.
function explainSilence(answer) {
  const { code: why, error } = answer.json ?? {};
  const time = clock(Number(answer.header("retry-after") ?? 0));
  one(".chat-empty", chat).hidden = true;
  one(".chat-why", chat).hidden = false;
  one(".chat-why", chat).textContent = fill(texts[`why_${why}`] ?? texts.why, { time, error: error ?? answer.status });
}

// `fills` is the field that the code is for.
function bubble(message, fills) {
  const id = `${message.otp_id} ${message.channel} ${message.at}`;
  if (state.shown.has(id)) return;
  if (state.shown.size === 0) chat.append(node("span", texts.today, "chat-day"));
  state.shown.add(id);
  one(".chat-empty", chat).hidden = true;
  handset.dataset.channel = message.channel;
  one(".phone-channel", handset).textContent = texts[message.channel] ?? message.channel;
  const made = node("div", "", `bubble ${message.channel}`);
  const [before, ...after] = message.text.split(message.code);
  made.append(before, node("b", message.code), after.join(message.code));
  const at = new Date(message.at);
  const time = node("time", indian(at, { timeStyle: "short" }));
  time.dateTime = message.at;
  time.title = utc(at);
  made.append(time);
  chat.append(made);
  const webotp = message.text.match(/\n@(\S+) #\d{6}$/);
  if (webotp) chat.append(node("p", fill(texts.webotp, { domain: webotp[1] }), "bubble-note"));
  chat.scrollTop = chat.scrollHeight;
  autofill.textContent = fill(texts.fill, { code: message.code });
  autofill.dataset.code = message.code;
  autofill.hidden = false;
  state.fills = fills;
}

const colours = { delivered: "good", failed: "bad", sent: "", queued: "" };
function deliveryOf(status) {
  one(".delivery").replaceChildren(...status.attempts.map((attempt) => {
    const line = node("li", "");
    const word = texts[`attempt_${attempt.status}`] + (attempt.reason ? `: ${attempt.reason}` : "");
    line.append(node("span", word, `pill ${colours[attempt.status]}`), texts[attempt.channel] ?? attempt.channel);
    return line;
  }));
}

// Reads the inbox until the message has arrived, or for ten seconds.
async function watch(otp, turn, number = phone.value, fills = () => code) {
  if (!otp) return;
  for (let attempt = 0; attempt < 8 && turn === state.send; attempt += 1) {
    const inbox = await ask("GET", `/v1/sandbox/messages?phone=${encodeURIComponent(number)}`);
    if (turn !== state.send) return;
    (inbox.json?.messages ?? []).filter((message) => message.otp_id === otp).reverse()
      .forEach((message) => bubble(message, fills));
    const status = await ask("GET", `/v1/otp/status/${otp}`);
    if (turn !== state.send || !status.json?.attempts) return;
    deliveryOf(status.json);
    if (["delivered", "failed"].includes(status.json.status) && attempt > 0) return;
    await new Promise((done) => setTimeout(done, attempt < 2 ? 450 : 1500));
  }
}

autofill.addEventListener("click", () => {
  const field = state.fills();
  if (!field) return;
  field.value = autofill.dataset.code;
  field.focus();
  field.dispatchEvent(new Event("input", { bubbles: true }));
  if (field === code) one('[data-step="verify"] .run').focus();
});

// ---- The access token ----
const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
const decode = (part) => JSON.parse(new TextDecoder().decode(bytes(part)));
const algorithms = {
  ES256: [{ name: "ECDSA", namedCurve: "P-256" }, { name: "ECDSA", hash: "SHA-256" }],
  EdDSA: [{ name: "Ed25519" }, { name: "Ed25519" }],
  RS256: [{ name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }, { name: "RSASSA-PKCS1-v1_5" }],
};

async function check(token, header) {
  const algorithm = algorithms[header.alg];
  if (!algorithm || !crypto.subtle) return ["bad", fill(texts.cannot, { alg: header.alg })];
  const set = await ask("GET", "/.well-known/jwks.json");
  const jwk = set.json?.keys.find((candidate) => candidate.kid === header.kid);
  if (!jwk) return ["bad", texts.bad];
  const [signed, signature] = [token.slice(0, token.lastIndexOf(".")), token.slice(token.lastIndexOf(".") + 1)];
  try {
    const { kty, crv, x, y, n, e } = jwk;
    const imported = await crypto.subtle.importKey("jwk", { kty, crv, x, y, n, e }, algorithm[0], false, ["verify"]);
    const good = await crypto.subtle.verify(algorithm[1], imported, bytes(signature), new TextEncoder().encode(signed));
    return good ? ["good", fill(texts.good, { kid: `${header.kid.slice(0, 8)}…` })] : ["bad", texts.bad];
  } catch {
    return ["bad", fill(texts.cannot, { alg: header.alg })];
  }
}

function explain(list, values, kind) {
  list.replaceChildren(...Object.entries(values).flatMap(([name, value]) => {
    const shown = node("dd", "");
    shown.append(node("code", String(value)));
    if (name === "exp" || name === "iat") {
      const at = new Date(value * 1000);
      const time = node("span", `${texts[`claim_${name}`]} ${indian(at, { dateStyle: "medium", timeStyle: "medium" })} IST`);
      time.title = utc(at);
      shown.append(time);
      if (name === "exp") { const left = node("span", "", "expiry"); left.dataset.until = value; shown.append(" · ", left); }
    } else if (texts[`${kind}_${name}`]) shown.append(node("span", texts[`${kind}_${name}`]));
    return [node("dt", name), shown];
  }));
}

async function dissect(token) {
  const parts = token.split(".");
  const header = decode(parts[0]);
  one(".token-empty").hidden = true;
  one(".token-full").hidden = false;
  one(".token-raw code").replaceChildren(...parts.flatMap((part, index) => [index ? "." : "", node("span", part, `part-${index}`)]));
  explain(one(".token-header"), header, "header");
  explain(one(".token-claims"), decode(parts[1]), "claim");
  const verdict = one(".verdict");
  [verdict.className, verdict.textContent] = ["verdict", texts.checking];
  const [kind, sentence] = await check(token, header);
  if (token !== state.access) return;
  [verdict.className, verdict.textContent] = [`verdict ${kind}`, sentence];
}

// ---- Running a step ----
function learn(name, answer) {
  if (answer.status !== 200 || !answer.json) return null;
  if (name === "verify" || name === "refresh") {
    autofill.hidden = true;
    [state.access, state.refresh] = [answer.json.access_token, answer.json.refresh_token];
    return dissect(state.access);
  }
  return null;
}

async function run(step) {
  const { step: name, method, path } = step.dataset;
  const button = one(".run", step), status = one(".status", step);
  if (name === "send") startOver();
  const asked = bodies[name](), turn = state.send;
  const hadFocus = step.contains(document.activeElement);
  button.disabled = true;
  step.dataset.state = "";
  status.textContent = texts.running;
  try {
    const answer = await ask(method, path, asked);
    if (turn !== state.send) return;
    answers[name] = Object.assign(answer, { asked });
    step.dataset.state = answer.status === 200 ? "good" : "bad";
    status.textContent = `${answer.status} · ${answer.ms} ms`;
    noteLimit(name, answer);
    choose(step, "answer");
    if (name === "send") state.otp = answer.json?.otp_id ?? "";
    if (name === "send" && answer.status !== 200) explainSilence(answer);
    const more = [learn(name, answer), name === "send" ? watch(state.otp, turn) : null];
    const next = settle();
    linkStories();
    paintAll();
    button.disabled = false;
    // The element with the focus may be hidden now.
    if (hadFocus && next && !button.checkVisibility()) one(".run", next).focus({ preventScroll: true });
    await Promise.all(more);
  } catch (cause) {
    step.dataset.state = "bad";
    status.textContent = "";
    unfold(step, true);
    one(".panel code", step).textContent = cause.message;
  } finally {
    button.disabled = false;
  }
}

// ---- Wiring ----
for (const step of steps) {
  one(".run", step).addEventListener("click", () => run(step));
  const fold = one(".fold", step);
  fold.addEventListener("click", () => unfold(step, fold.getAttribute("aria-expanded") !== "true"));
  const tabs = all('[role="tab"]', step);
  tabs.forEach((tab, index) => {
    tab.addEventListener("click", () => choose(step, tab.dataset.tab));
    tab.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      const next = tabs[(index + by + tabs.length) % tabs.length];
      choose(step, next.dataset.tab);
      next.focus();
    });
  });
  one(".copy", step).addEventListener("click", async (event) => {
    await navigator.clipboard.writeText(one(".panel code", step).textContent);
    const button = event.currentTarget, label = button.innerHTML;
    button.textContent = texts.copied;
    setTimeout(() => { button.innerHTML = label; }, 1500);
  });
}
for (const chip of all(".chip")) chip.addEventListener("click", () => { phone.value = chip.dataset.number; changed(); });
function changed() {
  for (const chip of all(".chip")) chip.setAttribute("aria-pressed", chip.dataset.number === phone.value);
  startOver();
}
phone.addEventListener("input", changed);
code.addEventListener("input", () => { delete answers.verify; paint(one('[data-step="verify"]')); });
code.addEventListener("keydown", (event) => { if (event.key === "Enter") run(one('[data-step="verify"]')); });
ownKey.addEventListener("input", paintAll);
setInterval(() => {
  paintLimits();
  for (const left of all(".expiry")) {
    const seconds = left.dataset.until - Date.now() / 1000;
    left.textContent = seconds > 0 ? fill(texts.expires, { time: clock(seconds) }) : texts.expired;
  }
}, 1000);
startOver();
root.hidden = false;

// The login form is further down: its module is loaded when it comes into view. It calls the
// backend by fetch, and its messages are shown on the phone beside it.
const loginForm = document.getElementById("login-form");
const login = one("dwar-login");
const plainFetch = globalThis.fetch;
globalThis.fetch = async (address, init) => {
  const answer = await plainFetch(address, init);
  if (answer.ok && String(address).endsWith(`${login.getAttribute("endpoint")}/send`)) {
    const [sent, { phone: number }] = [await answer.clone().json(), JSON.parse(init.body)];
    const fills = () => login.shadowRoot?.querySelector('[autocomplete="one-time-code"]');
    watch(sent.otp_id, state.send, number, fills).catch(() => {});
  }
  return answer;
};
new IntersectionObserver(([{ isIntersecting }], observer) => {
  if (!isIntersecting) return;
  observer.disconnect();
  void import(loginForm.dataset.module);
}).observe(loginForm);
