import { expect, test } from "vitest";
import { createLateNudge } from "./loop.ts";

test("a late nudge does nothing before a loop is attached, and nudges the loop afterwards", () => {
  let nudges = 0;
  const late = createLateNudge();
  const { nudge } = late;

  nudge();
  expect(nudges).toBe(0);

  late.attach({ nudge: () => (nudges += 1) });
  nudge();
  expect(nudges).toBe(1);
});
