import type { Outcome } from "@postrider/platforms/publishing/outcome";
import { expect, test } from "vitest";
import { isAnswer, nextBrake, releasedBrake, type CallSignal } from "./platform-brake.ts";

const NOW = new Date("2026-11-21T12:00:00Z");
const at = (ms: number) => new Date(NOW.getTime() + ms);
const POLICY = { holdAfterUnknowns: 3, probeMs: [5_000, 30_000] };
const OPEN = releasedBrake("x");
const unanswered: CallSignal = { isAnswered: false, calledAt: at(-100) };
const answered: CallSignal = { isAnswered: true, calledAt: at(-100) };
const HELD = nextBrake(OPEN, [unanswered, unanswered, unanswered], NOW, POLICY);

test("a platform is held after the configured number of calls in a row with an unknown outcome", () => {
  expect(nextBrake(OPEN, [unanswered, unanswered], NOW, POLICY)).toMatchObject({
    unknownsInRow: 2,
    heldSince: null,
    probeAt: null,
  });
  expect(HELD).toMatchObject({ unknownsInRow: 3, heldSince: NOW, probeAt: at(5_000) });
});

test("an answer between two calls with an unknown outcome starts the count again", () => {
  const brake = nextBrake(OPEN, [unanswered, unanswered, answered, unanswered], NOW, POLICY);

  expect(brake).toMatchObject({ unknownsInRow: 1, heldSince: null });
});

test("a failed probe delays the next probe, and an unknown outcome of a call that was sent before the hold does not", () => {
  const probe = { isAnswered: false, calledAt: at(6_000) };

  expect(nextBrake(HELD, [unanswered], at(1_000), POLICY)).toMatchObject({
    unknownsInRow: 4,
    probeAt: at(5_000),
  });
  const once = nextBrake(HELD, [probe], at(7_000), POLICY);
  expect(once).toMatchObject({ failedProbes: 1, heldSince: NOW, probeAt: at(37_000) });
  const twice = nextBrake(once, [{ ...probe, calledAt: at(38_000) }], at(40_000), POLICY);
  expect(twice).toMatchObject({ failedProbes: 2, probeAt: at(70_000) });
});

test("any answer of a held platform releases it", () => {
  expect(nextBrake(HELD, [answered], at(1_000), POLICY)).toEqual(OPEN);
});

test("a platform is never held when the number of calls is 0", () => {
  const many = Array.from({ length: 100 }, () => unanswered);

  expect(nextBrake(OPEN, many, NOW, { ...POLICY, holdAfterUnknowns: 0 }).heldSince).toBeNull();
});

test.each<[Outcome, boolean | undefined]>([
  [{ kind: "published", externalId: "1", permalink: null }, true],
  [{ kind: "pending", afterMs: 1 }, true],
  [{ kind: "refused", code: "content_rejected", message: "" }, true],
  [{ kind: "token_refused", message: "" }, true],
  [{ kind: "retryable", code: "rate_limited", message: "", isLimit: true }, true],
  [{ kind: "retryable", code: "platform_unavailable", message: "" }, undefined],
  [{ kind: "not_sent" }, undefined],
  [{ kind: "unknown", message: "" }, false],
])("whether the platform answered a publishing call with the outcome %j is %s", (outcome, is) => {
  expect(isAnswer(outcome)).toBe(is);
});
