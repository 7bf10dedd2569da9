// How time is counted for the ages of keys.
import { test } from "node:test";
import assert from "node:assert/strict";
import { elapsedTime } from "../dist/clock.js";

/** Clocks that the test moves; the wall clock has whole milliseconds, as `Date.now`. */
function clocks(t) {
  const now = { monotonic: 5000, wall: 1_700_000_000_000 };
  t.mock.method(performance, "now", () => now.monotonic);
  const elapsed = elapsedTime(() => Math.floor(now.wall));
  const start = elapsed();
  const pass = (ms) => {
    now.monotonic += ms;
    now.wall += ms;
  };
  return { now, pass, elapsed: () => elapsed() - start };
}

test("however often it is asked, time does not run faster", (t) => {
  for (const callsPerMs of [0.4, 0.9, 3, 40]) {
    const { pass, elapsed } = clocks(t);
    for (let call = 0; call < 10_000; call++) {
      pass(1 / callsPerMs);
      elapsed();
    }
    assert.ok(Math.abs(elapsed() - 10_000 / callsPerMs) < 1, `${elapsed()} at ${callsPerMs} calls per ms`);
    t.mock.reset();
  }
});

test("the time that a machine slept counts", (t) => {
  const { now, pass, elapsed } = clocks(t);
  pass(1000);
  now.wall += 3_600_000;
  assert.equal(elapsed(), 3_601_000);
  pass(500);
  assert.equal(elapsed(), 3_601_500);
});

test("a clock that is set back takes nothing away, and time goes on from there", (t) => {
  const { now, pass, elapsed } = clocks(t);
  now.wall -= 7_200_000;
  pass(1000);
  assert.equal(elapsed(), 1000);
  now.wall += 310_000;
  assert.equal(elapsed(), 311_000);
});

test("a clock that drifts is followed by no more than it drifts", (t) => {
  const { now, pass, elapsed } = clocks(t);
  for (let second = 0; second < 36_000; second++) {
    pass(1000);
    now.wall += second % 2 ? 0.2 : 0;
    elapsed();
  }
  assert.ok(elapsed() >= 36_000_000 && elapsed() <= 36_003_600, String(elapsed()));
});
