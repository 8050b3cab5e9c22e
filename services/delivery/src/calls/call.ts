import type { Handles } from "@postrider/platforms/publishing/handles";
import type { TargetErrorCode } from "@postrider/platforms/publishing/outcome";
import type { RetryWaits } from "#src/domain/retry-wait.ts";
import type { CallKind } from "./kinds.ts";

export type CallStatus =
  /** The call waits for its time `wakeAt`. */
  | "queued"
  | "working"
  /** Recorded as begun: until `callUntil`, the worker may send the call or may have sent it. */
  | "calling"
  /** The outcome is unknown; the call waits for the next search of the platform. */
  | "unknown"
  | "reconciling"
  | "published"
  | "succeeded"
  | "deleted"
  | "failed"
  /** The target is not wanted in this generation, or another generation of it is published. */
  | "dropped";

const FINAL: ReadonlySet<CallStatus> = new Set<CallStatus>([
  "published",
  "succeeded",
  "deleted",
  "failed",
  "dropped",
]);

export function isFinal(status: CallStatus): boolean {
  return FINAL.has(status);
}

export type CallErrorCode = TargetErrorCode | "rule_inactive" | "sending_blocked";

export interface Call {
  readonly workspaceId: string;
  readonly accountId: string;
  readonly platform: string;
  readonly status: CallStatus;
  /** No process claims it before. In work, its lease or the call itself ends then. */
  readonly wakeAt: Date;
  readonly sendBefore: Date;
  /** Raised by each claim, so that a worker that lost the call can decide nothing. */
  readonly fence: number;
  readonly crashCount: number;
  readonly retryCount: number;
  readonly callNumber: number;
  readonly calledAt: Date | null;
  readonly callUntil: Date | null;
  /** Searches of the platform start from then. Not null: a call took effect, or may have. */
  readonly firstUnknownAt: Date | null;
  /** Also those whose outcome became known later. */
  readonly unknownCount: number;
  /** Above 0, the call may have taken effect. */
  readonly openUnknowns: number;
  readonly resendCount: number;
  readonly looks: number;
  /** Then the next sending does not count as a resend. */
  readonly isLimited: boolean;
  /** Whether a sending that restored or imported data does not describe may have taken effect. */
  readonly isRestored: boolean;
  readonly version: number;
  /** Shared by accounts of several workspaces; null until a sending or search begins. */
  readonly externalAccountId: string | null;
  /** The platform's id of what the call created. */
  readonly externalId: string | null;
  readonly finishedAt: Date | null;
  readonly errorCode: CallErrorCode | null;
  readonly errorMessage: string | null;
  readonly permalink?: string | null;
  readonly generation?: number;
  /**
   * Targets: whether the latest attempt is open. A rate limit or an unsent call does not end it.
   */
  readonly isAttemptOpen?: boolean;
  /** Comment actions: ids of further sendings, which targets keep in their attempts. */
  readonly furtherIds?: readonly string[];
}

export const NEVER_MARKED = {
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
  externalAccountId: null,
  finishedAt: null,
} as const satisfies Partial<Call>;

export type Marks = keyof typeof NEVER_MARKED;

export type AttemptOutcome = "published" | "retry" | "failed" | "unknown";

export interface Attempt {
  readonly targetId: string;
  readonly number: number;
  readonly callNumber: number;
  /** Of the worker that marked its latest call or, before the first mark, began it. */
  readonly fence: number;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
  readonly outcome: AttemptOutcome | null;
  readonly code: string;
  readonly message: string;
  readonly externalId: string | null;
  readonly permalink: string | null;
  readonly isNotSent: boolean;
  /** Not stored: none of its calls was marked. */
  readonly isNew?: true;
}

/** All times are milliseconds. `leaseMs` covers the renewal of a refused access token. */
export interface CallPolicy extends RetryWaits {
  readonly leaseMs: number;
  readonly heldPlatformMs: number;
}

/** Read while the call and its siblings are locked. */
export interface Snapshot<C extends Call> {
  readonly call: C;
  readonly kind: CallKind;
  readonly siblings: readonly C[];
  /** Only targets have attempts. */
  readonly attempt: Attempt | undefined;
  /** The database's time after the locks were granted. */
  readonly now: Date;
  readonly random: number;
  readonly policy: CallPolicy;
}

export type AccountEffect =
  | { readonly kind: "failed" }
  | { readonly kind: "answered" }
  | {
      readonly kind: "limited";
      readonly until: Date;
      /** A limit of our app: it holds the kind of call that met it, of all accounts. */
      readonly ofApp?: { readonly code: TargetErrorCode; readonly message: string };
    };

export interface CallChange<C extends Call> {
  /** The new state, with its version raised by one. */
  readonly call: C;
  readonly isReported: boolean;
}

export interface Decision<C extends Call> {
  readonly call: C;
  /** None if the event is a repetition or comes from a worker that lost the call. */
  readonly changes: readonly CallChange<C>[];
  readonly attempt?: Attempt;
  readonly account?: AccountEffect;
  readonly handles?: Handles;
  /** If the target is published without a post id: the data to ask for it later. */
  readonly askLater?: Handles;
  /** The worker keeps the call and continues within the same attempt. */
  readonly isContinued?: true;
}
