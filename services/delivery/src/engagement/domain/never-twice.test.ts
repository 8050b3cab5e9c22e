import fc from "fast-check";
import { expect, test } from "vitest";
import type { CallEvent, CallOutcome } from "#src/calls/call-event.ts";
import { decide } from "#src/calls/decide.ts";
import { ACTIONS, type CommentAction } from "./comment-action.ts";

const START = Date.parse("2026-11-23T12:00:00Z");
const CALL_MS = 60_000;
const POLICY = { retryMs: [1_000, 60_000, 300_000, 900_000], leaseMs: 180_000, heldMs: 0 };

/** How a platform call ends: whether the platform carries it out, and what its worker reports. */
const CALL_ENDS = [
  { commits: true, reports: "done" },
  { commits: true, reports: "unknown" },
  { commits: true, reports: "nothing" },
  { commits: true, reports: "late" },
  { commits: false, reports: "unknown" },
  { commits: false, reports: "nothing" },
  { commits: false, reports: "late" },
  { commits: false, reports: "retryable" },
  { commits: false, reports: "token_refused" },
  { commits: false, reports: "not_sent" },
] as const;

const fault = fc.record({
  call: fc.constantFrom(...CALL_ENDS),
  /** Whether a search of the platform finds out what became of the call. */
  isSeen: fc.boolean(),
  /** Whether the simulated worker also reports the platform's answer if it arrives after the deadline of the call. */
  isLateAnswered: fc.boolean(),
});
type Fault = typeof fault extends fc.Arbitrary<infer T> ? T : never;

/**
 * A platform and the workers of one action. The platform carries out a call at most once and before `callUntil`. It can be
 * searched for replies, and refuses a second private reply.
 */
class Run {
  action: CommentAction;
  now = START;
  copies = 0;
  readonly late: CallEvent[] = [];

  constructor(type: "reply" | "private_reply") {
    this.action = {
      id: "0198c2f0-0000-7000-8000-000000000001",
      workspaceId: "0198c2f0-0000-7000-8000-000000000002",
      accountId: "0198c2f0-0000-7000-8000-000000000003",
      platform: "instagram",
      mediaId: "media",
      commentId: "comment",
      type,
      text: "Thanks!",
      runId: type === "reply" ? null : "0198c2f0-0000-7000-8000-000000000004",
      sendBefore: new Date(START + 24 * 3_600_000),
      status: "queued",
      wakeAt: new Date(START),
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
      externalAccountId: "external-1",
      externalId: null,
      furtherIds: [],
      errorCode: null,
      errorMessage: null,
      cause: null,
      createdAt: new Date(START),
      finishedAt: null,
    };
  }

  get hasEnded(): boolean {
    return this.action.status === "succeeded" || this.action.status === "failed";
  }

  learn(learned: CallEvent): void {
    const { action: call } = this;
    const known = { call, kind: ACTIONS.kindOf(call), siblings: [], attempt: undefined };
    const snapshot = { ...known, now: new Date(this.now), random: 0.5, policy: POLICY };
    this.action = decide(snapshot, learned).changes[0]?.call ?? call;
  }

  /** Claims the action when it is due, and works on it until one attempt has ended. */
  step({ call, isSeen, isLateAnswered }: Fault): void {
    if (isLateAnswered) for (const learned of this.late.splice(0)) this.learn(learned);
    if (this.hasEnded) return;
    this.now = Math.max(this.now, this.action.wakeAt.getTime());
    const { status, callNumber } = this.action;
    if (status === "calling") return this.learn({ kind: "call_lost", callNumber });
    const fence = this.action.fence + 1;
    const isLook = status === "unknown" || status === "reconciling";
    this.action = { ...this.action, fence, status: isLook ? "reconciling" : "working" };
    if (isLook) this.look(isSeen, fence);
    else this.call(call);
  }

  private look(isSeen: boolean, fence: number): void {
    const isSent = this.copies > 0;
    const found = isSent
      ? ({ kind: "present", externalId: "r1", permalink: null } as const)
      : ({ kind: "absent" } as const);
    const verdict =
      this.action.type === "private_reply"
        ? ({ kind: "repeat" } as const)
        : isSeen
          ? found
          : ({ kind: "look_again", afterMs: 60_000 } as const);
    this.learn({ kind: "looked", fence, verdict });
  }

  private call({ commits, reports }: (typeof CALL_ENDS)[number]): void {
    const callUntil = new Date(this.now + CALL_MS);
    const callNumber = this.action.callNumber + 1;
    this.action = {
      ...this.action,
      status: "calling",
      callNumber,
      calledAt: new Date(this.now),
      callUntil,
      wakeAt: callUntil,
    };
    const isDuplicate = this.action.type === "private_reply" && this.copies > 0;
    const outcome: CallOutcome = isDuplicate
      ? { kind: "refused", code: "duplicate_on_platform", message: "sent already" }
      : this.carryOut(commits, reports);
    const learned: CallEvent = { kind: "called", callNumber, outcome };
    if (reports === "late") this.late.push(learned);
    else if (reports !== "nothing") this.learn(learned);
  }

  private carryOut(commits: boolean, reports: string): CallOutcome {
    if (commits) this.copies += 1;
    const message = "";
    if (reports === "unknown") return { kind: "unknown", message };
    if (commits) return { kind: "published", externalId: `r${this.copies}`, permalink: null };
    if (reports === "token_refused") return { kind: "token_refused", message };
    if (reports === "not_sent") return { kind: "not_sent" };
    return { kind: "retryable", code: "platform_unavailable", message };
  }
}

test.each(["reply", "private_reply"] as const)(
  "a %s is never published twice, whatever its calls and searches return and however late answers arrive",
  (type) => {
    fc.assert(
      fc.property(fc.array(fault, { minLength: 1, maxLength: 30 }), (faults) => {
        const run = new Run(type);
        for (const each of faults) run.step(each);
        expect(run.copies).toBeLessThanOrEqual(1);
        const isKnown = run.action.errorCode !== "outcome_unknown";
        const isWrong = (run.action.status === "succeeded") !== run.copies > 0;
        expect(run.hasEnded && isKnown && isWrong).toBe(false);
        expect(run.action.furtherIds).toEqual([]);
      }),
      { numRuns: 3_000 },
    );
  },
);

test.each(["reply", "private_reply"] as const)(
  "the comment action %s ends once its platform answers again",
  (type) => {
    fc.assert(
      fc.property(fc.array(fault, { maxLength: 20 }), (faults) => {
        const run = new Run(type);
        for (const each of faults) run.step(each);
        const works = { call: CALL_ENDS[0], isSeen: true, isLateAnswered: true };
        for (let steps = 0; steps < 10; steps += 1) run.step(works);
        expect(run.hasEnded).toBe(true);
        expect(run.copies).toBeLessThanOrEqual(1);
      }),
      { numRuns: 2_000 },
    );
  },
);
