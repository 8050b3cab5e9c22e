import type { Outcome } from "@postrider/platforms/publishing/outcome";
import { expect, test } from "vitest";
import { isAnswer } from "#src/publishing/domain/call-signals.ts";
import { closedBreaker, nextBreaker, type CallSignal } from "./breaker.ts";

const NOW = new Date("2026-11-21T12:00:00Z");
const at = (ms: number) => new Date(NOW.getTime() + ms);
const POLICY = { holdAfterUnknowns: 3, probeMs: [5_000, 30_000] };
const CLOSED = closedBreaker("x");
const unanswered: CallSignal = { isAnswered: false, accountId: "a", calledAt: at(-100) };
const ofOther: CallSignal = { ...unanswered, accountId: "b" };
const answered: CallSignal = { ...unanswered, isAnswered: true };
const HELD = nextBreaker(CLOSED, [unanswered, ofOther, unanswered], NOW, POLICY);

test("publishing to a platform is held after the configured number of publishing calls in a row with an unknown outcome", () => {
  expect(nextBreaker(CLOSED, [unanswered, ofOther], NOW, POLICY)).toMatchObject({
    unknownsInRow: 2,
    heldSince: null,
    probeAt: null,
  });
  expect(HELD).toMatchObject({ unknownsInRow: 3, heldSince: NOW, probeAt: at(5_000) });
});

test("publishing to a platform is not held when all publishing calls with an unknown outcome are of one account", () => {
  const many = Array.from({ length: 10 }, () => unanswered);
  const breaker = nextBreaker(CLOSED, many, NOW, POLICY);

  expect(breaker).toMatchObject({ unknownsInRow: 10, heldSince: null });
  expect(nextBreaker(breaker, [ofOther], NOW, POLICY)).toMatchObject({ heldSince: NOW });
});

test("an answer of the platform restarts the count of publishing calls in a row with an unknown outcome", () => {
  const breaker = nextBreaker(CLOSED, [unanswered, ofOther, answered, unanswered], NOW, POLICY);

  expect(breaker).toMatchObject({ unknownsInRow: 1, heldSince: null });
});

test("a failed probe of a held platform delays the next probe, but an unknown outcome of a call sent before the hold does not", () => {
  const probe = { ...unanswered, calledAt: at(6_000) };

  expect(nextBreaker(HELD, [unanswered], at(1_000), POLICY)).toMatchObject({
    unknownsInRow: 4,
    probeAt: at(5_000),
  });
  const once = nextBreaker(HELD, [probe], at(7_000), POLICY);
  expect(once).toMatchObject({ failedProbes: 1, heldSince: NOW, probeAt: at(37_000) });
  const twice = nextBreaker(once, [{ ...probe, calledAt: at(38_000) }], at(40_000), POLICY);
  expect(twice).toMatchObject({ failedProbes: 2, probeAt: at(70_000) });
});

test("a probe that does not show whether the held platform answers is not counted as failed, so the wait before the next probe stays the same", () => {
  const sent = { ...HELD, probeAt: at(300_000) };
  const isVoid = { ...unanswered, isAnswered: undefined, calledAt: at(6_000) };

  const after = nextBreaker(sent, [isVoid], at(7_000), POLICY);
  expect(after).toEqual({ ...HELD, probeAt: at(12_000) });
  // The time of the next probe does not change in three cases: the planned probe is earlier, the
  // call was not a probe, or the platform is not held.
  expect(nextBreaker(after, [isVoid], at(8_000), POLICY)).toEqual(after);
  expect(nextBreaker(sent, [{ ...isVoid, calledAt: at(-100) }], at(7_000), POLICY)).toEqual(sent);
  expect(nextBreaker(CLOSED, [isVoid], at(7_000), POLICY)).toEqual(CLOSED);
});

test("changing holdAfterUnknowns to 0 ends the hold of a platform after its next call", () => {
  expect(nextBreaker(HELD, [unanswered], NOW, { ...POLICY, holdAfterUnknowns: 0 })).toEqual(CLOSED);
});

test("the hold of a platform ends after any answer of the platform", () => {
  expect(nextBreaker(HELD, [answered], at(1_000), POLICY)).toEqual(CLOSED);
});

test("a platform is never held while the setting holdAfterUnknowns (calls in a row with an unknown outcome that hold a platform) is 0", () => {
  const many = Array.from({ length: 50 }, () => [unanswered, ofOther]).flat();

  expect(nextBreaker(CLOSED, many, NOW, { ...POLICY, holdAfterUnknowns: 0 }).heldSince).toBeNull();
});

test.each<[Outcome, string, boolean | undefined]>([
  [
    { kind: "published", externalId: "1", permalink: null },
    "shows that the platform answers",
    true,
  ],
  [{ kind: "pending", afterMs: 1 }, "shows that the platform answers", true],
  [
    { kind: "refused", code: "content_rejected", message: "" },
    "shows that the platform answers",
    true,
  ],
  [{ kind: "token_refused", message: "" }, "shows that the platform answers", true],
  [
    { kind: "retryable", code: "rate_limited", message: "", isLimit: true },
    "shows that the platform answers",
    true,
  ],
  [
    { kind: "retryable", code: "platform_unavailable", message: "" },
    "does not show whether the platform answers",
    undefined,
  ],
  [{ kind: "not_sent" }, "does not show whether the platform answers", undefined],
  [{ kind: "unknown", message: "" }, "counts as unanswered by the platform", false],
  [{ kind: "unknown", message: "", isAnswered: true }, "shows that the platform answers", true],
  [{ kind: "unknown", message: "", limitedForMs: 1 }, "shows that the platform answers", true],
])("a publishing call with the outcome %j %s", (outcome, _what, is) => {
  expect(isAnswer(outcome)).toBe(is);
});
