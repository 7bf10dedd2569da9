// The proof that a backend asks for: what the page shows, and what is sent.
import assert from "node:assert/strict";
import { test } from "node:test";
import { SENT, alert, button, field, focused, hold, house, open, refusal, sendCode, settle, stopClock, until } from "./house.mjs";

const it = house();
const ASKED = refusal(403, "PROOF_REQUIRED");
const sent = () => it.backend.bodies("send");
const question = () => it.page.locator("#question");
const asked = () => it.page.evaluate(() => window.asked);
const prove = (proof) => it.page.evaluate((proof) => void (document.querySelector("dwar-login").proof = proof), proof);

/** A page that has a question in the form, and counts how often it is told to ask. */
async function openWithQuestion(options) {
  await open(it, options);
  await it.page.evaluate(() => {
    const question = Object.assign(document.createElement("p"), { id: "question", slot: "proof", textContent: "Are you?" });
    document.querySelector("dwar-login").append(question);
    window.asked = 0;
    document.addEventListener("dwar-login-proof", ({ target }) => (window.asked += target.localName === "dwar-login"));
  });
}

async function send() {
  await field(it).fill("9876543210");
  await field(it).press("Enter");
}

test("the page's question is shown once the backend asks, and its answer sends again", async () => {
  it.backend.play({ send: [ASKED, SENT] });
  await openWithQuestion();
  assert.equal(await question().isVisible(), false);
  await send();
  await alert(it).getByText("Confirm first that you are a person.").waitFor();
  assert.equal(await question().isVisible(), true);
  assert.equal(await asked(), 1);
  assert.equal(await (await focused(it)).evaluate(({ localName }) => localName), "input");
  await prove("right");
  await it.page.locator("[autocomplete=one-time-code]").waitFor();
  assert.deepEqual(sent(), [{ phone: "9876543210" }, { phone: "9876543210", proof: "right" }]);
  assert.equal(await question().isVisible(), false);
});

test("a proof is sent once, and the page is asked for another", async () => {
  it.backend.play({ send: [ASKED, ASKED, ASKED, SENT] });
  await openWithQuestion();
  await send();
  await until(async () => assert.equal(await asked(), 1));
  await prove("used");
  await until(async () => assert.equal(await asked(), 2));
  await button(it, "Send OTP").click();
  await until(async () => assert.equal(await asked(), 3));
  await prove("fresh");
  await it.page.locator("[autocomplete=one-time-code]").waitFor();
  assert.deepEqual(sent().map(({ proof }) => proof), [undefined, "used", undefined, "fresh"]);
});

test("a proof that comes before it is asked for waits for the person", async () => {
  await openWithQuestion();
  await prove("early");
  await settle(it);
  assert.deepEqual(sent(), []);
  await sendCode(it);
  assert.deepEqual(sent(), [{ phone: "9876543210", proof: "early" }]);
});

test("a proof that comes while a code is sent is kept for the next", async () => {
  const { held, release } = hold();
  it.backend.play({ send: [{ ...ASKED, held }, SENT] });
  await openWithQuestion();
  await send();
  await until(() => assert.equal(sent().length, 1));
  await prove("meanwhile");
  release();
  await until(async () => assert.equal(await asked(), 1));
  await button(it, "Send OTP").click();
  await it.page.locator("[autocomplete=one-time-code]").waitFor();
  assert.deepEqual(sent().map(({ proof }) => proof), [undefined, "meanwhile"]);
});

test("another code needs a proof of its own", async () => {
  it.backend.play({ send: [SENT, ASKED, SENT] });
  await stopClock(it);
  await openWithQuestion();
  await sendCode(it);
  await it.page.clock.runFor(31_000);
  await button(it, "Send again").click();
  await alert(it).getByText("Confirm first").waitFor();
  assert.equal(await question().isVisible(), true);
  await prove("right");
  await it.page.getByText("We have sent a new OTP").waitFor();
  assert.equal(sent().at(-1).proof, "right");
});

test("without a shadow root the question is taken into the form", async () => {
  it.backend.play({ send: [ASKED, SENT] });
  await open(it);
  await it.page.evaluate(() => {
    document.querySelector("dwar-login").remove();
    const form = document.createElement("dwar-login");
    form.setAttribute("light-dom", "");
    form.append(Object.assign(document.createElement("p"), { id: "question", slot: "proof", textContent: "Are you?" }));
    document.querySelector("main").append(form);
  });
  assert.equal(await question().count(), 0);
  await send();
  await question().waitFor();
  assert.equal(await question().evaluate((shown) => !!shown.closest("dwar-login > form")), true);
  await prove("right");
  await it.page.locator("[autocomplete=one-time-code]").waitFor();
});

test("a person who reads Hindi is asked in Hindi", async () => {
  it.backend.play({ send: [ASKED] });
  await openWithQuestion({ lang: "hi" });
  await send();
  await alert(it).getByText("कृपया पहले पुष्टि करें कि आप इंसान हैं।").waitFor();
});
