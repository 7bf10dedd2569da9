// The form in pages of others: their frameworks, languages, styles and keyboards.
import assert from "node:assert/strict";
import { test } from "node:test";
import { alert, button, field, house, open, refusal, sendCode, settle, until } from "./house.mjs";

const it = house();
const FALLBACK = "<p>Scripts are needed to log in.</p>";
const label = () => it.page.locator("dwar-login label");
const sent = () => it.backend.bodies("send");
const verified = () => it.backend.bodies("verify");

test("what the page put into the element is never touched", async () => {
  await open(it);
  await it.page.evaluate(() => {
    const form = document.querySelector("dwar-login");
    window.before = [form.outerHTML, form.firstElementChild];
    window.changes = [];
    new MutationObserver((all) => window.changes.push(...all.map(({ type }) => type)))
      .observe(form, { subtree: true, childList: true, attributes: true, characterData: true });
  });
  await sendCode(it);
  await it.page.keyboard.insertText("123456");
  await it.page.getByText("You are logged in.").waitFor();
  const after = await it.page.evaluate(() => {
    const form = document.querySelector("dwar-login");
    return [window.changes, form.outerHTML === window.before[0], form.firstElementChild === window.before[1], form.innerHTML];
  });
  assert.deepEqual(after, [[], true, true, FALLBACK]);
  assert.equal(await it.page.getByText("Scripts are needed").isVisible(), false);
});

test("light-dom puts the form in place of the children", async () => {
  await open(it, { attributes: "light-dom" });
  const [root, children] = await it.page.evaluate(() => {
    const form = document.querySelector("dwar-login");
    return [form.shadowRoot, [...form.children].map(({ localName }) => localName)];
  });
  assert.equal(root, null);
  assert.deepEqual(children, ["form"]);
  assert.equal(await field(it).evaluate((input) => getComputedStyle(input).height), "48px");
  await sendCode(it);
});

test("a hidden form is hidden", async () => {
  for (const attributes of ["hidden", "hidden light-dom"]) {
    await open(it, { attributes });
    assert.equal(await it.page.locator("dwar-login").isVisible(), false);
  }
});

test("an endpoint that comes late, or changes, is the one that is asked", async () => {
  await open(it);
  await it.page.evaluate(() => document.querySelector("dwar-login").setAttribute("endpoint", "/auth/phone"));
  await sendCode(it);
  await it.page.evaluate(() => (document.querySelector("dwar-login").endpoint = "/other/"));
  await it.page.locator("dwar-login [type=tel]").waitFor();
  await sendCode(it);
  assert.deepEqual(it.backend.asked.map(({ path }) => path), ["/auth/phone/send", "/other/send"]);
});

test("an endpoint that becomes one of another origin is an error, and nothing can be sent", async () => {
  it.expected = ["dwar-login: endpoint has to be a path of this origin"];
  await open(it);
  await it.page.evaluate(() => document.querySelector("dwar-login").setAttribute("endpoint", "https://evil.example/login"));
  await until(() => assert.deepEqual(it.faults, it.expected));
  assert.equal(await field(it).count(), 0);
  await it.page.evaluate(() => document.querySelector("dwar-login").setAttribute("endpoint", "/login"));
  assert.equal(await field(it).count(), 1);
});

test("properties are attributes, also those that were set before the module came", async () => {
  await open(it);
  const found = await it.page.evaluate(() => {
    const form = document.createElement("dwar-login");
    const before = [form.endpoint, form.next];
    Object.assign(form, { endpoint: "/auth", next: "/account" });
    const early = document.createElement("dwar-login");
    Object.defineProperty(early, "endpoint", { value: "/early", configurable: true, writable: true, enumerable: true });
    document.body.append(early);
    const after = [form.getAttribute("endpoint"), form.getAttribute("next"), early.getAttribute("endpoint"), early.endpoint];
    form.next = undefined;
    return [before, after, form.hasAttribute("next")];
  });
  assert.deepEqual(found, [[null, null], ["/auth", "/account", "/early", "/early"], false]);
});

test("the language follows the page, with what was typed, said and counted", async () => {
  it.backend.play({ verify: [refusal(400, "INVALID_OTP")] });
  await open(it);
  await sendCode(it);
  await it.page.keyboard.insertText("654321");
  await alert(it).getByText("not correct").waitFor();
  await it.page.keyboard.type("12");
  await field(it).press("Enter");
  await it.page.evaluate(() => (document.documentElement.lang = "hi"));
  await label().getByText("6 अंकों का OTP").waitFor();
  assert.equal(await alert(it).textContent(), "कृपया OTP के सभी 6 अंक डालें।");
  assert.match(await button(it, "दोबारा भेजें").textContent(), /^दोबारा भेजें \(0:\d\d\)$/);
  assert.match(await it.page.locator("dwar-login form p").first().textContent(), /^\+91\s98765\s43210 पर/);
  assert.equal(await field(it).inputValue(), "12");
  assert.equal(await it.page.locator("dwar-login form").getAttribute("lang"), "hi");
  assert.equal(await it.page.locator("dwar-login input:focus").count(), 1);
  await it.page.evaluate(() => (document.querySelector("dwar-login").lang = "en"));
  await label().getByText("6-digit OTP").waitFor();
});

test("the language of an element outside of shadow roots counts, and is followed", async () => {
  await open(it);
  await it.page.evaluate(() => {
    document.querySelector("dwar-login").remove();
    let at = document.body.appendChild(document.createElement("section"));
    at.lang = "hi-IN";
    for (let depth = 0; depth < 2; depth++) {
      at = at.attachShadow({ mode: "open" }).appendChild(document.createElement("div"));
    }
    at.append(document.createElement("dwar-login"));
  });
  await label().getByText("मोबाइल नंबर").waitFor();
  await it.page.evaluate(() => (document.querySelector("section").lang = "en"));
  await label().getByText("Mobile number").waitFor();
  await it.page.evaluate(() => (document.querySelector("section").shadowRoot.querySelector("div").lang = "hi"));
  await label().getByText("मोबाइल नंबर").waitFor();
});

test("the language follows where the form is moved to", async () => {
  await open(it);
  await it.page.evaluate(() => {
    const hindi = document.body.appendChild(document.createElement("div"));
    hindi.lang = "hi";
    hindi.append(document.querySelector("dwar-login"));
  });
  await label().getByText("मोबाइल नंबर").waitFor();
});

for (const attributes of ["", "light-dom"]) {
  test(`in forced colours each button has an edge ${attributes}`, async () => {
    await it.page.emulateMedia({ forcedColors: "active" });
    try {
      await open(it, { attributes });
      const edges = () => it.page.locator("dwar-login button").evaluateAll((all) => all.map((button) => {
        const { borderTopWidth, borderTopColor, backgroundColor, color } = getComputedStyle(button);
        const page = getComputedStyle(document.documentElement).backgroundColor;
        return [borderTopWidth, borderTopColor !== page && borderTopColor !== backgroundColor, color !== backgroundColor];
      }));
      assert.deepEqual(await edges(), [["1px", true, true]]);
      await sendCode(it);
      assert.deepEqual(await edges(), Array(3).fill(["1px", true, true]));
    } finally {
      await it.page.emulateMedia({ forcedColors: "none" });
    }
  });
}

/** Types as a keyboard does that composes, one more character at a time. */
async function compose(text) {
  const session = await it.context.newCDPSession(it.page);
  for (let length = 1; length <= text.length; length++) {
    await session.send("Input.imeSetComposition", { text: text.slice(0, length), selectionStart: length, selectionEnd: length });
    assert.equal(await field(it).inputValue(), text.slice(0, length), "the text of a composition is the keyboard's");
  }
  return () => session.send("Input.insertText", { text });
}

test("what is composed is left alone until it is done: a number", async () => {
  await open(it);
  await field(it).focus();
  const done = await compose("९८७६५४३२१०");
  await done();
  assert.equal(await field(it).inputValue(), "9876543210");
  await field(it).press("Enter");
  await until(() => assert.deepEqual(sent(), [{ phone: "9876543210" }]));
});

test("what is composed is left alone until it is done: a code, which nothing submits", async () => {
  await open(it);
  await sendCode(it);
  const done = await compose("१२३४५६");
  await done();
  await settle(it);
  assert.equal(await field(it).inputValue(), "123456");
  assert.deepEqual(verified(), []);
  await field(it).press("Enter");
  await until(() => assert.deepEqual(verified(), [{ phone: "9876543210", code: "123456" }]));
});

test("a code that a keyboard suggests and composes at once is submitted when it is done", async () => {
  await open(it);
  await sendCode(it);
  const session = await it.context.newCDPSession(it.page);
  await session.send("Input.imeSetComposition", { text: "123456", selectionStart: 6, selectionEnd: 6 });
  await settle(it);
  assert.deepEqual(verified(), []);
  await field(it).blur();
  await until(() => assert.deepEqual(verified(), [{ phone: "9876543210", code: "123456" }]));
});

test("Chromium's own autofill fills in the number, in the shadow root", async () => {
  await open(it);
  await field(it).focus();
  const session = await it.context.newCDPSession(it.page);
  await session.send("DOM.enable");
  await session.send("Autofill.enable");
  const { result } = await session.send("Runtime.evaluate", {
    expression: 'document.querySelector("dwar-login").shadowRoot.querySelector("input")',
  });
  const { node } = await session.send("DOM.describeNode", { objectId: result.objectId });
  const fields = [{ name: "PHONE_HOME_WHOLE_NUMBER", value: "+919876543210" }, { name: "ADDRESS_HOME_COUNTRY", value: "IN" }];
  await session.send("Autofill.trigger", { fieldId: node.backendNodeId, address: { fields } });
  await until(async () => assert.equal(await field(it).inputValue(), "9876543210"));
  assert.equal(await field(it).evaluate((input) => input.matches(":autofill")), true);
});
