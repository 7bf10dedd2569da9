// <dwar-login>: a person logs in with a phone number and a one-time password, against the login contract
// (clients/login/README.md in the repository of Dwar). No dependency, no key, nothing stored.

/** Seconds until the same number can be sent another code, and after a refusal that names no time. */
const PAUSE = 30;
/** How long an answer is waited for; a send can take most of it. */
const PATIENCE_MS = 40_000;
/** Codes of answers after which only a new code helps. */
const USED_UP = ["OTP_NOT_FOUND", "VERIFY_RATE_LIMITED"];

const ENGLISH = {
  phone: "Mobile number",
  send: "Send OTP",
  sending: "Sending…",
  code: "6-digit OTP",
  sent: "We have sent an OTP by WhatsApp or SMS to {phone}.",
  sentAgain: "We have sent a new OTP to {phone}.",
  verify: "Log in",
  verifying: "Checking…",
  sendAgain: "Send again",
  otherNumber: "Change number",
  done: "You are logged in.",
  INVALID_PHONE: "Enter a 10-digit mobile number that starts with 6, 7, 8 or 9.",
  INVALID_OTP_CODE: "Enter all 6 digits of the OTP.",
  INVALID_OTP: "This OTP is not correct. Check it and try again.",
  OTP_NOT_FOUND: "This OTP has expired. Send a new one.",
  VERIFY_RATE_LIMITED: "That was wrong too many times. Send a new OTP.",
  OTP_RATE_LIMITED: "Too many OTPs for this number. Try again in {wait}.",
  TOO_MANY_SENDS: "Too many OTPs were requested. Try again in {wait}.",
  LOGIN_UNAVAILABLE: "Login is not possible at the moment. Try again in {wait}.",
  NETWORK_ERROR: "There is no connection. Check your internet and try again.",
};

/** @type {Record<string, Record<string, string>>} */
const WORDS = {
  en: ENGLISH,
  hi: {
    phone: "मोबाइल नंबर",
    send: "OTP भेजें",
    sending: "भेजा जा रहा है…",
    code: "6 अंकों का OTP",
    sent: "{phone} पर WhatsApp या SMS से OTP भेजा गया है।",
    sentAgain: "{phone} पर नया OTP भेजा गया है।",
    verify: "लॉग इन करें",
    verifying: "जाँच हो रही है…",
    sendAgain: "दोबारा भेजें",
    otherNumber: "नंबर बदलें",
    done: "आप लॉग इन हो गए हैं।",
    INVALID_PHONE: "कृपया 6, 7, 8 या 9 से शुरू होने वाला 10 अंकों का मोबाइल नंबर डालें।",
    INVALID_OTP_CODE: "कृपया OTP के सभी 6 अंक डालें।",
    INVALID_OTP: "OTP सही नहीं है। कृपया जाँचकर दोबारा डालें।",
    OTP_NOT_FOUND: "इस OTP की समय सीमा समाप्त हो गई है। कृपया नया OTP मँगाएँ।",
    VERIFY_RATE_LIMITED: "कई बार गलत OTP डाला गया है। कृपया नया OTP मँगाएँ।",
    OTP_RATE_LIMITED: "इस नंबर के लिए बहुत बार OTP मँगाया गया है। कृपया {wait} बाद फिर कोशिश करें।",
    TOO_MANY_SENDS: "बहुत बार OTP मँगाया गया है। कृपया {wait} बाद फिर कोशिश करें।",
    LOGIN_UNAVAILABLE: "अभी लॉग इन नहीं हो पा रहा है। कृपया {wait} बाद फिर कोशिश करें।",
    NETWORK_ERROR: "इंटरनेट कनेक्शन नहीं है। कृपया कनेक्शन जाँचकर फिर कोशिश करें।",
  },
};

// Colours follow the `color-scheme` of the page. An input below 16 pixels would make iOS zoom in.
const STYLE = `
dwar-login { display: block; max-width: 22rem; line-height: 1.5; --_accent: #0b6e63; --_on-accent: #fff; --_error: #b3261e }
@supports (color: light-dark(#000, #fff)) {
  dwar-login { --_accent: light-dark(#0b6e63, #57cdbd); --_on-accent: light-dark(#fff, #06231f); --_error: light-dark(#b3261e, #ff9a90) }
}
dwar-login form { display: block; margin: 0 }
dwar-login p, dwar-login .dwar-login-field { margin: 0 0 .75rem }
dwar-login p:empty { margin: 0 }
dwar-login label { display: block; margin: 0 0 .375rem; font-weight: 600 }
dwar-login [role=alert] { color: var(--dwar-login-error, var(--_error)) }
dwar-login .dwar-login-field { display: flex; align-items: center; gap: .625rem; padding: 0 .875rem; border: 1px solid; border-color: color-mix(in srgb, currentColor 55%, transparent); border-radius: var(--dwar-login-radius, .625rem); font-size: max(1.125rem, 16px) }
dwar-login .dwar-login-field:focus-within { outline: 2px solid var(--dwar-login-accent, var(--_accent)); outline-offset: 1px }
dwar-login .dwar-login-field:has([aria-invalid]) { border-color: var(--dwar-login-error, var(--_error)) }
dwar-login .dwar-login-field input { flex: 1; width: 100%; min-width: 0; height: 3rem; margin: 0; padding: 0; border: 0; outline: 0; background: none; color: inherit; font: inherit; font-variant-numeric: tabular-nums; letter-spacing: .04em }
dwar-login .dwar-login-field [autocomplete=one-time-code] { font-size: 1.5rem; letter-spacing: .3em }
dwar-login button { min-height: 3rem; margin: 0; padding: .5rem 0; border: 0; background: none; color: var(--dwar-login-accent, var(--_accent)); font: inherit; font-weight: 600; font-variant-numeric: tabular-nums; cursor: pointer }
dwar-login button[type=submit] { display: block; width: 100%; border-radius: var(--dwar-login-radius, .625rem); background: var(--dwar-login-accent, var(--_accent)); color: var(--dwar-login-on-accent, var(--_on-accent)) }
dwar-login button:focus-visible { outline: 2px solid var(--dwar-login-accent, var(--_accent)); outline-offset: 2px; border-radius: var(--dwar-login-radius, .625rem) }
dwar-login button:disabled { color: inherit; opacity: .65; cursor: default }
dwar-login button[type=submit]:disabled { background: color-mix(in srgb, currentColor 15%, transparent) }
dwar-login [role=status]:focus { outline: 0 }
dwar-login [aria-busy] button { cursor: progress }
dwar-login .dwar-login-more { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; margin-top: .25rem }
`;

/** @type {CSSStyleSheet | undefined} */
let sheet;

/**
 * Adopts the styles once. CSP has no say in constructed sheets, so `style-src` needs nothing. A browser without them
 * shows the form as it shows any form.
 * @param {any} root a document or a shadow root
 */
function adopt(root) {
  if (!root.adoptedStyleSheets) return;
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
  }
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
}

/** @param {string} text */
const asciiDigits = (text) => text.replace(/[०-९]/g, (digit) => String(digit.charCodeAt(0) - 0x966));

/**
 * The ten digits of an Indian mobile number, with or without +91 or 0 before it and anything between; otherwise nothing.
 * @param {string} text
 */
function phoneIn(text) {
  return /^(?:(?:\+|00)?91)?0?([6-9]\d{9})$/.exec(asciiDigits(text).replace(/[^\d+]/g, ""))?.[1];
}

/**
 * The first six digits in a row, with or without spaces and dashes between; otherwise nothing.
 * @param {string} text
 */
function codeIn(text) {
  return /(?:^|\D)(\d(?:[\s\p{Pd}]{0,3}\d){5})(?!\d)/u.exec(asciiDigits(text))?.[1].replace(/\D/g, "");
}

/**
 * The address of a path of this origin; nothing for another origin, another scheme, or what only looks like a path.
 * @param {string | null} path
 */
function onThisOrigin(path) {
  if (!path?.startsWith("/")) return undefined;
  try {
    const url = new URL(path, location.origin);
    return url.origin === location.origin ? url.href : undefined;
  } catch {
    return undefined;
  }
}

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string>} attributes
 * @param {(Node | string)[]} children
 */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** @typedef {{ error?: string, code?: string, wait?: number, value?: string }} Answer what was asked for is in `value` */

/**
 * Asks the backend. A redirect is not followed: it could lead elsewhere.
 * @param {string} url
 * @param {Record<string, string>} body
 * @param {string} wanted the field without which an answer is none
 * @param {AbortSignal} signal
 * @returns {Promise<Answer>}
 */
async function ask(url, body, wanted, signal) {
  let response;
  try {
    response = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
      credentials: "same-origin",
      cache: "no-store",
      redirect: "manual",
      signal,
    });
    const answer = await response.json();
    const wait = Number.parseInt(response.headers.get("Retry-After") ?? "", 10);
    if (response.ok && typeof answer[wanted] === "string") return { value: answer[wanted] };
    if (response.ok || typeof answer.code !== "string") return { code: "LOGIN_UNAVAILABLE" };
    const error = response.status < 500 && typeof answer.error === "string" ? answer.error : undefined;
    return { code: answer.code, error, wait: wait >= 0 ? wait : undefined };
  } catch {
    if (!response) return { code: "NETWORK_ERROR" };
  }
  return { code: "LOGIN_UNAVAILABLE" };
}

/**
 * @typedef {object} Step what is shown at one time
 * @property {HTMLFormElement} form
 * @property {HTMLInputElement} input
 * @property {HTMLElement} alert
 * @property {HTMLButtonElement} send the button that sends a code
 * @property {string} sendLabel
 * @property {() => string | undefined} phone the number that it sends to
 * @property {string} held what the field held before an event
 * @property {AbortController} [asking]
 */

let count = 0;

// A server that renders pages can import this module: it has no elements.
const Base = /** @type {typeof HTMLElement} */ (globalThis.HTMLElement ?? Object);

export class DwarLogin extends Base {
  /** @type {Step | undefined} */
  #step;
  #endpoint = "";
  #phone = "";
  /** The number that was sent a code or refused one, and when it can be sent the next. */
  #pause = { phone: "", until: 0 };
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #tick;
  /** @type {AbortController | undefined} */
  #listening;

  connectedCallback() {
    const endpoint = onThisOrigin(this.getAttribute("endpoint") ?? "/login");
    if (!endpoint) throw new TypeError("dwar-login: endpoint has to be a path of this origin");
    this.#endpoint = endpoint.replace(/\/$/, "");
    adopt(this.getRootNode());
    this.#askPhone();
  }

  disconnectedCallback() {
    this.#leave();
  }

  get #language() {
    return /^hi\b/i.test(this.closest("[lang]")?.getAttribute("lang") ?? "") ? "hi" : "en";
  }

  get #words() {
    return WORDS[this.#language];
  }

  #leave() {
    clearTimeout(this.#tick);
    this.#listening?.abort();
    this.#step?.asking?.abort();
    this.#step = undefined;
  }

  #askPhone() {
    const words = this.#words;
    const input = make("input", { type: "tel", autocomplete: "tel", enterkeyhint: "send" });
    input.value = this.#phone;
    const send = make("button", { type: "submit" }, words.send);
    this.#show({
      input, send, label: words.phone, lead: [make("span", { "aria-hidden": "true" }, "+91")], buttons: [send], read: phoneIn,
      phone: () => phoneIn(input.value),
      submit: () => {
        const phone = phoneIn(input.value);
        if (!phone) return this.#complain({ code: "INVALID_PHONE" });
        this.#phone = phone;
        void this.#send(words.sent);
      },
    });
  }

  /** @param {string} note what was sent, and where */
  #askCode(note) {
    const words = this.#words;
    const input = make("input", {
      type: "text", inputmode: "numeric", autocomplete: "one-time-code", enterkeyhint: "go", spellcheck: "false",
    });
    const verify = make("button", { type: "submit" }, words.verify);
    const send = make("button", { type: "button" }, words.sendAgain);
    const other = make("button", { type: "button" }, words.otherNumber);
    send.addEventListener("click", () => void this.#send(words.sentAgain));
    other.addEventListener("click", () => {
      this.#askPhone();
      this.#step?.input.select();
    });
    const submit = () => void this.#verify(verify);
    this.#show({
      input, send, label: words.code, submit, brought: submit, read: codeIn,
      note: note.replace("{phone}", this.#phone.replace(/(.{5})/, "+91\u00a0$1\u00a0")),
      buttons: [verify, make("div", { class: "dwar-login-more" }, send, other)],
      phone: () => this.#phone,
    });
    input.focus();
    void this.#listen();
  }

  /**
   * Shows one field, and an alert that is there before it says something, as screen readers want it. The field has no
   * name, so that it is in no URL, whatever submits the form.
   * @param {{ input: HTMLInputElement, send: HTMLButtonElement, label: string, lead?: Node[], note?: string,
   *   buttons: HTMLElement[], phone: () => string | undefined, read: (text: string) => string | undefined,
   *   submit: () => void, brought?: () => void }} parts
   */
  #show({ input, send, label, lead = [], note = "", buttons, phone, read, submit, brought }) {
    this.#leave();
    const id = `dwar-login-${++count}`;
    input.id = id;
    input.setAttribute("aria-describedby", `${id}-note ${id}-alert`);
    const alert = make("p", { id: `${id}-alert`, role: "alert" });
    const field = make("div", { class: "dwar-login-field" }, ...lead, input);
    const form = make("form", { lang: this.#language, method: "post", novalidate: "" },
      make("p", { id: `${id}-note` }, note), make("label", { for: id }, label), field, alert, ...buttons);
    const step = { form, input, alert, send, sendLabel: send.textContent ?? "", phone, held: input.value };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      submit();
    });
    input.addEventListener("paste", (event) => {
      const whole = read(event.clipboardData?.getData("text") ?? "");
      if (!whole || input.readOnly) return;
      event.preventDefault();
      this.#changed(step, whole);
      brought?.();
    });
    input.addEventListener("input", () => {
      const whole = read(input.value);
      const wasEmpty = step.held === "";
      this.#changed(step, whole ?? input.value);
      if (whole && wasEmpty) brought?.();
    });
    this.replaceChildren(form);
    this.#step = step;
    this.#countDown();
  }

  /**
   * @param {Step} step
   * @param {string} value
   */
  #changed(step, value) {
    if (step.input.value !== value) step.input.value = value;
    step.held = value;
    this.#complain({});
    this.#countDown();
  }

  /** Shows how long the number has to wait on the button that sends to it. Nothing reads that aloud. */
  #countDown() {
    clearTimeout(this.#tick);
    if (!this.#step) return;
    const { send, sendLabel, phone } = this.#step;
    const left = phone() === this.#pause.phone ? Math.ceil((this.#pause.until - Date.now()) / 1000) : 0;
    send.disabled = left > 0;
    if (left > 0) {
      send.textContent = `${sendLabel} (${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")})`;
      this.#tick = setTimeout(() => this.#countDown(), 1000);
    } else send.textContent = sendLabel;
  }

  /**
   * Says why it did not work, or takes back what was said. The sentence of a code that is not ours is the
   * application's own.
   * @param {Answer} answer
   */
  #complain({ code, error, wait = PAUSE }) {
    if (!this.#step) return;
    const { input, alert } = this.#step;
    alert.textContent = "";
    input.removeAttribute("aria-invalid");
    if (!code) return;
    const words = this.#words;
    const sentence = Object.hasOwn(words, code) ? words[code] : (error ?? words.LOGIN_UNAVAILABLE);
    const [amount, unit] = wait < 60 ? [wait, "second"] : [Math.ceil(wait / 60), "minute"];
    const format = new Intl.NumberFormat(this.#language, { style: "unit", unit, unitDisplay: "long" });
    alert.textContent = sentence.replace("{wait}", format.format(amount));
    if (code.startsWith("INVALID_")) input.setAttribute("aria-invalid", "true");
    input.focus();
  }

  /**
   * One request at a time; nothing if there is one already, or if the person went on meanwhile.
   * @param {HTMLButtonElement} button
   * @param {string} label what it says meanwhile
   * @param {string} path
   * @param {Record<string, string>} body
   * @param {string} wanted
   */
  async #ask(button, label, path, body, wanted) {
    const step = this.#step;
    if (!step || step.asking) return undefined;
    const asking = (step.asking = new AbortController());
    const patience = setTimeout(() => asking.abort(), PATIENCE_MS);
    const usual = button.textContent;
    this.#complain({});
    step.form.setAttribute("aria-busy", "true");
    step.input.readOnly = true;
    button.textContent = label;
    const answer = await ask(this.#endpoint + path, body, wanted, asking.signal);
    clearTimeout(patience);
    if (step !== this.#step) return undefined;
    step.asking = undefined;
    step.form.removeAttribute("aria-busy");
    step.input.readOnly = false;
    button.textContent = usual;
    return answer;
  }

  /** @param {string} note */
  async #send(note) {
    if (!this.#step) return;
    const phone = this.#phone;
    const answer = await this.#ask(this.#step.send, this.#words.sending, "/send", { phone }, "otp_id");
    if (!answer) return;
    this.#pause = { phone, until: Date.now() + (answer.value ? PAUSE : (answer.wait ?? 0)) * 1000 };
    if (answer.value) return this.#askCode(note);
    this.#complain(answer);
    this.#countDown();
  }

  /** @param {HTMLButtonElement} button */
  async #verify(button) {
    const step = this.#step;
    if (!step) return;
    const code = codeIn(step.input.value);
    if (!code) return this.#complain({ code: "INVALID_OTP_CODE" });
    this.#listening?.abort();
    const body = { phone: this.#phone, code };
    const answer = await this.#ask(button, this.#words.verifying, "/verify", body, "identity_id");
    if (!answer) return;
    if (answer.value) return this.#finish(answer.value);
    const usedUp = USED_UP.includes(answer.code ?? "");
    if (usedUp) this.#pause.until = 0;
    if (usedUp || answer.code === "INVALID_OTP") this.#changed(step, "");
    this.#complain(answer);
    void this.#listen();
  }

  /** Takes the code out of the SMS, where the browser offers that (WebOTP). */
  async #listen() {
    if (!("OTPCredential" in window)) return;
    const { signal } = (this.#listening = new AbortController());
    const wanted = /** @type {CredentialRequestOptions} */ ({ otp: { transport: ["sms"] }, signal });
    try {
      const credential = /** @type {{ code?: string } | null} */ (await navigator.credentials.get(wanted));
      const code = codeIn(credential?.code ?? "");
      if (!code || signal.aborted || !this.#step) return;
      this.#changed(this.#step, code);
      this.#step.form.requestSubmit();
    } catch {
      // Refused, or no longer wanted: the person types.
    }
  }

  /** @param {string} identity_id */
  #finish(identity_id) {
    this.#leave();
    const done = make("p", { lang: this.#language, role: "status", tabindex: "-1" }, this.#words.done);
    this.replaceChildren(done);
    done.focus();
    const options = { bubbles: true, composed: true, cancelable: true, detail: { identity_id } };
    const next = onThisOrigin(this.getAttribute("next"));
    if (this.dispatchEvent(new CustomEvent("dwar-login", options)) && next) location.assign(next);
  }
}

if (globalThis.customElements && !customElements.get("dwar-login")) customElements.define("dwar-login", DwarLogin);
