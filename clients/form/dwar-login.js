// <dwar-login>: a person logs in with a phone number and a one-time password, against the login contract
// (clients/login/README.md in the repository of Dwar). No dependency and no key. Between the two steps it keeps the number,
// and nothing else of the person, in sessionStorage.

/** Seconds between two codes to the same number, and after a refusal that names no time. */
const PAUSE = 30;
/** Seconds for which a code is valid if the backend does not say. */
const EXPIRES_IN = 600;
const MAX_EXPIRES_IN = 3600;
/** Longest wait for an answer; a send can take most of it. */
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
  PROOF_REQUIRED: "Confirm first that you are a person.",
  TOO_MANY_SENDS: "Too many OTPs were requested. Try again in {wait}.",
  LOGIN_UNAVAILABLE: "Login is not possible at the moment. Try again in {wait}.",
  HTTPS_REQUIRED: "Open this page with https to log in.",
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
    PROOF_REQUIRED: "कृपया पहले पुष्टि करें कि आप इंसान हैं।",
    TOO_MANY_SENDS: "बहुत बार OTP मँगाया गया है। कृपया {wait} बाद फिर कोशिश करें।",
    LOGIN_UNAVAILABLE: "अभी लॉग इन नहीं हो पा रहा है। कृपया {wait} बाद फिर कोशिश करें।",
    HTTPS_REQUIRED: "लॉग इन करने के लिए यह पेज https से खोलें।",
    NETWORK_ERROR: "इंटरनेट कनेक्शन नहीं है। कृपया कनेक्शन जाँचकर फिर कोशिश करें।",
  },
};

/**
 * Colours follow the `color-scheme` of the page. An input below 16 pixels would make iOS zoom in. The transparent borders are
 * for forced colours, which show borders and no backgrounds.
 * @param {string} host the selector of the element
 * @param {string} inside the beginning of the selectors of its descendants
 */
const styles = (host, inside) => `
${host} { display: block; max-width: 22rem; line-height: 1.5; --_accent: #0b6e63; --_on-accent: #fff; --_error: #b3261e }
@supports (color: light-dark(#000, #fff)) {
  ${host} { --_accent: light-dark(#0b6e63, #57cdbd); --_on-accent: light-dark(#fff, #06231f); --_error: light-dark(#b3261e, #ff9a90) }
}
${inside}form { display: block; margin: 0 }
${inside}p, ${inside}.dwar-login-field { margin: 0 0 .75rem }
${inside}p:empty { margin: 0 }
${inside}[name=proof], ${inside}[slot=proof] { display: block; margin: 0 0 .75rem }
${inside}label { display: block; margin: 0 0 .375rem; font-weight: 600 }
${inside}[role=alert] { color: var(--dwar-login-error, var(--_error)) }
${inside}.dwar-login-field { display: flex; align-items: center; gap: .625rem; padding: 0 .875rem; border: 1px solid; border-color: color-mix(in srgb, currentColor 55%, transparent); border-radius: var(--dwar-login-radius, .625rem); font-size: max(1.125rem, 16px) }
${inside}.dwar-login-field:focus-within { outline: 2px solid var(--dwar-login-accent, var(--_accent)); outline-offset: 1px }
${inside}.dwar-login-field:has([aria-invalid]) { border-color: var(--dwar-login-error, var(--_error)) }
${inside}.dwar-login-field input { flex: 1; width: 100%; min-width: 0; height: 3rem; margin: 0; padding: 0; border: 0; outline: 0; background: none; color: inherit; font: inherit; font-variant-numeric: tabular-nums; letter-spacing: .04em }
${inside}.dwar-login-field [autocomplete=one-time-code] { font-size: 1.5rem; letter-spacing: .3em }
${inside}button { min-height: 3rem; margin: 0; padding: .5rem 0; border: 1px solid transparent; background: none; color: var(--dwar-login-accent, var(--_accent)); font: inherit; font-weight: 600; font-variant-numeric: tabular-nums; cursor: pointer }
${inside}button[type=submit] { display: block; width: 100%; border-radius: var(--dwar-login-radius, .625rem); background: var(--dwar-login-accent, var(--_accent)) padding-box; color: var(--dwar-login-on-accent, var(--_on-accent)) }
${inside}button:focus-visible { outline: 2px solid var(--dwar-login-accent, var(--_accent)); outline-offset: 2px; border-radius: var(--dwar-login-radius, .625rem) }
${inside}button:disabled { color: inherit; opacity: .65; cursor: default }
${inside}button[type=submit]:disabled { background: color-mix(in srgb, currentColor 15%, transparent) }
${inside}[role=status]:focus { outline: 0 }
${inside}[aria-busy] button { cursor: progress }
${inside}.dwar-login-more { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; margin-top: .25rem }
${host === ":host" ? ":host([hidden])" : `${host}[hidden]`} { display: none }
@media (forced-colors: active) {
  ${inside}button { padding-inline: .75rem }
  ${inside}button:disabled { opacity: 1; color: GrayText; border-color: GrayText }
}
`;

/** @type {WeakMap<Document, Record<string, CSSStyleSheet>>} */
const sheets = new WeakMap();

/**
 * Adopts the styles once. CSP does not restrict constructed sheets, so `style-src` needs nothing. A sheet belongs to
 * one document. A browser without them shows the form in its default style.
 * @param {any} root a document or a shadow root
 * @param {string} host
 * @param {string} inside
 */
function adopt(root, host, inside) {
  if (!root.adoptedStyleSheets) return;
  const document = root.ownerDocument ?? root;
  const ours = sheets.get(document) ?? {};
  sheets.set(document, ours);
  if (!ours[host]) (ours[host] = new document.defaultView.CSSStyleSheet()).replaceSync(styles(host, inside));
  if (!root.adoptedStyleSheets.includes(ours[host])) root.adoptedStyleSheets = [...root.adoptedStyleSheets, ours[host]];
}

/**
 * The value of a decimal digit of any script. Unicode has the ten of a script in a row, from zero on, and some rows one after
 * the other.
 * @param {string} digit
 */
function valueOf(digit) {
  const code = digit.codePointAt(0) ?? 0;
  let first = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first--;
  return String((code - first) % 10);
}

/**
 * Normalises a text: ASCII digits, one kind of space, dash and line end, and no invisible characters.
 * @param {string} text
 */
const plain = (text) => text.replace(/\p{Cf}/gu, "").replace(/\r\n?/g, "\n").replace(/[^\S\n]/g, " ").replace(/[\p{Pd}\u2212]/gu, "-")
  .replace(/\p{Nd}/gu, valueOf);

/**
 * The ten digits of an Indian mobile number, with or without +91 or 0 before it and anything between; otherwise nothing.
 * @param {string} text
 */
function phoneIn(text) {
  return /^(?:(?:\+|00)?91)?0?([6-9]\d{9})$/.exec(plain(text).replace(/[^\d+]/g, ""))?.[1];
}

// The patterns are those of clients/examples/android/CodeInMessage.kt and ios/CodeInMessage.swift, character by character.
const ALONE = /^[*_("'\[]*([0-9](?: ?[0-9]){5}|[0-9]{3} ?- ?[0-9]{3})[*_)"'\].,;!]*$/u;
const LAST_LINE = /(?:^|\n)@([^ \n]+) #([0-9]+)(?: @[^ \n]+)?$/iu;
// Public suffixes, under which anyone can register a domain. They do not count as a domain above that of the page.
const SHARED = /^(?:[^.]+|(?:ac|co|com|edu|firm|gen|gov|ind|mil|net|nic|org|res)\.[a-z]{2})$/iu;
const NUMBERS = new RegExp([
  // Not a code: an address, a phone number, an amount, a postal code, a date, a time, the number of an order or of a card.
  String.raw`[a-z]+:\/\/[^ \n]+`,
  String.raw`[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}\/[^ \n]*`,
  String.raw`\+91[ -]?\(?[0-9](?:[ ()-]{0,2}[0-9]){9}(?![0-9])`,
  String.raw`\(?0[0-9]{2,4}\)?[ -]{1,2}[0-9]{6,8}(?![0-9])`,
  String.raw`18[06]0(?:[ -]{0,3}[0-9]){6,7}(?![0-9])`,
  String.raw`[6-9][0-9]{3} [0-9]{6}(?![0-9])`,
  String.raw`(?:call|dial|helpline|toll[ -]?free|(?:customer )?care|support|help ?desk|कॉल|हेल्पलाइन)(?: (?:us|at|on|to|is|no\.?|number|नंबर|करें))*[ :=*(-]{1,3}[0-9]{6}(?![0-9])`,
  String.raw`sms [\p{L}\p{M}]+ to [0-9]{6}(?![0-9])`,
  String.raw`[0-9]{6} पर (?:कॉल|sms|संपर्क|फ़ोन|फोन)`,
  String.raw`(?:[₹\$€£]|rs(?!\p{L})\.?|inr|usd|रु(?![\p{L}\p{M}])\.?|रुपये)[ :]{0,2}[0-9]+(?:,[0-9]+)*(?:\.[0-9]{1,2}(?![0-9]))?`,
  String.raw`[0-9]+(?:,[0-9]+)*(?:\.[0-9]{1,2})? ?(?:\/-|(?:rs|inr|usd|rupees?|रुपये|रुपए|रु)(?![\p{L}\p{M}]|\.? ?[0-9]))`,
  String.raw`(?:(?:pin|postal|zip)(?: ?-?code)?|[mt]pin|पिन(?: ?-?कोड)?)(?: (?:is|of|no\.?|number|नंबर))*[ :.=*(-]{0,3}[0-9]{3} ?[0-9]{3}(?![0-9])`,
  String.raw`(?:amount|amt\.?|total|balance|bal\.?|limit|emi|fee|price|date|dated|dt\.?|dob|time|expiry|validity|राशि|कुल|दिनांक|तारीख|समय)(?: (?:at|on|to|is|was|of|due|paid|payable))*[ :=*(-]{1,3}[0-9]{6}(?![0-9])`,
  String.raw`(?:on|of|at|by|to|for|till?|until|up ?to|before|after|since|expires|expired|valid|ending|ends|contact|ph\.?|tel\.?|card|pay|paid|due|worth|debited|credited|संपर्क|कार्ड)(?: (?:us|at|on|to|by|for|with|in|of|no\.?|number|नंबर|करें))*[ :=*(-]{1,3}[0-9]{6}(?![0-9])`,
  String.raw`(?:id|no\.?|number|phone|mobile|whatsapp|नंबर)[ #*(]{1,3}[0-9]{6}(?![0-9])`,
  String.raw`[0-9]{6} ?(?:hrs?|hours?|ist|gmt|utc|[ap]\.?m\.?|बजे|तक|points?|units?|(?:(?:was|were|is|has been|have been|will be) )?(?:paid|debited|credited|received|refunded|deducted|charged|spent|transferred|withdrawn))(?![\p{L}\p{M}])`,
  String.raw`[0-9]{6} is (?:your|the|our) (?:(?:order|ord|ref|reference|txn|transaction|booking|ticket|invoice|bill|statement|receipt|challan|loan|consumer|complaint|account|a\/c|customer|policy|awb|pnr|ऑर्डर|card|employee|user|client|member|membership|registration|application|folio|tracking|shipment|request|case) ?(?:id|no\.?|number)|(?:pin|postal|zip) ?-?code|(?:atm |card |upi |m)?pin|amount|balance|total|(?:customer )?care|helpline|toll[ -]?free)(?![\p{L}\p{M}]| (?:otp|code|verification))`,
  String.raw`(?:order|ord|ref|reference|txn|transaction|booking|ticket|invoice|bill|statement|receipt|challan|loan|consumer|complaint|account|a\/c|customer|policy|awb|pnr|ऑर्डर|card|employee|user|client|member|membership|registration|application|folio|tracking|shipment|request|case)(?: ?(?:id|no\.?|number|नंबर)| ?#)(?: is)?[ :.#-]{0,3}[0-9]{6}(?![0-9])`,
  // Perhaps the number of an order: then there is no code.
  String.raw`(?:order|ord|ref|reference|txn|transaction|booking|ticket|invoice|bill|statement|receipt|challan|loan|consumer|complaint|account|a\/c|customer|policy|awb|pnr|ऑर्डर)[ :.#-]{1,3}([0-9]{6})(?![0-9])`,
  // Another kind of code, or a warning about codes: neither says that this message has a code.
  String.raw`(?:promo|coupon|discount|offer|voucher|gift|referral|invite|error|status|area|std|country|branch|ifsc|hsn|qr|pin|postal|zip|पिन|कूपन|प्रोमो)[ -]?(?:codes?|कोड)(?![\p{L}\p{M}0-9_])(?:(?: is)?[ :=*(-]{1,3}[0-9]{6}(?![0-9]))?`,
  String.raw`(?:never(?: ever)? (?:share|disclose|reveal|give|asks?)|(?:not|don['’]t|doesn['’]t|won['’]t) ask)(?:[ ,\/&]{1,3}(?:you|for|any|your|an?|or|and|otps?|[a-z]?pins?|cvv|passwords?|passcodes?|codes?))+(?![\p{L}\p{M}0-9_]|[ :-]{1,3}[0-9])`,
  // A group of three and three next to a word for a code; another such group; a run of six; a word for a code.
  String.raw`(?:otp|code|कोड|ओटीपी)(?: is)?[ :-]{1,3}([0-9]{3}(?: ?- ?| {1,2})[0-9]{3})(?![\p{L}\p{M}0-9_+\/@=]|[ .,:-][0-9])`,
  String.raw`([0-9]{3}(?: ?- ?| {1,2})[0-9]{3})(?= is )`,
  String.raw`[0-9]{1,5}[ -][0-9]{3}[ -][0-9]{3}(?![0-9])`,
  String.raw`([0-9]{3}(?: ?- ?| {1,2})[0-9]{3})(?![\p{L}\p{M}0-9_+\/@=]|[ .,:-][0-9])`,
  String.raw`([0-9]{6})(?![\p{L}\p{M}0-9_+\/@=]|[.,:-][0-9])`,
  String.raw`((?:otps?|o\.t\.p|codes?|passcodes?|passwords?|verification|verify|authentication|ओटीपी|कोड|पासकोड|पासवर्ड|सत्यापन|ওটিপি|কোড|ઓટીપી|કોડ|ਓਟੀਪੀ|ਕੋਡ|ஓடிபி|குறியீடு|ఓటీపీ|కోడ్|ಒಟಿಪಿ|ಕೋಡ್|ഒടിപി|കോഡ്|ଓଟିପି|କୋଡ୍|کوڈ)(?: (?:no\.?|number|नंबर))?)(?![\p{L}\p{M}0-9_])`,
  // Dates, times, versions; digits within a word; whole words, so that no part of a word matches.
  String.raw`[0-9]+(?:[.,:\/-][0-9]+)+`,
  String.raw`(?:[+\/_]|\*\*)[0-9]+`,
  String.raw`[\p{L}\p{M}0-9_]+`,
].join("|"), "giu");

/**
 * Whether the domain is this host, or below it.
 * @param {string} host
 * @param {string} domain
 */
const covers = (host, domain) => host === domain || (`.${domain}`.endsWith(`.${host}`) && !SHARED.test(host));

/**
 * The code of six digits in what was pasted: the code alone, or a whole message. If the last line is `@domain #code`
 * for this domain or one above it, its code counts; with another domain, the rest of the message must contain the same
 * code. Otherwise the message must contain a word such as OTP: then it is the only run of six digits that is not a
 * date, time, phone number, amount or PIN; without any run, the only group of three and three. Otherwise nothing, since
 * a wrong code costs one of five tries.
 * @param {string} text
 * @param {string} domain
 */
function codeIn(text, domain = location.hostname) {
  const message = plain(text.slice(0, 2000)).trim();
  const alone = ALONE.exec(message)?.[1];
  if (alone) return alone.replace(/[ -]/g, "");
  const [line = "", host = "", bound = ""] = LAST_LINE.exec(message) ?? [];
  if (host && covers(host.toLowerCase(), domain)) return bound.length === 6 ? bound : undefined;
  const code = codeInText(message.slice(0, message.length - line.length));
  return host && code !== bound ? undefined : code;
}

/**
 * The code in a message, without its last line for browsers.
 * @param {string} text of `plain`
 */
function codeInText(text) {
  /** @type {Set<string>[]} */
  const [runs, groups] = [new Set(), new Set()];
  let named = false;
  for (const [, id, said, saidFirst, group, run, word] of text.matchAll(NUMBERS)) {
    if (id) return undefined;
    if (said || word) named = true;
    const one = said ?? saidFirst ?? run;
    if (one) runs.add(one.replace(/[ -]/g, ""));
    if (group) groups.add(group.replace(/[ -]/g, ""));
  }
  const found = runs.size ? runs : groups;
  return named && found.size === 1 ? [...found][0] : undefined;
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

/**
 * Changes the text only if it differs, so that screen readers announce nothing twice.
 * @param {HTMLElement} element
 * @param {string} text
 */
function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * @typedef {object} Answer
 * @property {string} [value] what was asked for
 * @property {number} [expires_in] of what was asked for, in seconds
 * @property {string} [code] why it was refused
 * @property {string} [error]
 * @property {number} [wait] seconds
 */

/**
 * Calls the backend. A redirect is not followed: it could lead elsewhere.
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
    if (response.ok && typeof answer[wanted] === "string") return { value: answer[wanted], expires_in: answer.expires_in };
    if (response.ok || typeof answer.code !== "string") return { code: "LOGIN_UNAVAILABLE" };
    const error = response.status < 500 && typeof answer.error === "string" ? answer.error : undefined;
    return { code: answer.code, error, wait: wait >= 0 ? wait : undefined };
  } catch {
    if (!response) return { code: "NETWORK_ERROR" };
  }
  return { code: "LOGIN_UNAVAILABLE" };
}

/**
 * A time from now on, by the monotonic clock, which nobody can set, and by the wall clock, which runs while the device
 * sleeps.
 */
const inSeconds = (/** @type {number} */ seconds) => ({ at: performance.now() + seconds * 1000, wall: Date.now() + seconds * 1000 });
/**
 * Seconds until then. If the clocks differ, the shorter wait counts: the backend refuses a request that comes too
 * early.
 * @param {{ at: number, wall: number }} time
 */
const secondsUntil = ({ at, wall }) => Math.ceil(Math.min(at - performance.now(), wall - Date.now()) / 1000);

/**
 * What `sessionStorage` gives, which a browser may refuse: then nothing survives a reload.
 * @template Value
 * @param {(storage: Storage) => Value} use
 */
function stored(use) {
  try {
    return use(sessionStorage);
  } catch {
    return undefined;
  }
}

/**
 * @typedef {object} Step what is shown at one time
 * @property {HTMLFormElement} form
 * @property {HTMLInputElement} input
 * @property {HTMLElement} alert
 * @property {HTMLButtonElement} send the button that sends a code
 * @property {boolean} ofCode
 * @property {() => string | undefined} phone the number that it sends to
 * @property {string} held what the field held before an event
 * @property {boolean} [atOnce] whether one event brought all that the field holds
 * @property {Answer} [refused] what the alert says
 * @property {AbortController} [asking]
 * @property {[HTMLElement, string]} [busy] the button that asks, and what it says meanwhile
 */

let count = 0;

// A server that renders pages can import this module: it has no elements.
const Base = /** @type {typeof HTMLElement} */ (globalThis.HTMLElement ?? Object);

export class DwarLogin extends Base {
  static observedAttributes = ["endpoint"];

  /** @type {ShadowRoot | this | undefined} */
  #root;
  /** @type {Step | undefined} */
  #step;
  /** @type {[HTMLElement, string][]} the elements that are shown, and the key of their words */
  #labels = [];
  /** @type {string | undefined} */
  #endpoint;
  #phone = "";
  /** The number that was sent a code or refused one, and when it can be sent the next. */
  #pause = { phone: "", ...inSeconds(0) };
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #tick;
  /** @type {AbortController | undefined} */
  #listening;
  /** @type {MutationObserver | undefined} */
  #languages;
  #proof = "";
  /** What the page shows for a proof. @type {Element | undefined} */
  #proofSlot;

  /** The path at which the backend mounts the contract. @returns {string | null} */
  get endpoint() {
    return this.getAttribute("endpoint");
  }

  set endpoint(path) {
    this.#reflect("endpoint", path);
  }

  /** The path to go to after the login. @returns {string | null} */
  get next() {
    return this.getAttribute("next");
  }

  set next(path) {
    this.#reflect("next", path);
  }

  /** What the next send proves, once. */
  get proof() {
    return this.#proof;
  }

  set proof(proof) {
    this.#proof = proof ?? "";
    if (this.#proof && this.#step?.refused?.code === "PROOF_REQUIRED") this.#step.send.click();
  }

  /**
   * @param {string} name
   * @param {string | null | undefined} value
   */
  #reflect(name, value) {
    if (value == null) this.removeAttribute(name);
    else this.setAttribute(name, value);
  }

  connectedCallback() {
    for (const name of /** @type {const} */ (["endpoint", "next"])) {
      // A framework may have set the property before the element was defined.
      if (!Object.hasOwn(this, name)) continue;
      const value = this[name];
      delete (/** @type {any} */ (this)[name]);
      this[name] = value;
    }
    this.#languages ??= new MutationObserver(() => this.#paint());
    for (let root = /** @type {any} */ (this.getRootNode()); root; root = root.host?.getRootNode()) {
      this.#languages.observe(root, { subtree: true, attributeFilter: ["lang"] });
    }
    this.#begin();
  }

  /** Called for `moveBefore`, instead of the other two callbacks. */
  connectedMoveCallback() {
    this.connectedCallback();
  }

  /** A move removes the element and inserts it again at once: nothing is stopped. */
  disconnectedCallback() {
    queueMicrotask(() => {
      if (this.isConnected) return;
      this.#languages?.disconnect();
      this.#rest();
    });
  }

  attributeChangedCallback() {
    // Not while the element is being upgraded: it is connected next.
    if (this.#languages && this.isConnected) this.#begin();
  }

  /**
   * Shows the first step, or the second if a code is on its way. While the endpoint is the same, the current step
   * stays.
   */
  #begin() {
    const endpoint = onThisOrigin(this.endpoint ?? "/login")?.replace(/\/$/, "");
    if (endpoint) {
      this.#root ??= this.hasAttribute("light-dom") ? this : this.attachShadow({ mode: "open" });
      this.#proofSlot ??= (this.#root === this && this.querySelector("[slot=proof]")) || make("slot", { name: "proof" });
      if (this.#root === this) adopt(this.getRootNode(), "dwar-login", "dwar-login ");
      else adopt(this.#root, ":host", "");
      if (endpoint === this.#endpoint) {
        this.#paint();
        return void this.#listen();
      }
    }
    this.#leave();
    this.#pause.phone = "";
    this.#endpoint = endpoint;
    if (!endpoint) {
      this.#root?.replaceChildren();
      throw new TypeError("dwar-login: endpoint has to be a path of this origin");
    }
    const sent = this.#sent();
    if (!sent) return this.#askPhone();
    this.#phone = sent.phone;
    this.#pause = { phone: sent.phone, ...inSeconds(PAUSE - sent.age) };
    this.#askCode("sent");
  }

  get #key() {
    return `dwar-login ${this.#endpoint}`;
  }

  /**
   * Keeps the number that a code was sent to for as long as the code is valid, so that it survives a reload.
   * @param {string} phone
   * @param {unknown} said seconds
   */
  #keep(phone, said) {
    const expires_in = typeof said === "number" && said > 0 && said <= MAX_EXPIRES_IN ? said : EXPIRES_IN;
    const value = JSON.stringify({ phone, sent: Date.now(), expires_in });
    stored((storage) => storage.setItem(this.#key, value));
    this.#forgetIn(expires_in, value);
  }

  /**
   * @param {number} seconds
   * @param {string} value not what was kept later
   */
  #forgetIn(seconds, value) {
    const key = this.#key;
    setTimeout(() => stored((storage) => storage.getItem(key) === value && storage.removeItem(key)), seconds * 1000);
  }

  #forget() {
    stored((storage) => storage.removeItem(this.#key));
  }

  /** The number that was sent a code, and the seconds since; nothing if it has expired, or is not what this form keeps. */
  #sent() {
    const value = stored((storage) => storage.getItem(this.#key));
    if (!value) return undefined;
    try {
      const { phone, sent, expires_in } = JSON.parse(value);
      const age = (Date.now() - sent) / 1000;
      if (/^[6-9]\d{9}$/.test(phone) && age >= 0 && age < expires_in && expires_in <= MAX_EXPIRES_IN) {
        this.#forgetIn(expires_in - age, value);
        return { phone: String(phone), age };
      }
    } catch {
      // Another program wrote it.
    }
    return this.#forget();
  }

  /** The language of the nearest ancestor that has one, also outside of shadow roots. */
  get #language() {
    for (let at = /** @type {any} */ (this); at; at = at.getRootNode().host) {
      const lang = at.closest("[lang]")?.getAttribute("lang");
      if (lang != null) return /^hi\b/i.test(lang) ? "hi" : "en";
    }
    return "en";
  }

  #rest() {
    clearTimeout(this.#tick);
    this.#listening?.abort();
    this.#step?.asking?.abort();
  }

  #leave() {
    this.#rest();
    this.#step = undefined;
  }

  #askPhone() {
    const input = make("input", { type: "tel", autocomplete: "tel", enterkeyhint: "send" });
    input.value = this.#phone;
    const send = make("button", { type: "submit" });
    this.#show({
      input, send, label: "phone", labels: [[send, "send"]], lead: [make("span", { "aria-hidden": "true" }, "+91")],
      buttons: [send], read: phoneIn,
      phone: () => phoneIn(input.value),
      submit: () => {
        const phone = phoneIn(input.value);
        if (!phone) return this.#complain({ code: "INVALID_PHONE" });
        this.#phone = phone;
        void this.#send("sent");
      },
    });
  }

  /** @param {string} note the key of the words that say what was sent, and where */
  #askCode(note) {
    const input = make("input", {
      type: "text", inputmode: "numeric", autocomplete: "one-time-code", enterkeyhint: "go", spellcheck: "false",
    });
    const verify = make("button", { type: "submit" });
    const send = make("button", { type: "button" });
    const other = make("button", { type: "button" });
    send.addEventListener("click", () => void this.#send("sentAgain"));
    other.addEventListener("click", () => {
      this.#forget();
      this.#askPhone();
      this.#step?.input.select();
    });
    const submit = () => void this.#verify(verify);
    this.#show({
      input, send, label: "code", labels: [[verify, "verify"], [send, "sendAgain"], [other, "otherNumber"]],
      note, submit, brought: submit, read: codeIn,
      buttons: [verify, make("div", { class: "dwar-login-more" }, send, other)],
      phone: () => this.#phone,
    });
    void this.#listen();
  }

  /**
   * Shows one field, and an alert that exists before it has text, as screen readers need it. The field has no name, so
   * that it never appears in a URL.
   * @param {{ input: HTMLInputElement, send: HTMLButtonElement, label: string, labels: [HTMLElement, string][],
   *   lead?: Node[], note?: string, buttons: HTMLElement[], phone: () => string | undefined,
   *   read: (text: string) => string | undefined, submit: () => void, brought?: () => void }} parts
   */
  #show({ input, send, label, labels, lead = [], note, buttons, phone, read, submit, brought }) {
    this.#leave();
    const id = `dwar-login-${++count}`;
    input.id = id;
    input.setAttribute("aria-describedby", `${id}-note ${id}-alert`);
    const about = make("p", { id: `${id}-note` });
    const name = make("label", { for: id });
    const alert = make("p", { id: `${id}-alert`, role: "alert" });
    const field = make("div", { class: "dwar-login-field" }, ...lead, input);
    const form = make("form", { method: "post", novalidate: "" }, about, name, field, alert, ...buttons);
    const step = { form, input, alert, send, phone, ofCode: !!brought, held: input.value };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      submit();
    });
    this.#watch(step, read, brought);
    this.#labels = [[name, label], ...labels];
    if (note) this.#labels.push([about, note]);
    this.#step = step;
    this.#root?.replaceChildren(form);
    this.#paint();
  }

  /**
   * Handles input into the field. Text that a keyboard is composing stays unchanged until it is complete.
   * @param {Step} step
   * @param {(text: string) => string | undefined} read
   * @param {(() => void) | undefined} brought called when one event has brought the whole
   */
  #watch(step, read, brought) {
    const { input } = step;
    /** @param {string} text */
    const take = (text) => {
      const whole = read(text);
      const all = step.atOnce;
      step.atOnce = false;
      // A message without one code in it: nothing is filled in.
      const refused = all && brought && !whole && text.trim().length > 6;
      this.#changed(step, whole ?? (refused ? "" : text));
      if (refused) this.#complain({ code: "INVALID_OTP_CODE" });
      else if (whole && all) brought?.();
    };
    input.addEventListener("paste", (event) => {
      const text = event.clipboardData?.getData("text") ?? "";
      if (input.readOnly || !(read(text) || (brought && text.trim().length > 6))) return;
      event.preventDefault();
      step.atOnce = true;
      take(text);
    });
    input.addEventListener("input", (event) => {
      const { isComposing, inputType } = /** @type {InputEvent} */ (event);
      // Safari deletes composed text before it inserts the same text finally.
      if (inputType === "deleteCompositionText") return;
      step.atOnce = step.held === "";
      step.held = input.value;
      if (isComposing) this.#changed(step, input.value);
      else take(input.value);
    });
    input.addEventListener("compositionend", () => take(input.value));
  }

  /**
   * @param {Step} step
   * @param {string} value
   */
  #changed(step, value) {
    if (step.input.value !== value) step.input.value = value;
    step.held = value;
    this.#complain({});
  }

  /**
   * Sets all texts in the current language. The send button shows how long its number has to wait; screen readers do
   * not read that.
   */
  #paint() {
    clearTimeout(this.#tick);
    const [language, step] = [this.#language, this.#step];
    const words = WORDS[language];
    const left = step && step.phone() === this.#pause.phone ? Math.max(0, secondsUntil(this.#pause)) : 0;
    for (const [element, word] of this.#labels) {
      let text = words[step?.busy?.[0] === element ? step.busy[1] : word];
      if (left && element === step?.send) text += ` (${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")})`;
      say(element, text.replace("{phone}", this.#phone.replace(/(.{5})/, "+91\u00a0$1\u00a0")));
    }
    const shown = step?.form ?? this.#labels[0]?.[0];
    if (shown && shown.lang !== language) shown.lang = language;
    if (!step) return;
    step.send.disabled = left > 0;
    say(step.alert, step.refused ? this.#sentence(step.refused) : "");
    if (left && this.isConnected) this.#tick = setTimeout(() => this.#paint(), 1000);
  }

  /**
   * The sentence for a failed call. For a code that this form does not know it is the application's own.
   * @param {Answer} answer
   */
  #sentence({ code = "", error, wait = PAUSE }) {
    const words = WORDS[this.#language];
    const sentence = Object.hasOwn(words, code) ? words[code] : (error ?? words.LOGIN_UNAVAILABLE);
    const [amount, unit] = wait < 60 ? [wait, "second"] : [Math.ceil(wait / 60), "minute"];
    const format = new Intl.NumberFormat(this.#language, { style: "unit", unit, unitDisplay: "long" });
    return sentence.replace("{wait}", format.format(amount));
  }

  /**
   * Shows why a call failed, or removes the message. A repeated message is announced again.
   * @param {Answer} answer
   */
  #complain(answer) {
    if (!this.#step) return;
    const { input, alert } = this.#step;
    this.#step.refused = answer.code ? answer : undefined;
    alert.textContent = "";
    if (answer.code?.startsWith("INVALID_")) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
    this.#paint();
    if (answer.code) input.focus();
  }

  /**
   * Makes one request at a time; returns nothing if one is running, or if the person has left the step meanwhile.
   * @param {HTMLElement} button
   * @param {string} busy the key of what it says meanwhile
   * @param {string} path
   * @param {Record<string, string>} body
   * @param {string} wanted
   */
  async #ask(button, busy, path, body, wanted) {
    const step = this.#step;
    if (!step || step.asking) return undefined;
    const asking = (step.asking = new AbortController());
    const patience = setTimeout(() => asking.abort(), PATIENCE_MS);
    step.busy = [button, busy];
    step.form.setAttribute("aria-busy", "true");
    step.input.readOnly = true;
    this.#complain({});
    const answer = await ask(this.#endpoint + path, body, wanted, asking.signal);
    clearTimeout(patience);
    if (step !== this.#step) return undefined;
    step.asking = step.busy = undefined;
    step.form.removeAttribute("aria-busy");
    step.input.readOnly = false;
    this.#paint();
    return this.isConnected ? answer : undefined;
  }

  /** @param {string} note */
  async #send(note) {
    if (!this.#step) return;
    const phone = this.#phone;
    /** @type {Record<string, string>} */
    const body = { phone };
    if (this.#proof) body.proof = this.#proof;
    const answer = await this.#ask(this.#step.send, "sending", "/send", body, "otp_id");
    if (!answer) return;
    // A proof is good once.
    if (this.#proof === body.proof) this.#proof = "";
    this.#pause = { phone, ...inSeconds(answer.value ? PAUSE : (answer.wait ?? 0)) };
    if (!answer.value) {
      this.#complain(answer);
      if (answer.code === "PROOF_REQUIRED") this.#askProof();
      return;
    }
    this.#keep(phone, answer.expires_in);
    this.#askCode(note);
    this.#step?.input.focus();
  }

  /** Shows what the page has for a proof, and tells it so. */
  #askProof() {
    if (this.#proofSlot) this.#step?.alert.after(this.#proofSlot);
    this.dispatchEvent(new CustomEvent("dwar-login-proof", { bubbles: true, composed: true }));
  }

  /** @param {HTMLElement} button */
  async #verify(button) {
    const step = this.#step;
    if (!step) return;
    const code = codeIn(step.input.value);
    if (!code) return this.#complain({ code: "INVALID_OTP_CODE" });
    this.#listening?.abort();
    const body = { phone: this.#phone, code };
    const answer = await this.#ask(button, "verifying", "/verify", body, "identity_id");
    if (!answer) return;
    if (answer.value) return this.#finish(answer.value);
    const usedUp = USED_UP.includes(answer.code ?? "");
    if (usedUp) this.#pause.phone = "";
    if (usedUp || answer.code === "INVALID_OTP") this.#changed(step, "");
    this.#complain(answer);
    void this.#listen();
  }

  /** Reads the code from the SMS, if the browser offers that (WebOTP). */
  async #listen() {
    if (!("OTPCredential" in window) || !this.#step?.ofCode || this.#listening?.signal.aborted === false) return;
    const listening = (this.#listening = new AbortController());
    const { signal } = listening;
    const wanted = /** @type {CredentialRequestOptions} */ ({ otp: { transport: ["sms"] }, signal });
    try {
      const credential = /** @type {{ code?: string } | null} */ (await navigator.credentials.get(wanted));
      const code = codeIn(credential?.code ?? "");
      if (!code || signal.aborted || !this.#step) return;
      this.#changed(this.#step, code);
      this.#step.form.requestSubmit();
    } catch {
      // Refused, or no longer wanted: the person types.
    } finally {
      listening.abort();
    }
  }

  /** @param {string} identity_id */
  #finish(identity_id) {
    this.#leave();
    this.#forget();
    const done = make("p", { role: "status", tabindex: "-1" });
    this.#labels = [[done, "done"]];
    this.#root?.replaceChildren(done);
    this.#paint();
    done.focus();
    const options = { bubbles: true, composed: true, cancelable: true, detail: { identity_id } };
    const next = onThisOrigin(this.next);
    if (this.dispatchEvent(new CustomEvent("dwar-login", options)) && next) location.assign(next);
  }
}

if (globalThis.customElements && !customElements.get("dwar-login")) customElements.define("dwar-login", DwarLogin);
