import type { Outcome } from "@postrider/platforms/publishing/outcome";
import type { Verdict } from "@postrider/platforms/publishing/verdict";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decide } from "./decide.ts";
import type { Happening, Situation } from "./decision.ts";
import type { RetryPolicy } from "./retry-policy.ts";
import { settle } from "./settle.ts";
import type { Attempt, Task, TaskStatus } from "./task.ts";

const NOW = new Date("2026-11-21T12:00:00Z");
const at = (ms: number) => new Date(NOW.getTime() + ms);
const POLICY: RetryPolicy = {
  retryMs: [60_000, 300_000],
  leaseMs: 60_000,
  accountPauseMs: [60_000],
};

const CALLING: Task = {
  targetId: "t",
  generation: 1,
  workspaceId: "w",
  postId: "p",
  accountId: "a",
  platform: "x",
  status: "calling",
  wakeAt: at(50_000),
  dueAt: at(-60_000),
  publishBefore: at(86_400_000),
  fence: 3,
  crashCount: 0,
  attemptNumber: 1,
  isAttemptOpen: true,
  retryCount: 0,
  unknownCount: 0,
  openUnknowns: 0,
  resendCount: 0,
  looks: 0,
  isLimited: false,
  isRestored: false,
  callNumber: 1,
  firstUnknownAt: null,
  calledAt: at(-10_000),
  callUntil: at(50_000),
  version: 5,
  externalId: null,
  permalink: null,
  publishedAt: null,
  errorCode: null,
  errorMessage: null,
};
const WORKING: Task = { ...CALLING, status: "working" };
const UNKNOWN: Task = {
  ...CALLING,
  status: "unknown",
  wakeAt: at(-5_000),
  callUntil: at(-5_000),
  isAttemptOpen: false,
  unknownCount: 1,
  openUnknowns: 1,
  firstUnknownAt: at(-65_000),
  calledAt: at(-65_000),
  errorCode: "outcome_unknown",
  errorMessage: "timeout",
};
const RECONCILING: Task = { ...UNKNOWN, status: "reconciling" };
const FAILED_UNKNOWN: Task = { ...UNKNOWN, status: "failed" };
const PUBLISHED: Task = {
  ...CALLING,
  status: "published",
  isAttemptOpen: false,
  externalId: "1",
  publishedAt: at(-1000),
};

const ATTEMPT: Attempt = {
  targetId: "t",
  number: 1,
  callNumber: 1,
  startedAt: at(-11_000),
  finishedAt: null,
  outcome: null,
  code: "",
  message: "",
  externalId: null,
  permalink: null,
  isNotSent: false,
};

function situation(task: Task, given: Partial<Situation> = {}): Situation {
  return { task, siblings: [], attempt: ATTEMPT, now: NOW, random: 0.5, ...given };
}

function called(outcome: Outcome, callNumber = 1): Happening {
  return { kind: "called", callNumber, outcome };
}

function looked(verdict: Verdict, maxResends = 1): Happening {
  return { kind: "looked", fence: 3, verdict, maxResends };
}

/** What changes in the task itself, and whether it is told. */
function after(task: Task, happening: Happening, given: Partial<Situation> = {}) {
  const decision = decide(situation(task, given), happening, POLICY);
  const [own] = decision.changes.filter(
    ({ task: { generation } }) => generation === task.generation,
  );
  return { ...own?.task, isReported: own?.isReported, attempt: decision.attempt?.outcome };
}

const published: Outcome = { kind: "published", externalId: "1", permalink: "https://x/1" };
const refused: Outcome = { kind: "refused", code: "content_rejected", message: "no" };
const suspended: Outcome = { kind: "refused", code: "account_action_needed", message: "no" };
const duplicate: Outcome = { kind: "refused", code: "duplicate_on_platform", message: "again" };
const retryable: Outcome = { kind: "retryable", code: "platform_unavailable", message: "away" };
const waiting: Outcome = { ...retryable, retryAfterMs: 7_000 };
const limited: Outcome = { ...retryable, code: "rate_limited", isLimit: true, retryAfterMs: 9_000 };
const unknown: Outcome = { kind: "unknown", message: "timeout" };
const tokenRefused: Outcome = { kind: "token_refused", message: "expired" };
const notSent: Outcome = { kind: "not_sent" };

test("an id that comes later is asked for once the target is recorded as published", () => {
  const askLater = { publishId: "p1" };
  const present: Verdict = { kind: "present", externalId: null, permalink: null, askLater };
  expect(decide(situation(RECONCILING), looked(present), POLICY).askLater).toEqual(askLater);
  const rival = { ...PUBLISHED, generation: 2 };
  const superfluous = situation(RECONCILING, { siblings: [rival] });
  expect(decide(superfluous, looked(present), POLICY).askLater).toBeUndefined();
});

describe("what a call came to in time", () => {
  test.each<[string, Outcome, object]>([
    [
      "published",
      published,
      { status: "published", externalId: "1", publishedAt: NOW, attempt: "published" },
    ],
    ["refused", refused, { status: "failed", errorCode: "content_rejected", attempt: "failed" }],
    [
      "retryable",
      retryable,
      { status: "queued", wakeAt: at(60_000), retryCount: 1, attempt: "retry" },
    ],
    ["retryable with a wait", waiting, { status: "queued", wakeAt: at(7_000), attempt: "retry" }],
    [
      "a limit",
      limited,
      { status: "queued", wakeAt: at(9_000), retryCount: 0, isAttemptOpen: true, attempt: null },
    ],
    [
      "unknown",
      unknown,
      {
        status: "unknown",
        wakeAt: at(50_000),
        openUnknowns: 1,
        firstUnknownAt: at(-10_000),
        attempt: "unknown",
      },
    ],
    ["token refused", tokenRefused, { status: "working", wakeAt: at(60_000), isReported: false }],
    [
      "not sent",
      notSent,
      { status: "queued", wakeAt: NOW, isAttemptOpen: true, isReported: false, attempt: null },
    ],
  ])("%s", (_name, outcome, expected) => {
    expect(after(CALLING, called(outcome))).toMatchObject({
      version: 6,
      isReported: true,
      ...expected,
    });
  });

  test("the last retry used up fails with the last code", () => {
    expect(after({ ...CALLING, retryCount: 2 }, called(retryable))).toMatchObject({
      status: "failed",
      errorCode: "platform_unavailable",
      attempt: "failed",
    });
  });

  test("a wait beyond publish_before fails at once", () => {
    const task = { ...CALLING, publishBefore: at(5_000) };
    expect(after(task, called(waiting))).toMatchObject({ status: "failed" });
    expect(after(task, called(limited))).toMatchObject({
      status: "failed",
      errorCode: "rate_limited",
    });
  });

  test("a duplicate is a plain refusal unless an earlier call may have made it", () => {
    expect(after(CALLING, called(duplicate))).toMatchObject({ status: "failed" });
    expect(after({ ...CALLING, unknownCount: 1 }, called(duplicate))).toMatchObject({
      status: "unknown",
    });
  });

  test("while an earlier call may be visible only a refusal of the content is definite", () => {
    const task = { ...CALLING, openUnknowns: 1 };
    expect(after(task, called(suspended))).toMatchObject({
      errorCode: "outcome_unknown",
      errorMessage: "account_action_needed: no",
      openUnknowns: 1,
    });
    expect(after(task, called(refused))).toMatchObject({ errorCode: "content_rejected" });
  });
});

describe("what a call came to when nobody waited any more", () => {
  const told: Attempt = { ...ATTEMPT, outcome: "unknown", finishedAt: at(-5_000) };

  test.each([UNKNOWN, RECONCILING, FAILED_UNKNOWN])("$status: published is adopted", (task) => {
    expect(after(task, called(published), { attempt: told })).toMatchObject({
      status: "published",
      externalId: "1",
      errorCode: null,
      openUnknowns: 0,
    });
  });

  test.each([UNKNOWN, RECONCILING, FAILED_UNKNOWN])("$status: not sent proves absence", (task) => {
    expect(after(task, called(notSent), { attempt: told })).toMatchObject({
      status: "queued",
      openUnknowns: 0,
      attempt: "retry",
    });
  });

  test.each([UNKNOWN, RECONCILING, FAILED_UNKNOWN])("$status: a refusal is the answer", (task) => {
    expect(after(task, called(suspended), { attempt: told })).toMatchObject({
      status: "failed",
      errorCode: "account_action_needed",
    });
  });

  test("a late limit ends the attempt that was told as unknown", () => {
    expect(after(UNKNOWN, called(limited), { attempt: told })).toMatchObject({
      status: "queued",
      isAttemptOpen: false,
      attempt: "retry",
    });
  });

  test("a failed target that opens again waits until its owner has heard of it", () => {
    expect(after(FAILED_UNKNOWN, called(notSent), { attempt: told })).toMatchObject({
      wakeAt: at(5_000),
    });
    expect(after(UNKNOWN, called(notSent), { attempt: told })).toMatchObject({ wakeAt: NOW });
  });

  test("a target that failed for another reason stays failed", () => {
    const task: Task = { ...PUBLISHED, status: "failed", errorCode: "content_rejected" };
    expect(decide(situation(task), called(notSent), POLICY).changes).toEqual([]);
  });

  test("a generation that has been replaced stays as it is", () => {
    const siblings = [{ ...WORKING, generation: 2 }];
    const decision = decide(
      situation(UNKNOWN, { siblings, attempt: told }),
      called(notSent),
      POLICY,
    );
    expect(decision).toMatchObject({ changes: [], attempt: { outcome: "retry", isNotSent: true } });
  });
});

describe("a call that the platform is at work on", () => {
  const pending: Outcome = { kind: "pending", afterMs: 30_000 };

  test("is asked about, and is no unknown outcome to people", () => {
    expect(after(CALLING, called(pending))).toMatchObject({
      status: "unknown",
      wakeAt: at(30_000),
      errorCode: null,
      isAttemptOpen: true,
      openUnknowns: 1,
      unknownCount: 0,
      isReported: true,
      attempt: null,
    });
  });

  test("decides nothing when it is said late", () => {
    expect(decide(situation(UNKNOWN), called(pending), POLICY)).toEqual({ changes: [] });
  });

  const withHandles: Outcome = { ...pending, handles: { publishId: "p1" } };

  test("keeps what the platform returned together with the fact", () => {
    const decision = decide(situation(CALLING), called(withHandles), POLICY);
    expect(decision.handles).toEqual({ publishId: "p1" });
    const { handles } = settle(
      { tasks: [CALLING], attempts: [ATTEMPT], now: NOW },
      [{ targetId: "t", generation: 1, attemptNumber: 1, happening: called(withHandles) }],
      POLICY,
      () => 0.5,
    );
    expect(handles).toEqual([{ task: CALLING, handles: { publishId: "p1" } }]);
  });

  test.each([UNKNOWN, RECONCILING, FAILED_UNKNOWN])(
    "that comes late is looked at with what it returned",
    (task) => {
      expect(after(task, called(withHandles))).toMatchObject({
        status: "unknown",
        wakeAt: at(30_000),
        openUnknowns: 1,
        errorCode: null,
      });
      expect(decide(situation(task), called(withHandles), POLICY).handles).toEqual({
        publishId: "p1",
      });
    },
  );

  test("ended by the platform while an older call is open, it may still be visible", () => {
    const task = { ...RECONCILING, openUnknowns: 2 };
    const verdict = { kind: "refused", code: "permission_missing", message: "no" } as const;
    expect(after(task, looked(verdict))).toMatchObject({ errorCode: "outcome_unknown" });
  });
});

describe("two successes", () => {
  test("the same id twice changes nothing", () => {
    expect(decide(situation(PUBLISHED), called(published), POLICY).changes).toEqual([]);
  });

  test("another id shows duplicate_detected and stays published", () => {
    const second: Outcome = { kind: "published", externalId: "2", permalink: null };
    expect(after(PUBLISHED, called(second))).toMatchObject({
      status: "published",
      externalId: "1",
      errorCode: "duplicate_detected",
      attempt: "published",
    });
  });

  test("the success of another generation is the target's, and shows the duplicate", () => {
    const rival = { ...PUBLISHED, generation: 2, externalId: "2" };
    const { changes } = decide(
      situation(UNKNOWN, { siblings: [rival] }),
      called(published),
      POLICY,
    );
    expect(changes).toMatchObject([
      { task: { generation: 1, status: "dropped" }, isReported: false },
      {
        task: { generation: 2, status: "published", errorCode: "duplicate_detected" },
        isReported: true,
      },
    ]);
  });

  test("a success drops the generations that have not begun their call", () => {
    const siblings = (["queued", "working", "calling"] as const).map((status, index) => ({
      ...CALLING,
      status,
      generation: index + 2,
    }));
    const { changes } = decide(situation(CALLING, { siblings }), called(published), POLICY);
    expect(changes.map(({ task: { generation, status } }) => [generation, status])).toEqual([
      [1, "published"],
      [2, "dropped"],
      [3, "dropped"],
    ]);
  });
});

describe("what a look leads to", () => {
  test.each<[string, Verdict, object]>([
    [
      "present",
      { kind: "present", externalId: "9", permalink: null },
      { status: "published", externalId: "9" },
    ],
    [
      "absent",
      { kind: "absent" },
      { status: "queued", resendCount: 1, openUnknowns: 0, wakeAt: NOW },
    ],
    ["repeat", { kind: "repeat" }, { status: "queued", openUnknowns: 1, wakeAt: NOW }],
    ["again", { kind: "look_again", afterMs: 5 }, { status: "unknown", looks: 1, wakeAt: at(5) }],
    [
      "incomplete",
      { kind: "look_again", afterMs: 5, isIncomplete: true },
      { status: "unknown", looks: 0, wakeAt: at(5) },
    ],
    [
      "cannot tell",
      { kind: "cannot_tell", message: "" },
      { status: "failed", errorCode: "outcome_unknown" },
    ],
    [
      "ended by the platform",
      { kind: "refused", code: "permission_missing", message: "no" },
      { status: "failed", errorCode: "permission_missing", openUnknowns: 0 },
    ],
  ])("%s", (_name, verdict, expected) => {
    expect(after(RECONCILING, looked(verdict))).toMatchObject(expected);
  });

  test("absence after the last resend cannot be told", () => {
    expect(after({ ...RECONCILING, resendCount: 1 }, looked({ kind: "absent" }))).toMatchObject({
      status: "failed",
      errorCode: "outcome_unknown",
    });
  });

  test("what a restore put in doubt is sent after its absence, and then is a call like any other", () => {
    const restored = { ...RECONCILING, isRestored: true, isLimited: true };
    const absent = after(restored, looked({ kind: "absent" }));
    expect(absent).toMatchObject({ status: "queued", isRestored: false, resendCount: 0 });
    const calling: Task = { ...CALLING, isRestored: true };
    const unknown: Outcome = { kind: "unknown", message: "reset" };
    expect(after(calling, called(unknown))).toMatchObject({ status: "unknown", isRestored: false });
  });

  test("what a restore put in doubt stays so until the looks are over", () => {
    const restored = { ...RECONCILING, isRestored: true };
    expect(after(restored, looked({ kind: "look_again", afterMs: 5 }))).toMatchObject({
      status: "unknown",
      isRestored: true,
    });
  });

  test("absence when it is too late to send is a miss, a repetition too late stays unknown", () => {
    const task = { ...RECONCILING, publishBefore: NOW };
    expect(after(task, looked({ kind: "absent" }))).toMatchObject({ errorCode: "missed" });
    expect(after(task, looked({ kind: "repeat" }))).toMatchObject({ errorCode: "outcome_unknown" });
  });

  test("a platform that cannot be read is not asked for ever", () => {
    const verdict: Verdict = { kind: "look_again", afterMs: 5, isIncomplete: true };
    const task = { ...RECONCILING, publishBefore: at(-3_600_001) };
    expect(after(task, looked(verdict))).toMatchObject({ errorCode: "outcome_unknown" });
  });

  test("a success that is in the attempt already wins over any verdict", () => {
    const attempt: Attempt = { ...ATTEMPT, outcome: "published", externalId: "7" };
    expect(after(RECONCILING, looked({ kind: "absent" }), { attempt })).toMatchObject({
      status: "published",
      externalId: "7",
    });
  });
});

test("a call is lost only when it is over", () => {
  const lost: Happening = { kind: "call_lost", callNumber: 1 };
  expect(decide(situation(CALLING), lost, POLICY).changes).toEqual([]);
  expect(after({ ...CALLING, callUntil: NOW }, lost)).toMatchObject({ status: "unknown" });
  expect(
    decide(situation({ ...CALLING, callUntil: NOW, callNumber: 2 }), lost, POLICY).changes,
  ).toEqual([]);
});

test("who has lost the fence decides nothing", () => {
  const happenings: Happening[] = [
    { ...looked({ kind: "absent" }), fence: 2 } as Happening,
    { kind: "given_up", fence: 2, code: "missed", message: "" },
    { kind: "not_wanted", fence: 2 },
    {
      kind: "step_failed",
      fence: 2,
      failure: { kind: "refused", code: "content_rejected", message: "" },
    },
  ];
  for (const task of [WORKING, RECONCILING])
    for (const happening of happenings)
      expect(decide(situation(task), happening, POLICY).changes).toEqual([]);
});

const outcomes = fc.constantFrom(
  published,
  { kind: "published", externalId: "2", permalink: null } as const,
  refused,
  suspended,
  duplicate,
  retryable,
  waiting,
  limited,
  unknown,
  tokenRefused,
  notSent,
);
const verdicts = fc.constantFrom<Verdict>(
  { kind: "present", externalId: "1", permalink: null },
  { kind: "absent" },
  { kind: "repeat" },
  { kind: "look_again", afterMs: 5 },
  { kind: "cannot_tell", message: "" },
);
const happenings: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({
    kind: fc.constant("called" as const),
    callNumber: fc.integer({ min: 1, max: 2 }),
    outcome: outcomes,
  }),
  fc.record({
    kind: fc.constant("call_lost" as const),
    callNumber: fc.integer({ min: 1, max: 2 }),
  }),
  verdicts.map((verdict) => looked(verdict)),
  fc.constant<Happening>({ kind: "given_up", fence: 3, code: "missed", message: "" }),
  fc.constant<Happening>({ kind: "not_wanted", fence: 3 }),
);
const tasks = fc.constantFrom(CALLING, WORKING, UNKNOWN, RECONCILING, FAILED_UNKNOWN, PUBLISHED);

function run(task: Task, events: readonly Happening[]) {
  const reports = events.map((happening) => ({
    targetId: "t",
    generation: 1,
    attemptNumber: 1,
    happening,
  }));
  return settle({ tasks: [task], attempts: [ATTEMPT], now: NOW }, reports, POLICY, () => 0.5);
}

test("whatever happens in whatever order, what is published stays published under its id", () => {
  fc.assert(
    fc.property(tasks, fc.array(happenings, { maxLength: 8 }), (task, events) => {
      let current = task;
      for (const happening of events) {
        const next = run(current, [happening]).tasks[0] ?? current;
        const isKept = next.status === "published" && next.externalId === current.externalId;
        expect(isKept || current.status !== "published").toBe(true);
        expect(next.version).toBeGreaterThanOrEqual(current.version);
        current = next;
      }
    }),
  );
});

test("a success is never lost, whatever happened before it", () => {
  fc.assert(
    fc.property(tasks, fc.array(happenings, { maxLength: 6 }), (task, events) => {
      const { tasks: changed } = run(task, [...events, called(published)]);
      const [last] = changed;
      expect((last ?? task).status).toBe("published");
    }),
  );
});

test("a task that may be visible goes back to waiting only by a proof, a repetition, or a late word about its call", () => {
  const open: readonly TaskStatus[] = ["unknown", "reconciling"];
  fc.assert(
    fc.property(fc.constantFrom(UNKNOWN, RECONCILING), happenings, (task, happening) => {
      const next = run(task, [happening]).tasks[0] ?? task;
      if (open.includes(next.status) || next.status === "published" || next.status === "failed")
        return;
      const isProof =
        (happening.kind === "looked" && ["absent", "repeat"].includes(happening.verdict.kind)) ||
        (happening.kind === "called" && happening.callNumber === task.callNumber);
      expect(isProof).toBe(true);
    }),
  );
});

test("a failure with an open question is never called retryable or definite", () => {
  fc.assert(
    fc.property(tasks, fc.array(happenings, { maxLength: 6 }), (task, events) => {
      const { tasks: changed } = run(task, events);
      const [last] = changed;
      if (last?.status !== "failed" || last.openUnknowns === 0) return;
      expect(["outcome_unknown", "content_rejected"]).toContain(last.errorCode);
    }),
  );
});
