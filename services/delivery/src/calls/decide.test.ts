import type { Outcome, Published } from "@postrider/platforms/publishing/outcome";
import type { Verdict } from "@postrider/platforms/publishing/verdict";
import fc from "fast-check";
import { expect, test } from "vitest";
import { TASKS, type Task } from "#src/publishing/domain/task.ts";
import type { CallEvent } from "./call-event.ts";
import {
  NEVER_MARKED,
  type Attempt,
  type Call,
  type CallPolicy,
  type CallStatus,
  type Snapshot,
} from "./call.ts";
import { decideInOrder } from "./decide-in-order.ts";
import { decide } from "./decide.ts";
import { DELETION, PRIVATE_REPLY, REPLY, TARGET, VISIBILITY, type CallKind } from "./kinds.ts";

const NOW = new Date("2026-11-21T12:00:00Z");
const at = (ms: number) => new Date(NOW.getTime() + ms);
const POLICY: CallPolicy = { retryMs: [60_000, 300_000], leaseMs: 60_000, heldPlatformMs: 5_000 };

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
  sendBefore: at(86_400_000),
  fence: 3,
  crashCount: 0,
  attemptNumber: 1,
  updatedAt: NOW,
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
  externalAccountId: "external-1",
  externalId: null,
  permalink: null,
  finishedAt: null,
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
  finishedAt: at(-1000),
};

const ATTEMPT: Attempt = {
  targetId: "t",
  number: 1,
  callNumber: 1,
  fence: 3,
  startedAt: at(-11_000),
  finishedAt: null,
  outcome: null,
  code: "",
  message: "",
  externalId: null,
  permalink: null,
  isNotSent: false,
};

function snapshot(task: Task, given: Partial<Snapshot<Task>> = {}): Snapshot<Task> {
  return {
    call: task,
    kind: TARGET,
    siblings: [],
    attempt: ATTEMPT,
    now: NOW,
    random: 0.5,
    policy: POLICY,
    ...given,
  };
}

function called(outcome: Outcome, callNumber = 1): CallEvent {
  return { kind: "called", callNumber, outcome };
}

function looked(verdict: Verdict, maxResends = 1): CallEvent {
  return { kind: "looked", fence: 3, verdict, maxResends };
}

/**
 * The fields of the task that the event changes, and whether the change is reported to the posts
 * service.
 */
function after(task: Task, learned: CallEvent, given: Partial<Snapshot<Task>> = {}) {
  const decision = decide(snapshot(task, given), learned);
  const [own] = decision.changes.filter(({ call }) => call.generation === task.generation);
  return { ...own?.call, isReported: own?.isReported, attempt: decision.attempt?.outcome };
}

const published: Published = { kind: "published", externalId: "1", permalink: "https://x/1" };
const refused: Outcome = { kind: "refused", code: "content_rejected", message: "no" };
const suspended: Outcome = { kind: "refused", code: "account_action_needed", message: "no" };
const duplicate: Outcome = { kind: "refused", code: "duplicate_on_platform", message: "again" };
const retryable: Outcome = {
  kind: "retryable",
  code: "platform_unavailable",
  message: "unavailable",
};
const waiting: Outcome = { ...retryable, retryAfterMs: 7_000 };
const limited: Outcome = { ...retryable, code: "rate_limited", isLimit: true, retryAfterMs: 9_000 };
const HOUR_MS = 3_600_000;
const DAILY_LIMIT = {
  kind: "retryable",
  code: "platform_quota",
  message: "too many posts",
  isLimit: true,
  retryAfterMs: HOUR_MS,
} as const;
const unknown: Outcome = { kind: "unknown", message: "timeout" };
const tokenRefused: Outcome = { kind: "token_refused", message: "expired" };
const notSent: Outcome = { kind: "not_sent" };

test("a published target reports a difference from the request (a caveat) as its error, also if the attempt stored the success before the task", () => {
  const caveat = { code: "app_configuration", message: "the video is private" } as const;
  const shown = {
    status: "published",
    errorCode: caveat.code,
    errorMessage: caveat.message,
  };
  const outcome = { kind: "published", externalId: "v", permalink: null, caveat } as const;
  expect(after(CALLING, called(outcome))).toMatchObject(shown);
  const verdict = { kind: "present", externalId: "v", permalink: null, caveat } as const;
  expect(after(RECONCILING, looked(verdict))).toMatchObject(shown);
  const attempt: Attempt = { ...ATTEMPT, outcome: "published", externalId: "v", ...caveat };
  expect(after(RECONCILING, looked({ kind: "absent" }), { attempt })).toMatchObject(shown);
});

test("the post id of a target published without one is read later, unless another publish request of the target has already succeeded", () => {
  const askLater = { publishId: "p1" };
  const present: Verdict = { kind: "present", externalId: null, permalink: null, askLater };
  expect(decide(snapshot(RECONCILING), looked(present)).askLater).toEqual(askLater);
  const rival = { ...PUBLISHED, generation: 2 };
  const superfluous = snapshot(RECONCILING, { siblings: [rival] });
  expect(decide(superfluous, looked(present)).askLater).toBeUndefined();
});

test.each<[string, Task, Partial<Snapshot<Task>>, object]>([
  ["was recorded", CALLING, {}, { status: "queued", wakeAt: NOW, attempt: null }],
  [
    "was recorded, and the call has been counted as lost since",
    UNKNOWN,
    {},
    { status: "queued", openUnknowns: 0, attempt: "retry" },
  ],
  [
    "was not recorded",
    WORKING,
    { attempt: { ...ATTEMPT, callNumber: 0 } },
    { status: "queued", wakeAt: at(1_000), isReported: false },
  ],
])(
  "a task whose worker does not know whether the start of its publishing call was recorded is queued again when the start %s",
  (_what, task, given, expected) => {
    expect(after(task, { kind: "mark_lost", fence: 3, callNumber: 1 }, given)).toMatchObject(
      expected,
    );
  },
);

test.each<[string, Task, Partial<Snapshot<Task>>]>([
  [
    "makes a call with the same number",
    { ...CALLING, fence: 4 },
    { attempt: { ...ATTEMPT, fence: 4 } },
  ],
  ["has taken over the task", { ...WORKING, fence: 4 }, { attempt: { ...ATTEMPT, callNumber: 0 } }],
])(
  "a worker that does not know whether the start of its publishing call was recorded changes nothing when another worker %s",
  (_what, task, given) => {
    const lost: CallEvent = { kind: "mark_lost", fence: 3, callNumber: 1 };
    expect(decide(snapshot(task, given), lost).changes).toEqual([]);
  },
);

test("a task tried while its platform is held ends its attempt as retry without a higher retry count, and further tries are not reported", () => {
  const held: CallEvent = { kind: "platform_held", fence: 3 };
  const first = after(WORKING, held);
  expect(first).toMatchObject({
    status: "queued",
    wakeAt: at(5_000),
    retryCount: 0,
    isAttemptOpen: false,
    errorCode: "platform_unavailable",
    isReported: true,
    attempt: "retry",
  });
  const again: Task = { ...WORKING, errorCode: "platform_unavailable", errorMessage: null };
  const known = { ...again, errorMessage: first.errorMessage ?? null };
  expect(after(known, held)).toMatchObject({ isReported: false, attempt: undefined });
});

test("a task with an earlier unknown outcome keeps the error outcome_unknown while its platform is held", () => {
  const resending: Task = { ...UNKNOWN, status: "working", isAttemptOpen: true };
  expect(after(resending, { kind: "platform_held", fence: 3 })).toMatchObject({
    status: "queued",
    errorCode: "outcome_unknown",
    openUnknowns: 1,
    isReported: false,
  });
});

test("a publishing call with an unknown outcome counts as a failure of its account, but a publishing call whose worker died does not", () => {
  const failed = decide(snapshot(CALLING), called(unknown));
  expect(failed.account).toEqual({ kind: "failed" });
  const lost: Task = { ...CALLING, callUntil: at(-1) };
  const crashed = decide(snapshot(lost), { kind: "call_lost", callNumber: 1 });
  expect(crashed.changes[0]?.call.status).toBe("unknown");
  expect(crashed.account).toBeUndefined();
});

test.each<[string, Outcome, object]>([
  [
    "as published, the task is published",
    published,
    { status: "published", externalId: "1", finishedAt: NOW, attempt: "published" },
  ],
  [
    "as refused, the task fails",
    refused,
    { status: "failed", errorCode: "content_rejected", attempt: "failed" },
  ],
  [
    "with a retryable failure, the task is queued for the configured wait",
    retryable,
    { status: "queued", wakeAt: at(60_000), retryCount: 1, attempt: "retry" },
  ],
  [
    "with a retryable failure that says how long to wait, the task is queued for that time",
    waiting,
    { status: "queued", wakeAt: at(7_000), attempt: "retry" },
  ],
  [
    "with a rate limit, the task is queued, and the call does not count as a retry",
    limited,
    { status: "queued", wakeAt: at(9_000), retryCount: 0, isAttemptOpen: true, attempt: null },
  ],
  [
    "with an unknown outcome, the task waits for a search of the platform",
    unknown,
    {
      status: "unknown",
      wakeAt: at(50_000),
      openUnknowns: 1,
      firstUnknownAt: at(-10_000),
      attempt: "unknown",
    },
  ],
  [
    "with a refused token, the worker keeps the task and reports nothing",
    tokenRefused,
    { status: "working", wakeAt: at(60_000), isReported: false },
  ],
  [
    "without having been sent, the task is queued without a wait",
    notSent,
    { status: "queued", wakeAt: NOW, isAttemptOpen: true, isReported: false, attempt: null },
  ],
])(
  "a publishing call that ends before its deadline decides what follows for its task: %s",
  (_name, outcome, expected) => {
    expect(after(CALLING, called(outcome))).toMatchObject({
      version: 6,
      isReported: true,
      ...expected,
    });
  },
);

test("a refusal that changes the next call counts as an answer for the account, and the values for that call are stored with the decision", () => {
  const handles = { link: "refused" };
  const learned = called({ ...retryable, retryAfterMs: 0, handles });
  const decision = decide(snapshot(CALLING), learned);
  expect(decision).toMatchObject({
    account: { kind: "answered" },
    handles,
    changes: [{ call: { status: "queued", wakeAt: NOW, retryCount: 1 } }],
  });
});

test("a retryable failure after the last retry fails the target with the error code of that failure", () => {
  expect(after({ ...CALLING, retryCount: 2 }, called(retryable))).toMatchObject({
    status: "failed",
    errorCode: "platform_unavailable",
    attempt: "failed",
  });
});

test("a target fails at once when its next retry would come after publish_before", () => {
  const task = { ...CALLING, sendBefore: at(5_000) };
  expect(after(task, called(waiting))).toMatchObject({ status: "failed" });
  expect(after(task, called(limited))).toMatchObject({
    status: "failed",
    errorCode: "rate_limited",
  });
});

test("a platform's refusal of a post as a duplicate fails the target, unless an earlier publishing call may have published the target", () => {
  expect(after(CALLING, called(duplicate))).toMatchObject({ status: "failed" });
  expect(after({ ...CALLING, unknownCount: 1 }, called(duplicate))).toMatchObject({
    status: "unknown",
  });
});

test("while an earlier publishing call may have published the target, only a refusal of the content proves that nothing was published", () => {
  const task = { ...CALLING, openUnknowns: 1 };
  expect(after(task, called(suspended))).toMatchObject({
    errorCode: "outcome_unknown",
    errorMessage: "account_action_needed: no",
    openUnknowns: 1,
  });
  expect(after(task, called(refused))).toMatchObject({ errorCode: "content_rejected" });
});

test.each(["media_rejected", "content_rejected", "permission_missing"] as const)(
  "a preparation step that is refused with %s does not disprove that an earlier publishing call published the target",
  (code) => {
    const failure = { kind: "refused", code, message: "the upload was refused" } as const;
    const event: CallEvent = { kind: "step_failed", fence: 3, failure };
    expect(after({ ...WORKING, openUnknowns: 1 }, event)).toMatchObject({
      status: "failed",
      errorCode: "outcome_unknown",
      errorMessage: `${code}: the upload was refused`,
      openUnknowns: 1,
    });
    expect(after(WORKING, event)).toMatchObject({ status: "failed", errorCode: code });
  },
);

const reported: Attempt = { ...ATTEMPT, outcome: "unknown", finishedAt: at(-5_000) };

test.each([UNKNOWN, RECONCILING, FAILED_UNKNOWN])(
  "a target with the status $status becomes published when the success of its publishing call is reported late",
  (task) => {
    expect(after(task, called(published), { attempt: reported })).toMatchObject({
      status: "published",
      externalId: "1",
      errorCode: null,
      openUnknowns: 0,
    });
  },
);

test.each([UNKNOWN, RECONCILING, FAILED_UNKNOWN])(
  "a target whose status is $status is queued again when a late report says that its publishing call was not sent",
  (task) => {
    expect(after(task, called(notSent), { attempt: reported })).toMatchObject({
      status: "queued",
      openUnknowns: 0,
      attempt: "retry",
    });
  },
);

test.each([UNKNOWN, RECONCILING, FAILED_UNKNOWN])(
  "a target whose status is $status fails when a late report says that the platform refused its publishing call",
  (task) => {
    expect(after(task, called(suspended), { attempt: reported })).toMatchObject({
      status: "failed",
      errorCode: "account_action_needed",
    });
  },
);

test("an attempt that was reported as unknown ends when a rate limit is reported late for its publishing call", () => {
  expect(after(UNKNOWN, called(limited), { attempt: reported })).toMatchObject({
    status: "queued",
    isAttemptOpen: false,
    attempt: "retry",
  });
});

test("a failed target whose publishing call was not sent after all waits 5 s, so that the posts service first learns that it is queued again", () => {
  expect(after(FAILED_UNKNOWN, called(notSent), { attempt: reported })).toMatchObject({
    wakeAt: at(5_000),
  });
  expect(after(UNKNOWN, called(notSent), { attempt: reported })).toMatchObject({ wakeAt: NOW });
});

test("a late outcome of a publishing call does not change a target that failed for a reason other than outcome_unknown", () => {
  const task: Task = { ...PUBLISHED, status: "failed", errorCode: "content_rejected" };
  expect(decide(snapshot(task), called(notSent)).changes).toEqual([]);
});

test("a late outcome of a task that a newer publish request has replaced is stored in its attempt and changes nothing else", () => {
  const siblings = [{ ...WORKING, generation: 2 }];
  const decision = decide(snapshot(UNKNOWN, { siblings, attempt: reported }), called(notSent));
  expect(decision).toMatchObject({ changes: [], attempt: { outcome: "retry", isNotSent: true } });
});

const pending: Outcome = { kind: "pending", afterMs: 30_000 };

test("while the platform processes a post, the attempt stays open, the post is searched for later, and no unknown outcome is reported", () => {
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

test("a late report that the platform still processes a post changes nothing when it contains no id to search for", () => {
  expect(decide(snapshot(UNKNOWN), called(pending))).toEqual({
    call: UNKNOWN,
    changes: [],
  });
});

const withHandles: Outcome = { ...pending, handles: { publishId: "p1" } };

test("the ids that a platform returns for a post that it still processes are stored together with the outcome of the call", () => {
  const decision = decide(snapshot(CALLING), called(withHandles));
  expect(decision.handles).toEqual({ publishId: "p1" });
  expect(decision.attempt).toMatchObject({ outcome: null });
});

test.each([UNKNOWN, RECONCILING, FAILED_UNKNOWN])(
  "a target whose status is $status waits to be searched for when a late report contains the ids of a post in processing",
  (task) => {
    expect(after(task, called(withHandles))).toMatchObject({
      status: "unknown",
      wakeAt: at(30_000),
      openUnknowns: 1,
      errorCode: null,
    });
    expect(decide(snapshot(task), called(withHandles)).handles).toEqual({
      publishId: "p1",
    });
  },
);

test("a target whose post the platform refuses after processing keeps outcome_unknown while an older publishing call has no known outcome", () => {
  const task = { ...RECONCILING, openUnknowns: 2 };
  const verdict = { kind: "refused", code: "permission_missing", message: "no" } as const;
  expect(after(task, looked(verdict))).toMatchObject({ errorCode: "outcome_unknown" });
});

test("a refusal by the post's own flag is about every call, so that the target fails with its error code", () => {
  const task = { ...RECONCILING, openUnknowns: 2 };
  const code = "permission_missing";
  const verdict = { kind: "refused", code, message: "no", isOwnFlag: true } as const;
  expect(after(task, looked(verdict))).toMatchObject({ status: "failed", errorCode: code });
});

test("when a published target is reported as published again with the same post id, nothing changes", () => {
  expect(decide(snapshot(PUBLISHED), called(published)).changes).toEqual([]);
});

test("a second success with another post id marks the published target as duplicate_detected", () => {
  const second: Outcome = { kind: "published", externalId: "2", permalink: null };
  expect(after(PUBLISHED, called(second))).toMatchObject({
    status: "published",
    externalId: "1",
    errorCode: "duplicate_detected",
    attempt: "published",
  });
});

test("when two publish requests of one target both succeed, the target keeps the first success and is marked as duplicate_detected", () => {
  const rival = { ...PUBLISHED, generation: 2, externalId: "2" };
  const { changes } = decide(snapshot(UNKNOWN, { siblings: [rival] }), called(published));
  expect(changes).toMatchObject([
    { call: { generation: 1, status: "dropped" }, isReported: false },
    {
      call: { generation: 2, status: "published", errorCode: "duplicate_detected" },
      isReported: true,
    },
  ]);
});

test("when one publish request of a target succeeds, its other requests that have not begun their publishing call get the status dropped", () => {
  const siblings = (["queued", "working", "calling"] as const).map((status, index) => ({
    ...CALLING,
    status,
    generation: index + 2,
  }));
  const { changes } = decide(snapshot(CALLING, { siblings }), called(published));
  expect(changes.map(({ call: { generation, status } }) => [generation, status])).toEqual([
    [1, "published"],
    [2, "dropped"],
    [3, "dropped"],
  ]);
});

test.each<[string, Verdict, object]>([
  [
    "finds the post, the task is published",
    { kind: "present", externalId: "9", permalink: null },
    { status: "published", externalId: "9" },
  ],
  [
    "proves that the post is absent, the task is queued to be sent again",
    { kind: "absent" },
    { status: "queued", resendCount: 1, openUnknowns: 0, wakeAt: NOW },
  ],
  [
    "shows that a limit ended the accepted post, the task waits for it, and the next call is not a resend",
    { kind: "absent", isOwnFlag: true, limit: DAILY_LIMIT },
    { status: "queued", resendCount: 0, errorCode: "platform_quota", wakeAt: at(HOUR_MS) },
  ],
  [
    "shows that the call may be repeated, the task is queued again",
    { kind: "repeat" },
    { status: "queued", openUnknowns: 1, wakeAt: NOW },
  ],
  [
    "has no result yet, the task waits for the next search, and the search counts",
    { kind: "look_again", afterMs: 5 },
    { status: "unknown", looks: 1, wakeAt: at(5) },
  ],
  [
    "is incomplete, the task waits for the next search, and the search does not count",
    { kind: "look_again", afterMs: 5, isIncomplete: true },
    { status: "unknown", looks: 0, wakeAt: at(5) },
  ],
  [
    "cannot tell whether the post exists, the task fails with outcome_unknown",
    { kind: "cannot_tell", message: "" },
    { status: "failed", errorCode: "outcome_unknown" },
  ],
  [
    "shows that the platform refused the post, the task fails with the error code of the refusal",
    { kind: "refused", code: "permission_missing", message: "no" },
    { status: "failed", errorCode: "permission_missing", openUnknowns: 0 },
  ],
])(
  "a search of the platform decides what follows for its task: when the search %s",
  (_name, verdict, expected) => {
    expect(after(RECONCILING, looked(verdict))).toMatchObject(expected);
  },
);

test("a target that is not found on the platform after its last permitted resend fails with outcome_unknown", () => {
  expect(after({ ...RECONCILING, resendCount: 1 }, looked({ kind: "absent" }))).toMatchObject({
    status: "failed",
    errorCode: "outcome_unknown",
  });
});

test("a target that a restore made uncertain is sent once a search proves its absence from the platform, and that call is not a resend", () => {
  const restored = { ...RECONCILING, isRestored: true, isLimited: true };
  const absent = after(restored, looked({ kind: "absent" }));
  expect(absent).toMatchObject({ status: "queued", isRestored: false, resendCount: 0 });
  const calling: Task = { ...CALLING, isRestored: true };
  const unknown: Outcome = { kind: "unknown", message: "reset" };
  expect(after(calling, called(unknown))).toMatchObject({ status: "unknown", isRestored: false });
});

test("a target that is uncertain after a restore from a backup stays uncertain until the searches of the platform are finished", () => {
  const restored = { ...RECONCILING, isRestored: true };
  expect(after(restored, looked({ kind: "look_again", afterMs: 5 }))).toMatchObject({
    status: "unknown",
    isRestored: true,
  });
});

test("after publish_before, a target that is proved absent fails as missed, and one whose publishing call would be repeated as outcome_unknown", () => {
  const task = { ...RECONCILING, sendBefore: NOW };
  expect(after(task, looked({ kind: "absent" }))).toMatchObject({ errorCode: "missed" });
  expect(after(task, looked({ kind: "repeat" }))).toMatchObject({ errorCode: "outcome_unknown" });
});

test("a target whose platform cannot be searched fails with outcome_unknown an hour after publish_before", () => {
  const verdict: Verdict = { kind: "look_again", afterMs: 5, isIncomplete: true };
  const task = { ...RECONCILING, sendBefore: at(-3_600_001) };
  expect(after(task, looked(verdict))).toMatchObject({ errorCode: "outcome_unknown" });
});

test("a success that is stored in the attempt takes precedence over the result of any search of the platform", () => {
  const attempt: Attempt = { ...ATTEMPT, outcome: "published", externalId: "7" };
  expect(after(RECONCILING, looked({ kind: "absent" }), { attempt })).toMatchObject({
    status: "published",
    externalId: "7",
  });
});

test("a publishing call without a reported outcome counts as lost only after its deadline call_until, and only if its task made no later call", () => {
  const lost: CallEvent = { kind: "call_lost", callNumber: 1 };
  expect(decide(snapshot(CALLING), lost).changes).toEqual([]);
  expect(after({ ...CALLING, callUntil: NOW }, lost)).toMatchObject({ status: "unknown" });
  expect(decide(snapshot({ ...CALLING, callUntil: NOW, callNumber: 2 }), lost).changes).toEqual([]);
});

test("an event from a worker that has lost its task to another worker changes nothing", () => {
  const allCallEvent: CallEvent[] = [
    { ...looked({ kind: "absent" }), fence: 2 } as CallEvent,
    { kind: "given_up", fence: 2, code: "missed", message: "" },
    { kind: "not_wanted", fence: 2 },
    {
      kind: "step_failed",
      fence: 2,
      failure: { kind: "refused", code: "content_rejected", message: "" },
    },
  ];
  for (const task of [WORKING, RECONCILING])
    for (const learned of allCallEvent) expect(decide(snapshot(task), learned).changes).toEqual([]);
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
const allCallEvent: fc.Arbitrary<CallEvent> = fc.oneof(
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
  fc.constant<CallEvent>({ kind: "given_up", fence: 3, code: "missed", message: "" }),
  fc.constant<CallEvent>({ kind: "not_wanted", fence: 3 }),
);
const tasks = fc.constantFrom(CALLING, WORKING, UNKNOWN, RECONCILING, FAILED_UNKNOWN, PUBLISHED);

/** Returns the state of the task after one batch of events, each of which has led to a decision. */
function run(task: Task, learned: readonly CallEvent[]): Task {
  const ref = { targetId: "t", generation: 1, attemptNumber: 1 };
  const events = learned.map((each) => ({ ...ref, ...each }));
  const locked = { calls: [task], attempts: [ATTEMPT], now: NOW };
  const decisions = decideInOrder(TASKS, locked, events, { policy: POLICY, random: () => 0.5 });
  const changes = [...decisions.values()].flatMap((decision) => decision.changes);
  return changes.at(-1)?.call ?? task;
}

test("a published target stays published with the same post id, whatever events follow in any order", () => {
  fc.assert(
    fc.property(tasks, fc.array(allCallEvent, { maxLength: 8 }), (task, events) => {
      let current = task;
      for (const learned of events) {
        const next = run(current, [learned]);
        const isKept = next.status === "published" && next.externalId === current.externalId;
        expect(isKept || current.status !== "published").toBe(true);
        expect(next.version).toBeGreaterThanOrEqual(current.version);
        current = next;
      }
    }),
  );
});

test("a target becomes published when its publishing call succeeds, whatever events came before", () => {
  fc.assert(
    fc.property(tasks, fc.array(allCallEvent, { maxLength: 6 }), (task, events) => {
      expect(run(task, [...events, called(published)]).status).toBe("published");
    }),
  );
});

test("a target that may be on the platform is queued again only after proof of its absence, a late outcome, or if the call is safe to repeat", () => {
  const open: readonly CallStatus[] = ["unknown", "reconciling"];
  fc.assert(
    fc.property(fc.constantFrom(UNKNOWN, RECONCILING), allCallEvent, (task, learned) => {
      const next = run(task, [learned]);
      if (open.includes(next.status) || next.status === "published" || next.status === "failed")
        return;
      const isProof =
        (learned.kind === "looked" && ["absent", "repeat"].includes(learned.verdict.kind)) ||
        (learned.kind === "called" && learned.callNumber === task.callNumber);
      expect(isProof).toBe(true);
    }),
  );
});

test("a target that fails while a publishing call has no known outcome fails with outcome_unknown or content_rejected", () => {
  fc.assert(
    fc.property(tasks, fc.array(allCallEvent, { maxLength: 6 }), (task, events) => {
      const last = run(task, events);
      if (last === task || last.status !== "failed" || last.openUnknowns === 0) return;
      expect(["outcome_unknown", "content_rejected"]).toContain(last.errorCode);
    }),
  );
});

test("a refusal as a duplicate ends the target as duplicate_on_platform when the post's own flag has shown that no earlier call published it", () => {
  const task = { ...RECONCILING, unknownCount: 1, openUnknowns: 1 };
  const absent = after(task, looked({ kind: "absent", isOwnFlag: true }, 9));
  expect(absent).toMatchObject({ status: "queued", unknownCount: 0, openUnknowns: 0 });
  const calling = { ...CALLING, unknownCount: 0, resendCount: 1 };
  const refused = { kind: "refused", code: "duplicate_on_platform", message: "duplicate" } as const;
  expect(after(calling, called(refused))).toMatchObject({
    status: "failed",
    errorCode: "duplicate_on_platform",
  });
});

test.each([
  ["is there, it is published", published, { status: "published", externalId: "1" }],
  [
    "is absent, it can be retried",
    undefined,
    { status: "failed", errorCode: "platform_unavailable" },
  ],
])(
  "when a person says of a target refused as a duplicate that the post %s, and the attempt keeps the refusal",
  (_title, stated, expected) => {
    const task = { ...after(CALLING, called(duplicate)), callUntil: at(60_000) } as unknown as Task;
    const event: CallEvent = { kind: "stated", published: stated };
    expect(after(task, event)).toMatchObject({ ...expected, isReported: true, attempt: undefined });
    const isSentAgain = { siblings: [{ ...PUBLISHED, generation: 2 }] };
    expect(decide(snapshot(task, isSentAgain), event).changes).toEqual([]);
  },
);

test("a target whose post stays absent is sent again after growing waits, and only as often as the retry policy says", () => {
  const waits: number[] = [];
  let task: Task = { ...RECONCILING, resendCount: 0 };
  while (waits.length < 100) {
    const { changes } = decide(snapshot(task), looked({ kind: "absent" }, 1_000_000));
    const next = changes[0]?.call;
    if (next?.status !== "queued") break;
    waits.push(next.wakeAt.getTime() - NOW.getTime());
    task = { ...next, status: "reconciling", unknownCount: next.unknownCount + 1 };
  }
  expect(waits).toEqual([0, ...POLICY.retryMs]);
});

test("a limit that ends the accepted post again and again is waited for until it is too late to send, and never makes the outcome unknown", () => {
  let task: Task = { ...RECONCILING, isAttemptOpen: true };
  let hours = 0;
  for (; hours < 100 && task.status !== "failed"; hours += 1) {
    const verdict = { kind: "absent", isOwnFlag: true, limit: DAILY_LIMIT } as const;
    const now = at(hours * HOUR_MS);
    const { changes, account } = decide(snapshot(task, { now }), looked(verdict));
    expect(account).toMatchObject({ kind: "limited", until: at((hours + 1) * HOUR_MS) });
    const next = changes[0]?.call ?? task;
    task = next.status === "queued" ? { ...next, status: "reconciling", openUnknowns: 1 } : next;
  }
  expect([hours, task.errorCode, task.resendCount]).toEqual([24, "platform_quota", 0]);
});

test("a call that is safe to repeat is first repeated without a wait, then after the configured retry waits", () => {
  const waits = [1, 2, 3, 9].map((unknownCount) => {
    const next = after({ ...RECONCILING, unknownCount }, looked({ kind: "repeat" }));
    return (next.wakeAt?.getTime() ?? 0) - NOW.getTime();
  });
  expect(waits).toEqual([0, 60_000, 300_000, 300_000]);
});

const ACTION: Call = {
  ...NEVER_MARKED,
  workspaceId: "w",
  accountId: "a",
  platform: "instagram",
  status: "calling",
  wakeAt: NOW,
  sendBefore: at(86_400_000),
  fence: 3,
  crashCount: 0,
  retryCount: 0,
  callNumber: 1,
  calledAt: at(-100),
  callUntil: at(59_900),
  version: 1,
  externalId: null,
  furtherIds: [],
  errorCode: null,
  errorMessage: null,
};
const SENT_BEFORE: Call = { ...ACTION, unknownCount: 1, openUnknowns: 1, resendCount: 1 };
const LOOKING: Call = {
  ...ACTION,
  status: "reconciling",
  unknownCount: 1,
  openUnknowns: 1,
  firstUnknownAt: at(-100),
  errorCode: "outcome_unknown",
  errorMessage: "no answer",
};
const SUCCEEDED: Call = { ...ACTION, status: "succeeded", finishedAt: NOW, externalId: "r1" };
const FAILED = { status: "failed", finishedAt: NOW };
const NO_ANSWER = { kind: "unknown", message: "no answer" } as const;
const done = (externalId: string): Outcome => ({ kind: "published", externalId, permalink: null });

/** Returns the fields that an event changes in a call; undefined if it changes none. */
function changesOf(kind: CallKind, call: Call, event: CallEvent) {
  const known = { call, kind, siblings: [], attempt: undefined, now: NOW, random: 0.5 };
  const [change] = decide({ ...known, policy: POLICY }, event).changes;
  if (change === undefined) return undefined;
  expect(change.call.version).toBe(call.version + 1);
  const before = new Map<string, unknown>(Object.entries(call));
  const entries = Object.entries(change.call).filter(
    ([name, value]) => name !== "version" && String(value) !== String(before.get(name)),
  );
  return Object.fromEntries(entries);
}

test.each<[string, CallKind, Call, CallEvent, object | undefined]>([
  [
    "a hide call without an answer is repeated once it can no longer arrive at the platform",
    VISIBILITY,
    { ...ACTION, callUntil: at(90_000) },
    called(NO_ANSWER),
    {
      status: "queued",
      wakeAt: at(90_000),
      retryCount: 1,
      firstUnknownAt: at(-100),
      errorCode: "platform_unavailable",
      errorMessage: "no answer",
    },
  ],
  [
    "an answered hide call can no longer arrive at the platform",
    VISIBILITY,
    ACTION,
    called(done("")),
    { status: "succeeded", externalId: "", callUntil: NOW, finishedAt: NOW },
  ],
  [
    "a rate limit that may have come after the reply was published does not count as a resend",
    REPLY,
    ACTION,
    called({ ...NO_ANSWER, limitedForMs: 120_000 }),
    {
      status: "unknown",
      wakeAt: at(59_900),
      unknownCount: 1,
      openUnknowns: 1,
      isLimited: true,
      firstUnknownAt: at(-100),
      errorCode: "outcome_unknown",
      errorMessage: "no answer",
    },
  ],
  [
    "a reply that is absent after a rate limit is sent again without counting as a resend",
    REPLY,
    { ...LOOKING, resendCount: 1, isLimited: true },
    looked({ kind: "absent" }),
    { status: "queued", openUnknowns: 0, errorCode: null, errorMessage: null },
  ],
  [
    "a private reply that the platform refuses as a duplicate fails if Postrider made no earlier call",
    PRIVATE_REPLY,
    ACTION,
    called(duplicate),
    { ...FAILED, errorCode: "duplicate_on_platform", errorMessage: "again" },
  ],
  [
    "a private reply that the platform refuses as a duplicate after an unanswered call has succeeded",
    PRIVATE_REPLY,
    SENT_BEFORE,
    called(duplicate),
    { status: "succeeded", finishedAt: NOW, openUnknowns: 0 },
  ],
  [
    "a reply that the platform refuses as a duplicate after another call is searched for",
    REPLY,
    { ...ACTION, resendCount: 1, unknownCount: 1 },
    called(duplicate),
    {
      status: "unknown",
      wakeAt: at(59_900),
      unknownCount: 2,
      openUnknowns: 1,
      firstUnknownAt: at(-100),
      errorCode: "outcome_unknown",
      errorMessage: "again",
    },
  ],
  [
    "a refusal of a repeated call leaves the outcome of the first call unknown",
    PRIVATE_REPLY,
    SENT_BEFORE,
    called(refused),
    { ...FAILED, errorCode: "outcome_unknown", errorMessage: "content_rejected: no" },
  ],
  [
    "a private reply with an unknown outcome is sent again at once, because the platform refuses duplicates",
    PRIVATE_REPLY,
    LOOKING,
    looked({ kind: "repeat" }),
    { status: "queued", resendCount: 1 },
  ],
  [
    "the second repetition of a private reply waits",
    PRIVATE_REPLY,
    { ...LOOKING, resendCount: 1, unknownCount: 2 },
    looked({ kind: "repeat" }),
    { status: "queued", wakeAt: at(60_000), resendCount: 2 },
  ],
  [
    "a private reply is not repeated for ever",
    PRIVATE_REPLY,
    { ...LOOKING, resendCount: 3 },
    looked({ kind: "repeat" }),
    {
      ...FAILED,
      errorMessage: "it could not be determined whether the platform published it",
    },
  ],
  [
    "a second success stores the id of the second reply",
    REPLY,
    SUCCEEDED,
    called(done("r2")),
    { furtherIds: ["r2"] },
  ],
  [
    "a success that is reported twice changes nothing",
    REPLY,
    SUCCEEDED,
    called(done("r1")),
    undefined,
  ],
  [
    "a success that is reported late counts although the action has failed",
    REPLY,
    { ...LOOKING, status: "failed", finishedAt: at(-1) },
    called(done("r1")),
    {
      status: "succeeded",
      externalId: "r1",
      finishedAt: NOW,
      openUnknowns: 0,
      errorCode: null,
      errorMessage: null,
    },
  ],
  [
    "a failed reply is not sent again when its call proves late that it was not sent, because the user may have replied again",
    REPLY,
    { ...LOOKING, status: "failed", finishedAt: at(-1) },
    called(notSent),
    undefined,
  ],
  [
    "a late refusal of an earlier call changes nothing",
    REPLY,
    { ...LOOKING, callNumber: 2 },
    called(refused),
    undefined,
  ],
])(
  "a comment action differs from a target in what an event means: %s",
  (_title, kind, call, event, expected) => {
    expect(changesOf(kind, call, event)).toEqual(expected);
  },
);

const DELETING: Call = {
  ...ACTION,
  ...NEVER_MARKED,
  status: "working",
  crashCount: 1,
  externalId: "post",
};
const tried = (outcome: Outcome | { readonly kind: "done" }): CallEvent => ({
  kind: "tried",
  fence: 3,
  outcome,
});

test("a deletion succeeds when the platform reports that the post is gone, whatever the earlier tries ended with", () => {
  const task: Call = { ...DELETING, retryCount: 2, errorCode: "platform_unavailable" };
  expect(changesOf(DELETION, task, tried({ kind: "done" }))).toEqual({
    status: "deleted",
    errorCode: null,
    crashCount: 0,
    finishedAt: NOW,
  });
});

test("the wait that a platform requests before the next try of a deletion replaces the configured one, and that try counts as a retry", () => {
  expect(changesOf(DELETION, DELETING, tried(waiting))).toMatchObject({
    status: "queued",
    wakeAt: at(7_000),
    retryCount: 1,
    crashCount: 0,
  });
});

test("a rate limit stops all deletions of the account, by default for a minute, and the try after it is not counted as a retry", () => {
  const last: Call = { ...DELETING, retryCount: 2 };
  const known = { call: last, kind: DELETION, siblings: [], attempt: undefined, now: NOW };
  const snapshot = { ...known, random: 0.5, policy: POLICY };
  expect(decide(snapshot, tried(limited))).toMatchObject({
    changes: [{ call: { status: "queued", wakeAt: at(9_000), retryCount: 2 } }],
    account: { kind: "limited", until: at(9_000) },
  });
  const { retryAfterMs: _wait, ...unnamed } = limited;
  expect(decide(snapshot, tried(unnamed as Outcome)).account).toMatchObject({ until: at(60_000) });
});

test("a rate limit until a year that cannot be stored lasts for less than a day", () => {
  const known = { call: CALLING, kind: TARGET, siblings: [], attempt: undefined, now: NOW };
  const retryAfterMs = Date.parse("+010000-01-01T00:00:00Z") - NOW.getTime();
  for (const ms of [retryAfterMs, 1e15, 1e300])
    expect(
      decide({ ...known, random: 0.5, policy: POLICY }, called({ ...limited, retryAfterMs: ms }))
        .account,
    ).toEqual({ kind: "limited", until: at(23 * 3_600_000) });
});

test("a deletion that meets only rate limits is given up after a day", () => {
  const after = (ms: number) =>
    changesOf(DELETION, { ...DELETING, sendBefore: at(ms) }, tried(limited));
  expect(after(9_001)).toMatchObject({ status: "queued" });
  expect(after(9_000)).toMatchObject({ status: "failed", errorCode: "rate_limited" });
});

test("a deletion that meets no rate limit ends at the latest after its configured number of retries, whatever the result of each try", () => {
  const results = fc.constantFrom<Outcome | { readonly kind: "done" }>(
    unknown,
    retryable,
    refused,
    {
      kind: "done",
    },
  );
  fc.assert(
    fc.property(fc.array(results, { minLength: 3, maxLength: 3 }), (outcomes) => {
      let call: Call = DELETING;
      for (const outcome of outcomes) {
        const change = changesOf(DELETION, call, tried(outcome));
        call = { ...call, ...change };
        if (call.status !== "queued") break;
        call = { ...call, status: "working" };
      }
      expect(["deleted", "failed"]).toContain(call.status);
      expect(call.status === "deleted").toBe(call.errorCode === null);
    }),
  );
});
