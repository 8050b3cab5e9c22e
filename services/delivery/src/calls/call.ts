import type { Handles } from "@postrider/platforms/publishing/handles";
import type { TargetErrorCode } from "@postrider/platforms/publishing/outcome";
import type { RetryWaits } from "#src/domain/retry-wait.ts";
import type { CallKind } from "./kinds.ts";

export type CallStatus =
  /** The call waits for its time `wakeAt`. */
  | "queued"
  /** A worker holds the lease; the call has not begun. */
  | "working"
  /** Recorded as begun: until `callUntil`, the worker may send the call or may have sent it. */
  | "calling"
  /** The outcome is unknown; the call waits for the next search of the platform. */
  | "unknown"
  /** A worker searches the platform for what became of the call. */
  | "reconciling"
  /** The three words for success: of a target, of a comment action, and of a deletion. */
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

/** Whether only a new event or request can change a call with this status. */
export function isFinal(status: CallStatus): boolean {
  return FINAL.has(status);
}

export type CallErrorCode =
  | TargetErrorCode
  /** The rule of a private reply is no longer active. */
  | "rule_inactive"
  /** The operator does not allow private replies (`AUTOMATION_SENDING`). */
  | "sending_blocked";

/** A platform call that must not happen twice, as it is stored. */
export interface Call {
  readonly workspaceId: string;
  readonly accountId: string;
  readonly platform: string;
  readonly status: CallStatus;
  /**
   * No process claims the call before this instant. While it is in work, its lease or the call
   * itself ends then.
   */
  readonly wakeAt: Date;
  /** The call is not sent after this instant. */
  readonly sendBefore: Date;
  /** Raised by each claim, so that a worker that lost the call can decide nothing. */
  readonly fence: number;
  readonly crashCount: number;
  readonly retryCount: number;
  /** Number of the latest sending. */
  readonly callNumber: number;
  readonly calledAt: Date | null;
  readonly callUntil: Date | null;
  /**
   * When the first sending with an unknown outcome began. Searches of the platform start from then.
   */
  readonly firstUnknownAt: Date | null;
  /** Number of sendings that ended with an unknown outcome, also if it became known later. */
  readonly unknownCount: number;
  /** Number of sendings whose outcome is unknown. Above 0, the call may have taken effect. */
  readonly openUnknowns: number;
  readonly resendCount: number;
  readonly looks: number;
  /**
   * Whether a rate limit made the outcome unknown: then the next sending does not count as a
   * resend.
   */
  readonly isLimited: boolean;
  /** Whether a sending that the restored data does not contain may have taken effect. */
  readonly isRestored: boolean;
  readonly version: number;
  /**
   * The platform's id of the account, which accounts of several workspaces can share; null until a
   * sending begins or the platform is searched.
   */
  readonly externalAccountId: string | null;
  /** The platform's id of what the call created. */
  readonly externalId: string | null;
  readonly finishedAt: Date | null;
  readonly errorCode: CallErrorCode | null;
  readonly errorMessage: string | null;
  /** Targets: the address of the post. */
  readonly permalink?: string | null;
  /** Targets: the number of the publish request. */
  readonly generation?: number;
  /**
   * Targets: whether the latest attempt has no outcome yet. Neither a rate limit nor a call that
   * was not sent ends it.
   */
  readonly isAttemptOpen?: boolean;
  /**
   * Comment actions: the ids that further sendings returned. Targets keep such ids in their
   * attempts.
   */
  readonly furtherIds?: readonly string[];
}

/** What a call that is never marked as begun has in the place of the marks. */
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

/** One try to publish a target, as it is stored. */
export interface Attempt {
  readonly targetId: string;
  readonly number: number;
  /** Number of the latest call within the attempt. */
  readonly callNumber: number;
  /**
   * The fence of the worker that marked the latest call of the attempt. Before the first mark, of
   * the worker that began the attempt.
   */
  readonly fence: number;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
  /** Null while the attempt is open. */
  readonly outcome: AttemptOutcome | null;
  readonly code: string;
  readonly message: string;
  readonly externalId: string | null;
  readonly permalink: string | null;
  readonly isNotSent: boolean;
}

/** Settings of the decision, in milliseconds. */
export interface CallPolicy extends RetryWaits {
  /** How long a worker keeps a call while it renews an access token that the platform refused. */
  readonly leaseMs: number;
  /** How long a call waits when the calls to its platform are held. */
  readonly heldMs: number;
}

/** All that a decision depends on. It is read while the call and its siblings are locked. */
export interface Snapshot<C extends Call> {
  readonly call: C;
  readonly kind: CallKind;
  /** The same target in other generations. */
  readonly siblings: readonly C[];
  /** The attempt that the event is about; only targets have attempts. */
  readonly attempt: Attempt | undefined;
  /** The database's time after the locks were granted. */
  readonly now: Date;
  /** In [0, 1). */
  readonly random: number;
  readonly policy: CallPolicy;
}

/** What a decision says about the account, whose other calls may have to wait. */
export type AccountEffect =
  | { readonly kind: "failed" }
  | { readonly kind: "answered" }
  | {
      readonly kind: "limited";
      readonly until: Date;
      /**
       * The platform's answer about a limit of our app, which stops all accounts of the platform.
       */
      readonly ofApp?: { readonly code: TargetErrorCode; readonly message: string };
    };

export interface CallChange<C extends Call> {
  /** The new state, with its version raised by one. */
  readonly call: C;
  /** Whether the service that asked for the call learns of this state. */
  readonly isReported: boolean;
}

/** All that must be written after an event. */
export interface Decision<C extends Call> {
  /** The state before the event. */
  readonly call: C;
  /**
   * New states of the call and its siblings; none if the event is a repetition or comes from a
   * worker that lost the call.
   */
  readonly changes: readonly CallChange<C>[];
  readonly attempt?: Attempt;
  readonly account?: AccountEffect;
  /** Values that the platform returned and that the next call needs, added to the stored ones. */
  readonly handles?: Handles;
  /**
   * Set if the target is published without a post id: data with which the platform is asked for the
   * id later.
   */
  readonly askLater?: Handles;
  /**
   * Set if the worker that reported the event keeps the call and continues within the same attempt.
   */
  readonly isContinued?: true;
}
