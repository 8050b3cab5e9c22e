import fc from "fast-check";
import { expect, test } from "vitest";
import type { CallEvent, CallOutcome } from "./call-event.ts";
import { isFinal, type Attempt, type Call, type Decision, type Snapshot } from "./call.ts";
import { decide } from "./decide.ts";
import { PRIVATE_REPLY, REPLY, TARGET, type CallKind } from "./kinds.ts";

const START = Date.parse("2026-11-23T12:00:00Z");
const CALL_MS = 60_000;
const LEASE_MS = 30_000;
const POLICY = {
  retryMs: [1_000, 60_000, 300_000, 900_000],
  leaseMs: 180_000,
  heldPlatformMs: 5_000,
};

/** When the platform carries out a call, and what its worker reports. */
const CALL_ENDS = [
  { commits: "at once", reports: "success" },
  { commits: "at once", reports: "unknown" },
  { commits: "at once", reports: "nothing" },
  { commits: "at once", reports: "late" },
  { commits: "at the deadline", reports: "unknown" },
  { commits: "at the deadline", reports: "nothing" },
  { commits: "never", reports: "unknown" },
  { commits: "never", reports: "limit" },
  { commits: "never", reports: "nothing" },
  { commits: "never", reports: "late" },
  { commits: "never", reports: "retryable" },
  { commits: "never", reports: "refused" },
  { commits: "never", reports: "token_refused" },
  { commits: "never", reports: "not_sent" },
] as const;

/** What happens to a worker that holds the call, instead of the call. */
const WORK = [
  ...(["call", "call", "call", "crash", "given_up"] as const),
  ...(["step_failed", "mark_lost", "mark_kept"] as const),
];

const fault = fc.record({
  call: fc.constantFrom(...CALL_ENDS),
  work: fc.constantFrom(...WORK),
  /** Whether a search of the platform finds out what became of the call. */
  isSeen: fc.boolean(),
  /**
   * Whether answers that came after the deadline, and repetitions of earlier events, are reported
   * now.
   */
  isLateReported: fc.boolean(),
  /** Whether the user sends a failed target again, if its error allows that. */
  isSentAgain: fc.boolean(),
});
type Fault = typeof fault extends fc.Arbitrary<infer T> ? T : never;
type Decide = <C extends Call>(snapshot: Snapshot<C>, event: CallEvent) => Decision<C>;

const NEW: Call = {
  workspaceId: "w",
  accountId: "a",
  platform: "p",
  status: "queued",
  wakeAt: new Date(START),
  sendBefore: new Date(START + 24 * 3_600_000),
  fence: 0,
  crashCount: 0,
  retryCount: 0,
  callNumber: 0,
  calledAt: null,
  callUntil: null,
  firstUnknownAt: null,
  unknownCount: 0,
  openUnknowns: 0,
  resendCount: 0,
  looks: 0,
  isLimited: false,
  isRestored: false,
  version: 1,
  externalAccountId: "external",
  externalId: null,
  finishedAt: null,
  errorCode: null,
  errorMessage: null,
};

/** A call in the model, with the attempts of a target. */
interface Generation {
  call: Call;
  readonly attempts: Attempt[];
}

/** An event with the call that it is about. */
interface Report {
  readonly of: Generation;
  readonly attemptNumber: number;
  readonly event: CallEvent;
}

/**
 * A platform, and the workers of one call in all its generations. The platform carries out a call
 * at most once and before `callUntil`. It can be searched, and refuses a second private reply.
 */
class Run {
  readonly generations: Generation[] = [];
  copies = 0;
  now = START;
  readonly #kind: CallKind;
  readonly #decide: Decide;
  readonly #commitsAt: number[] = [];
  readonly #late: Report[] = [];

  constructor(kind: CallKind, decideWith: Decide) {
    this.#kind = kind;
    this.#decide = decideWith;
    this.#addGeneration();
  }

  get current(): Generation {
    const last = this.generations.at(-1);
    if (last === undefined) throw new Error("no generation was added");
    return last;
  }

  get hasEnded(): boolean {
    return isFinal(this.current.call.status);
  }

  get isTarget(): boolean {
    return this.#kind.success === "published";
  }

  #addGeneration(): void {
    const generation = this.generations.length + 1;
    const wakeAt = new Date(this.now);
    const ofTarget = { generation, isAttemptOpen: false, permalink: null };
    const call: Call = this.isTarget
      ? { ...NEW, ...ofTarget, wakeAt }
      : { ...NEW, furtherIds: [], wakeAt };
    this.generations.push({ call, attempts: [] });
  }

  #advance(to: number): void {
    this.now = Math.max(this.now, to);
    const isDue = (at: number) => at <= this.now;
    this.copies += this.#commitsAt.filter(isDue).length;
    this.#commitsAt.splice(0, Infinity, ...this.#commitsAt.filter((at) => !isDue(at)));
  }

  #learn({ of, attemptNumber, event }: Report): void {
    const { call } = of;
    const siblings = this.generations.filter((other) => other !== of);
    const decision = this.#decide(
      {
        call,
        kind: this.#kind,
        siblings: siblings.map((other) => other.call),
        attempt: of.attempts[attemptNumber - 1],
        now: new Date(this.now),
        random: 0.5,
        policy: POLICY,
      },
      event,
    );
    for (const { call: next } of decision.changes) {
      const changed = this.generations.find((each) => each.call.generation === next.generation);
      if (changed !== undefined) changed.call = next;
    }
    if (decision.attempt !== undefined) of.attempts[attemptNumber - 1] = decision.attempt;
  }

  #report(of: Generation, event: CallEvent): void {
    this.#learn({ of, attemptNumber: of.attempts.length, event });
  }

  /** Claims the call when it is due, and works on it until one try has ended. */
  step(given: Fault): void {
    if (given.isLateReported) for (const report of this.#late.splice(0)) this.#learn(report);
    if (this.hasEnded && !this.#sendAgain(given)) return;
    const of = this.current;
    this.#advance(of.call.wakeAt.getTime());
    const { status, callNumber } = of.call;
    if (status === "calling") return this.#report(of, { kind: "call_lost", callNumber });
    const fence = of.call.fence + 1;
    const isLook = status === "unknown" || status === "reconciling";
    const wakeAt = new Date(this.now + LEASE_MS);
    of.call = { ...of.call, fence, wakeAt, status: isLook ? "reconciling" : "working" };
    if (given.work === "given_up") {
      const code = "account_disconnected";
      return this.#report(of, { kind: "given_up", fence, code, message: "" });
    }
    if (isLook) return this.#look(of, given);
    this.#work(of, given);
  }

  /** A user sends a target again unless that could make it visible twice. */
  #sendAgain({ isSentAgain }: Fault): boolean {
    const { status, errorCode } = this.current.call;
    const isAllowed = this.isTarget && status === "failed" && errorCode !== "outcome_unknown";
    if (!isAllowed || !isSentAgain || this.generations.length > 3) return false;
    this.#addGeneration();
    return true;
  }

  #look(of: Generation, { isSeen, work }: Fault): void {
    if (work === "crash") return;
    const { fence } = of.call;
    const found = { kind: "present", externalId: "1", permalink: null } as const;
    const seen = this.copies > 0 ? found : ({ kind: "absent" } as const);
    const unseen = { kind: "look_again", afterMs: 60_000 } as const;
    const searched = isSeen ? seen : unseen;
    const verdict = this.#kind.isProvedByDuplicate ? ({ kind: "repeat" } as const) : searched;
    this.#report(of, { kind: "looked", fence, verdict });
    this.#late.push({
      of,
      attemptNumber: of.attempts.length,
      event: { kind: "looked", fence, verdict: { kind: "absent" } },
    });
  }

  #work(of: Generation, given: Fault): void {
    const { fence, callNumber } = of.call;
    if (given.work === "crash") return;
    const others = this.generations.filter((other) => other !== of).map(({ call }) => call.status);
    if (others.includes("published")) return this.#report(of, { kind: "not_wanted", fence });
    if (given.work === "step_failed") {
      const failure = { kind: "retryable", code: "internal_error", message: "" } as const;
      return this.#report(of, { kind: "step_failed", fence, failure });
    }
    this.#openAttempt(of);
    const isUnmarked = given.work === "mark_lost";
    if (!isUnmarked) this.#mark(of);
    const lost = { kind: "mark_lost", fence, callNumber: callNumber + 1 } as const;
    if (isUnmarked || given.work === "mark_kept") return this.#report(of, lost);
    this.#call(of, given.call);
  }

  #openAttempt(of: Generation): void {
    if (!this.isTarget || of.call.isAttemptOpen === true) return;
    const number = of.attempts.length + 1;
    const startedAt = new Date(this.now);
    const empty = { code: "", message: "", externalId: null, permalink: null, isNotSent: false };
    const open = { startedAt, finishedAt: null, outcome: null, callNumber: 0, ...empty };
    of.attempts.push({ targetId: "t", number, fence: of.call.fence, ...open });
    of.call = { ...of.call, isAttemptOpen: true };
  }

  #mark(of: Generation): void {
    const callNumber = of.call.callNumber + 1;
    const callUntil = new Date(this.now + CALL_MS);
    const times = { calledAt: new Date(this.now), callUntil, wakeAt: callUntil };
    of.call = { ...of.call, ...times, status: "calling", callNumber };
    const attempt = of.attempts.at(-1);
    if (attempt !== undefined)
      of.attempts[of.attempts.length - 1] = { ...attempt, callNumber, fence: of.call.fence };
  }

  #call(of: Generation, { commits, reports }: (typeof CALL_ENDS)[number]): void {
    const { callNumber } = of.call;
    const isDuplicate = this.#kind.isProvedByDuplicate && this.copies > 0;
    if (!isDuplicate && commits === "at once") this.copies += 1;
    if (!isDuplicate && commits === "at the deadline") this.#commitsAt.push(this.now + CALL_MS);
    const outcome: CallOutcome = isDuplicate
      ? { kind: "refused", code: "duplicate_on_platform", message: "sent already" }
      : toOutcome(commits === "never" ? reports : `${reports} of success`);
    const event: CallEvent = { kind: "called", callNumber, outcome };
    const report = { of, attemptNumber: of.attempts.length, event };
    if (reports !== "nothing") this.#late.push(report);
    if (reports !== "nothing" && reports !== "late") this.#learn(report);
  }
}

function toOutcome(reports: string): CallOutcome {
  const message = "";
  switch (reports) {
    case "success of success":
    case "late of success":
      return { kind: "published", externalId: "1", permalink: null };
    case "retryable":
    case "late":
      return { kind: "retryable", code: "platform_unavailable", message };
    case "refused":
      return { kind: "refused", code: "permission_missing", message };
    case "token_refused":
      return { kind: "token_refused", message };
    case "not_sent":
      return { kind: "not_sent" };
    case "limit":
      return { kind: "unknown", message, limitedForMs: 60_000 };
    default:
      return { kind: "unknown", message };
  }
}

const KINDS = [
  ["target", TARGET],
  ["reply", REPLY],
  ["private reply", PRIVATE_REPLY],
] as const;

/** No sequence of faults makes a call visible twice, and what is reported about it is true. */
function neverTwice(kind: CallKind, decideWith: Decide) {
  return fc.property(fc.array(fault, { minLength: 1, maxLength: 30 }), (faults) => {
    const run = new Run(kind, decideWith);
    for (const each of faults) run.step(each);
    expect(run.copies).toBeLessThanOrEqual(1);
    const { status, errorCode, furtherIds = [] } = run.current.call;
    const isKnown = run.hasEnded && errorCode !== "outcome_unknown" && status !== "dropped";
    expect(isKnown && (status === kind.success) !== run.copies > 0).toBe(false);
    expect(furtherIds).toEqual([]);
    expect(errorCode).not.toBe("duplicate_detected");
  });
}

test.each(KINDS)(
  "a %s never becomes visible twice, whatever its calls and searches return, whichever workers crash, and however late answers arrive",
  (_name, kind) => {
    fc.assert(neverTwice(kind, decide), { numRuns: 5_000 });
  },
);

test.each(KINDS)("a %s ends once its platform answers again", (_name, kind) => {
  fc.assert(
    fc.property(fc.array(fault, { maxLength: 20 }), (faults) => {
      const run = new Run(kind, decide);
      for (const each of faults) run.step(each);
      const answered = { call: CALL_ENDS[0], work: "call", isSeen: true } as const;
      for (let steps = 0; steps < 12; steps += 1)
        run.step({ ...answered, isLateReported: true, isSentAgain: false });
      expect(run.hasEnded).toBe(true);
      expect(run.copies).toBeLessThanOrEqual(1);
    }),
    { numRuns: 2_000 },
  );
});

function requeue<C extends Call>({ call, now }: Snapshot<C>): Decision<C> {
  const next: C = { ...call, status: "queued", wakeAt: now, version: call.version + 1 };
  return { call, changes: [{ call: next, isReported: true }] };
}

test.each<[string, CallKind, Decide]>([
  [
    "sends a call with an unknown outcome again without a search",
    REPLY,
    (snapshot, event) =>
      event.kind === "called" && event.outcome.kind === "unknown"
        ? requeue(snapshot)
        : decide(snapshot, event),
  ],
  [
    "sends a lost call again without a search",
    TARGET,
    (snapshot, event) => (event.kind === "call_lost" ? requeue(snapshot) : decide(snapshot, event)),
  ],
  [
    "searches before the call can no longer arrive",
    TARGET,
    (snapshot, event) => {
      const { call, now } = snapshot;
      return decide({ ...snapshot, call: { ...call, callUntil: call.callUntil && now } }, event);
    },
  ],
  [
    "believes a search of a worker that has lost the call",
    REPLY,
    (snapshot, event) =>
      decide(snapshot, event.kind === "looked" ? { ...event, fence: snapshot.call.fence } : event),
  ],
  ["takes a reply for a call that may be repeated", { ...REPLY, isRepeatable: true }, decide],
  [
    "forgets while it gives up that a call may be visible",
    TARGET,
    (snapshot, event) =>
      decide({ ...snapshot, call: { ...snapshot.call, openUnknowns: 0 } }, event),
  ],
])("the model finds the second call of a decision that %s", (_what, kind, naive) => {
  expect(fc.check(neverTwice(kind, naive), { numRuns: 5_000 }).failed).toBe(true);
});
