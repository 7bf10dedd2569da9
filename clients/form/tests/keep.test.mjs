// The step of the code stays while a tab is reloaded, left and come back to, and while a page moves the form.
import assert from "node:assert/strict";
import { test } from "node:test";
import { SENT, VERIFIED, alert, button, field, hold, house, open, refusal, sendCode, settle, stopClock, until } from "./house.mjs";

const it = house();
const ofCode = () => it.page.locator("dwar-login [autocomplete=one-time-code]");
const ofPhone = () => it.page.locator("dwar-login [type=tel]");
const kept = () => it.page.evaluate(() => ({ ...sessionStorage }));
const KEY = () => `dwar-login ${it.backend.origin}/login`;
/** Sets the clock of the device; the page's timers go on. */
const setClock = (seconds) => it.page.evaluate((seconds) => {
  const now = Date.now.bind(Date);
  Date.now = () => now() + seconds * 1000;
}, seconds);

test("a reload shows the step of the code again, and the code logs in", async () => {
  await open(it);
  await sendCode(it);
  await it.page.reload();
  await ofCode().waitFor();
  assert.match(await it.page.locator("dwar-login form p").first().textContent(), /WhatsApp or SMS to \+91\s98765\s43210/);
  assert.match(await button(it, "Send again").textContent(), /\(0:(29|30)\)/);
  await field(it).focus();
  await it.page.keyboard.insertText("123456");
  await it.page.getByText("You are logged in.").waitFor();
  assert.deepEqual(it.backend.bodies("verify"), [{ phone: "9876543210", code: "123456" }]);
  assert.equal(it.backend.bodies("send").length, 1);
});

test("coming back to the page shows the step of the code again", async () => {
  await open(it);
  await sendCode(it);
  await it.page.goto(`${it.backend.origin}/page.css`);
  await it.page.goBack();
  await ofCode().waitFor();
});

test("the number alone is kept, and when it was sent a code", async () => {
  await open(it);
  await sendCode(it);
  await it.page.keyboard.type("12345");
  const all = await kept();
  assert.deepEqual(Object.keys(all), [KEY()]);
  const { sent, ...rest } = JSON.parse(all[KEY()]);
  assert.deepEqual(rest, { phone: "9876543210", expires_in: 600 });
  assert.ok(Math.abs(Date.now() - sent) < 60_000);
  assert.deepEqual(await it.page.evaluate(() => [document.cookie, { ...localStorage }, history.state]), ["", {}, null]);
});

test("it is forgotten by the login, and by a change of the number", async () => {
  await open(it);
  await sendCode(it);
  await button(it, "Change number").click();
  assert.deepEqual(await kept(), {});
  await it.page.reload();
  await ofPhone().waitFor();
  await sendCode(it, "9876543211");
  await it.page.keyboard.insertText("123456");
  await it.page.getByText("You are logged in.").waitFor();
  assert.deepEqual(await kept(), {});
  await it.page.reload();
  await ofPhone().waitFor();
});

for (const [expires_in, lasts] of [[120, 120], [undefined, 600], [-1, 600], ["600", 600], [1e9, 600]]) {
  test(`it is forgotten when the code has expired: expires_in is ${JSON.stringify(expires_in)}`, async () => {
    await stopClock(it);
    it.backend.play({ send: [{ body: { ...SENT.body, expires_in } }] });
    await open(it);
    await sendCode(it);
    await it.page.clock.runFor((lasts - 1) * 1000);
    assert.equal(Object.keys(await kept()).length, 1);
    await it.page.clock.runFor(1000);
    assert.deepEqual(await kept(), {});
  });
}

test("a tab that is opened again after the code has expired asks for the number", async () => {
  await open(it);
  await sendCode(it);
  await it.page.evaluate((key) => {
    const { sent, ...rest } = JSON.parse(sessionStorage[key]);
    sessionStorage[key] = JSON.stringify({ ...rest, sent: sent - 600_000 });
  }, KEY());
  await it.page.reload();
  await ofPhone().waitFor();
  assert.deepEqual(await kept(), {});
});

const NOW = Date.now();
for (const value of [
  "", "{", "null", "7", "{}", '{"phone":"9876543210"}', `{"phone":"<b>","sent":${NOW},"expires_in":600}`,
  `{"phone":"98765432101","sent":${NOW},"expires_in":600}`, `{"phone":"9876543210","sent":${NOW},"expires_in":1e9}`,
  `{"phone":"9876543210","sent":${NOW + 7.2e6},"expires_in":600}`, `{"phone":["9876543210"],"sent":"x","expires_in":"y"}`,
]) {
  test(`what the form did not write is forgotten: ${value}`, async () => {
    await open(it);
    await it.page.evaluate(([key, value]) => sessionStorage.setItem(key, value), [KEY(), value]);
    await it.page.reload();
    await ofPhone().waitFor();
    assert.deepEqual(await kept(), value === "" ? { [KEY()]: "" } : {});
  });
}

test("a browser that refuses the storage gets a form that works", async () => {
  it.spent = true;
  await it.page.addInitScript(() => Object.defineProperty(window, "sessionStorage", {
    get() {
      throw new DOMException("The operation is insecure.", "SecurityError");
    },
  }));
  await it.page.goto(`${it.backend.origin}/`);
  await sendCode(it);
  await it.page.keyboard.insertText("123456");
  await it.page.getByText("You are logged in.").waitFor();
});

test("forms of two backends do not share a number", async () => {
  await open(it);
  await sendCode(it);
  await it.page.evaluate(() => {
    const other = document.createElement("dwar-login");
    other.setAttribute("endpoint", "/other");
    document.body.append(other);
  });
  assert.equal(await ofPhone().count(), 1);
  assert.equal(await ofCode().count(), 1);
});

for (const [how, attributes] of [["append", ""], ["append", "light-dom"], ["moveBefore", ""]]) {
  test(`a form that is moved by ${how} ${attributes} goes on, with what was typed and what was asked`, async () => {
    const { held, release } = hold();
    it.backend.play({ verify: [{ ...VERIFIED, held }] });
    await open(it, { attributes });
    await sendCode(it);
    await it.page.keyboard.type("12345");
    const move = () => it.page.evaluate((how) => {
      const form = document.querySelector("dwar-login");
      if (how === "append") document.body.append(form);
      else document.body.moveBefore(form, null);
    }, how);
    await move();
    assert.equal(await field(it).inputValue(), "12345");
    assert.equal(await button(it, "Send again").isDisabled(), true);
    await field(it).focus();
    await it.page.keyboard.type("6");
    await it.page.keyboard.press("Enter");
    await until(() => assert.equal(it.backend.bodies("verify").length, 1));
    await move();
    release();
    await it.page.getByText("You are logged in.").waitFor();
    await move();
    await it.page.getByText("You are logged in.").waitFor();
    assert.equal(it.backend.bodies("send").length, 1);
  });
}

test("a form that is taken out stops asking, and goes on when it is put in again", async () => {
  const { held, release } = hold();
  it.backend.play({ verify: [{ ...refusal(400, "INVALID_OTP"), held }, VERIFIED] });
  await open(it);
  await sendCode(it);
  await it.page.keyboard.insertText("654321");
  await until(() => assert.equal(it.backend.bodies("verify").length, 1));
  await it.page.evaluate(() => (window.form = document.querySelector("dwar-login")).remove());
  release();
  await settle(it);
  await it.page.evaluate(() => document.body.append(window.form));
  assert.equal(await alert(it).textContent(), "");
  await field(it).fill("");
  await it.page.keyboard.insertText("123456");
  await it.page.getByText("You are logged in.").waitFor();
});

test("another element in its place shows the same step", async () => {
  await open(it);
  await sendCode(it);
  await it.page.evaluate(() => document.querySelector("dwar-login").replaceWith(document.createElement("dwar-login")));
  await ofCode().waitFor();
});

for (const seconds of [-7200, 7200]) {
  test(`a clock that is set by ${seconds} seconds makes nobody wait longer`, async () => {
    await stopClock(it);
    await open(it);
    await sendCode(it);
    await setClock(seconds);
    await it.page.clock.runFor(1000);
    assert.equal(await button(it, "Send again").textContent(), seconds < 0 ? "Send again (0:29)" : "Send again");
  });
}
