import { expect, test } from "vitest";
import type { CallEvent, CallOutcome } from "#src/calls/call-event.ts";
import { decide } from "#src/calls/decide.ts";
import { ACTIONS, type CommentAction } from "./comment-action.ts";

const NOW = new Date("2026-11-23T12:00:00Z");
const POLICY = { retryMs: [60_000, 300_000], leaseMs: 180_000, heldMs: 0 };

const at = (ms: number) => new Date(NOW.getTime() + ms);

const QUEUED: CommentAction = {
  id: "0198c2f0-0000-7000-8000-000000000001",
  workspaceId: "0198c2f0-0000-7000-8000-000000000002",
  accountId: "0198c2f0-0000-7000-8000-000000000003",
  platform: "instagram",
  mediaId: "media",
  commentId: "comment",
  type: "reply",
  text: "Thanks!",
  runId: null,
  sendBefore: at(24 * 3_600_000),
  status: "queued",
  wakeAt: NOW,
  fence: 3,
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
  createdAt: at(-1_000),
  finishedAt: null,
};
const WORKING: CommentAction = { ...QUEUED, status: "working" };
const CALLING: CommentAction = {
  ...QUEUED,
  status: "calling",
  callNumber: 1,
  calledAt: at(-100),
  callUntil: at(59_900),
};
const UNKNOWN: CommentAction = {
  ...CALLING,
  status: "unknown",
  unknownCount: 1,
  openUnknowns: 1,
  firstUnknownAt: at(-100),
  errorCode: "outcome_unknown",
  errorMessage: "no answer",
};
const LOOKING: CommentAction = { ...UNKNOWN, status: "reconciling" };
const PRIVATE = { type: "private_reply", runId: "0198c2f0-0000-7000-8000-000000000004" } as const;

/** Returns the fields that an event changes in an action; undefined if it changes none. */
function changesOf(action: CommentAction, learned: CallEvent) {
  const kind = ACTIONS.kindOf(action);
  const snapshot = { call: action, kind, siblings: [], attempt: undefined, now: NOW, random: 0.5 };
  const { changes, account, isContinued } = decide({ ...snapshot, policy: POLICY }, learned);
  const next = changes[0]?.call;
  if (next === undefined) return undefined;
  const effects = {
    ...(account?.kind === "limited" ? { holdUntil: account.until } : {}),
    ...(isContinued === true ? { isContinued } : {}),
  };
  const entries = Object.entries(next).filter(
    ([name, value]) =>
      JSON.stringify(value) !== JSON.stringify(action[name as keyof CommentAction]) &&
      name !== "version",
  );
  expect(next.version).toBe(action.version + 1);
  return { ...Object.fromEntries(entries), ...effects };
}

const called = (outcome: CallOutcome, callNumber = 1): CallEvent => ({
  kind: "called",
  callNumber,
  outcome,
});
const looked = (verdict: Extract<CallEvent, { kind: "looked" }>["verdict"]): CallEvent => ({
  kind: "looked",
  fence: 3,
  verdict,
});
const NO_ANSWER = { kind: "unknown", message: "no answer" } as const;
const DUPLICATE = {
  kind: "refused",
  code: "duplicate_on_platform",
  message: "sent already",
} as const;
const FAILED = { status: "failed", finishedAt: NOW };
const SUCCEEDED = { status: "succeeded", finishedAt: NOW };

test.each<[string, CommentAction, CallEvent, object | undefined]>([
  [
    "a successful call ends its action with the id of the reply",
    CALLING,
    called({ kind: "published", externalId: "r1", permalink: null }),
    { ...SUCCEEDED, externalId: "r1" },
  ],
  [
    "a reply whose call was not answered is searched for once the call can no longer arrive at the platform",
    CALLING,
    called(NO_ANSWER),
    {
      status: "unknown",
      wakeAt: at(59_900),
      unknownCount: 1,
      openUnknowns: 1,
      firstUnknownAt: at(-100),
      errorCode: "outcome_unknown",
      errorMessage: "no answer",
    },
  ],
  [
    "a rate limit that may have come after the reply was published stops the account, and does not count as a resend",
    CALLING,
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
      holdUntil: at(120_000),
    },
  ],
  [
    "a hide call without an answer is repeated once it can no longer arrive at the platform",
    { ...CALLING, type: "hide", text: null, callUntil: at(90_000) },
    called(NO_ANSWER),
    {
      status: "queued",
      wakeAt: at(90_000),
      retryCount: 1,
      errorCode: "platform_unavailable",
      errorMessage: "no answer",
    },
  ],
  [
    "a refused call ends its action with the code of the refusal",
    CALLING,
    called({ kind: "refused", code: "content_rejected", message: "too long" }),
    { ...FAILED, errorCode: "content_rejected", errorMessage: "too long" },
  ],
  [
    "a rate limit does not count as a retry and stops the actions of the account",
    CALLING,
    called({
      kind: "retryable",
      code: "rate_limited",
      message: "slow down",
      isLimit: true,
      retryAfterMs: 600_000,
    }),
    {
      status: "queued",
      wakeAt: at(600_000),
      errorCode: "rate_limited",
      errorMessage: "slow down",
      holdUntil: at(600_000),
    },
  ],
  [
    "a temporarily failed call is retried after the configured wait, and only once it can no longer arrive",
    CALLING,
    called({ kind: "retryable", code: "platform_unavailable", message: "busy" }),
    {
      status: "queued",
      wakeAt: at(60_000),
      retryCount: 1,
      errorCode: "platform_unavailable",
      errorMessage: "busy",
    },
  ],
  [
    "a temporary failure after the last retry ends the action",
    { ...CALLING, retryCount: 2 },
    called({ kind: "retryable", code: "platform_unavailable", message: "busy" }),
    { ...FAILED, errorCode: "platform_unavailable", errorMessage: "busy" },
  ],
  [
    "a worker whose access token the platform refuses keeps the action",
    CALLING,
    called({ kind: "token_refused", message: "expired" }),
    { status: "working", wakeAt: at(180_000), isContinued: true },
  ],
  [
    "an action whose call was not sent is due at once",
    CALLING,
    called({ kind: "not_sent" }),
    { status: "queued" },
  ],
  [
    "a private reply that the platform refuses as a duplicate fails if Postrider made no earlier call",
    { ...CALLING, ...PRIVATE },
    called(DUPLICATE),
    { ...FAILED, errorCode: "duplicate_on_platform", errorMessage: "sent already" },
  ],
  [
    "a private reply that the platform refuses as a duplicate after an unanswered call has succeeded",
    { ...CALLING, ...PRIVATE, unknownCount: 1, openUnknowns: 1, resendCount: 1 },
    called(DUPLICATE),
    { ...SUCCEEDED, openUnknowns: 0 },
  ],
  [
    "a reply that the platform refuses as a duplicate after another call is searched for",
    { ...CALLING, resendCount: 1, unknownCount: 1 },
    called(DUPLICATE),
    {
      status: "unknown",
      wakeAt: at(59_900),
      unknownCount: 2,
      openUnknowns: 1,
      firstUnknownAt: at(-100),
      errorCode: "outcome_unknown",
      errorMessage: "sent already",
    },
  ],
  [
    "a refusal of a repeated call leaves the outcome of the first call unknown",
    { ...CALLING, ...PRIVATE, unknownCount: 1, openUnknowns: 1, resendCount: 1 },
    called({ kind: "refused", code: "content_rejected", message: "blocked" }),
    {
      ...FAILED,
      errorCode: "outcome_unknown",
      errorMessage: "content_rejected: blocked",
    },
  ],
  [
    "the outcome of a call whose worker stopped is unknown after the call's deadline",
    { ...CALLING, callUntil: at(-1) },
    { kind: "call_lost", callNumber: 1 },
    {
      status: "unknown",
      unknownCount: 1,
      openUnknowns: 1,
      firstUnknownAt: at(-100),
      errorCode: "outcome_unknown",
      errorMessage: "the worker stopped during the call of the platform",
    },
  ],
  [
    "a call is not lost before its deadline",
    CALLING,
    { kind: "call_lost", callNumber: 1 },
    undefined,
  ],
  [
    "a recorded beginning of a call that the database did not confirm ends as not sent",
    CALLING,
    { kind: "mark_lost", fence: 3, callNumber: 1 },
    { status: "queued" },
  ],
  [
    "an unrecorded beginning of a call that the database did not confirm releases the action",
    WORKING,
    { kind: "mark_lost", fence: 3, callNumber: 1 },
    { status: "queued", wakeAt: at(1_000) },
  ],
  [
    "a reply that a search found has succeeded",
    LOOKING,
    looked({ kind: "present", externalId: "r1", permalink: null }),
    { ...SUCCEEDED, externalId: "r1", openUnknowns: 0, errorCode: null, errorMessage: null },
  ],
  [
    "a reply that is proved to be absent is sent once more",
    LOOKING,
    looked({ kind: "absent" }),
    {
      status: "queued",
      openUnknowns: 0,
      resendCount: 1,
      errorCode: null,
      errorMessage: null,
    },
  ],
  [
    "a reply that is absent after a second call with an unknown outcome fails",
    { ...LOOKING, resendCount: 1 },
    looked({ kind: "absent" }),
    {
      ...FAILED,
      errorMessage: "it could not be determined whether the platform published it",
    },
  ],
  [
    "a reply that is absent after a rate limit is sent again without counting as a resend",
    { ...LOOKING, resendCount: 1, isLimited: true },
    looked({ kind: "absent" }),
    {
      status: "queued",
      openUnknowns: 0,
      errorCode: null,
      errorMessage: null,
    },
  ],
  [
    "a reply that is found absent after its latest send time fails as missed",
    { ...LOOKING, sendBefore: NOW },
    looked({ kind: "absent" }),
    {
      ...FAILED,
      openUnknowns: 0,
      errorCode: "missed",
      errorMessage: "it was not published, and it is too late to send it",
    },
  ],
  [
    "a private reply with an unknown outcome is sent again at once, because the platform refuses duplicates",
    { ...LOOKING, ...PRIVATE },
    looked({ kind: "repeat" }),
    { status: "queued", resendCount: 1 },
  ],
  [
    "the second repetition of a private reply waits",
    { ...LOOKING, ...PRIVATE, resendCount: 1, unknownCount: 2 },
    looked({ kind: "repeat" }),
    { status: "queued", wakeAt: at(60_000), resendCount: 2 },
  ],
  [
    "a private reply is not repeated for ever",
    { ...LOOKING, ...PRIVATE, resendCount: 3 },
    looked({ kind: "repeat" }),
    {
      ...FAILED,
      errorMessage: "it could not be determined whether the platform published it",
    },
  ],
  [
    "a complete search that does not decide the outcome is counted",
    LOOKING,
    looked({ kind: "look_again", afterMs: 30_000 }),
    { status: "unknown", wakeAt: at(30_000), looks: 1 },
  ],
  [
    "an incomplete search is repeated until an hour after the latest send time",
    { ...LOOKING, sendBefore: at(-3_600_000) },
    looked({ kind: "look_again", afterMs: 30_000, isIncomplete: true }),
    { status: "unknown", wakeAt: at(30_000) },
  ],
  [
    "a platform that cannot be read for over an hour after the latest send time leaves the outcome unknown",
    { ...LOOKING, sendBefore: at(-3_600_001) },
    looked({ kind: "look_again", afterMs: 30_000, isIncomplete: true }),
    {
      ...FAILED,
      errorMessage: "it could not be determined whether the platform published it",
    },
  ],
  [
    "a platform that cannot be searched for the reply leaves the outcome unknown",
    LOOKING,
    looked({ kind: "cannot_tell", message: "no list" }),
    { ...FAILED, errorMessage: "no list" },
  ],
  [
    "an action that is given up while the outcome of an earlier call is unknown has an unknown outcome",
    LOOKING,
    { kind: "given_up", fence: 3, code: "account_disconnected", message: "gone" },
    { ...FAILED, errorMessage: "account_disconnected: gone" },
  ],
  [
    "a worker whose lease another worker has taken over cannot give up the action",
    WORKING,
    { kind: "given_up", fence: 2, code: "missed", message: "" },
    undefined,
  ],
  [
    "a worker whose lease another worker has taken over cannot report the result of a search",
    LOOKING,
    { ...looked({ kind: "absent" }), fence: 2 } as CallEvent,
    undefined,
  ],
  [
    "a success that is reported late counts while the platform is searched",
    LOOKING,
    called({ kind: "published", externalId: "r1", permalink: null }),
    { ...SUCCEEDED, externalId: "r1", openUnknowns: 0, errorCode: null, errorMessage: null },
  ],
  [
    "a success that is reported late counts although the action has failed",
    { ...UNKNOWN, ...FAILED, status: "failed" },
    called({ kind: "published", externalId: "r1", permalink: null }),
    {
      status: "succeeded",
      externalId: "r1",
      openUnknowns: 0,
      errorCode: null,
      errorMessage: null,
    },
  ],
  [
    "a second success stores the id of the second reply",
    { ...CALLING, status: "succeeded", finishedAt: NOW, externalId: "r1" },
    called({ kind: "published", externalId: "r2", permalink: null }),
    { furtherIds: ["r2"] },
  ],
  [
    "a success that is reported twice changes nothing",
    { ...CALLING, status: "succeeded", finishedAt: NOW, externalId: "r1" },
    called({ kind: "published", externalId: "r1", permalink: null }),
    undefined,
  ],
  [
    "a late answer that the call was not sent ends the search",
    LOOKING,
    called({ kind: "not_sent" }),
    {
      status: "queued",
      unknownCount: 0,
      openUnknowns: 0,
      errorCode: null,
      errorMessage: null,
    },
  ],
  [
    "a late refusal ends the search",
    LOOKING,
    called({ kind: "refused", code: "content_rejected", message: "too long" }),
    {
      ...FAILED,
      unknownCount: 0,
      openUnknowns: 0,
      errorCode: "content_rejected",
      errorMessage: "too long",
    },
  ],
  [
    "a late refusal of an earlier call changes nothing",
    { ...LOOKING, callNumber: 2 },
    called({ kind: "refused", code: "content_rejected", message: "too long" }),
    undefined,
  ],
  [
    "a failure before the call is retried",
    WORKING,
    {
      kind: "step_failed",
      fence: 3,
      failure: { kind: "retryable", code: "platform_unavailable", message: "no token" },
    },
    {
      status: "queued",
      wakeAt: at(60_000),
      retryCount: 1,
      errorCode: "platform_unavailable",
      errorMessage: "no token",
    },
  ],
])(
  "the next state of a comment action follows from what its worker learned: %s",
  (_title, action, learned, expected) => {
    expect(changesOf(action, learned)).toEqual(expected);
  },
);
