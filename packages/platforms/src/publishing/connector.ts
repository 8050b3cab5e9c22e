import type { PlatformId } from "#src/registry.ts";
import type { Details } from "./details.ts";

/** Why a target failed or waits: the `error.code` of the interface. */
export type TargetErrorCode =
  | "content_rejected"
  | "media_rejected"
  | "media_fetch_failed"
  | "duplicate_on_platform"
  | "permission_missing"
  | "account_reconnect_required"
  | "account_disconnected"
  | "account_action_needed"
  | "app_configuration"
  | "platform_quota"
  | "rate_limited"
  | "platform_unavailable"
  | "outcome_unknown"
  | "duplicate_detected"
  | "missed"
  | "internal_error";

/** As whom a connector talks to its platform. */
export interface AccountAccess {
  /** The platform's own id of the account. */
  readonly externalId: string;
  readonly username: string;
  readonly accessToken: string;
  /** Non-secret data of the credential, for example the host of a bluesky repository. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** A part of a file; without `length` it goes to the end. */
export interface ByteRange {
  readonly start: number;
  readonly length?: number;
}

/** An image or a video as the platform is to get it: its location and other metadata are removed. */
export interface PublicationMedia {
  readonly id: string;
  readonly kind: "image" | "video";
  /** Of the bytes that `read` gives, like `bytes` and `sha256`. */
  readonly contentType: string;
  readonly bytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
  /** Pixels as a viewer sees them; null where unknown. */
  readonly width: number | null;
  readonly height: number | null;
  readonly durationMs: number | null;
  readonly fileName: string;
  /** Signed, public, without redirects: for platforms that fetch for themselves. */
  readonly url: string;
  /**
   * The bytes, as they come. A platform's upload is kept back by them, never collected in memory.
   *
   * @throws MediaUnreadable When media does not answer, breaks off, or the media is gone. A step lets it through: it is
   * tried again, or refused with `media_fetch_failed` when the media is gone.
   */
  read(range: ByteRange, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
}

/** A stretch of a file of the post. */
export interface MediaPart {
  readonly media: PublicationMedia;
  readonly start: number;
  readonly length: number;
}

/** What a connector is asked to publish, and as whom. */
export interface Publication extends AccountAccess {
  readonly targetId: string;
  readonly text: string;
  readonly title: string | undefined;
  readonly privacy: string | undefined;
  readonly tags: readonly string[];
  /** In the post's order. */
  readonly media: readonly PublicationMedia[];
}

/** What steps have made so far: ids, URIs and records that the platform returned or that we chose. Stored before the next call. */
export type Handles = Readonly<Record<string, string>>;

/** The platform refused, or could not be asked, and certainly nothing is visible because of it. */
export type Failure =
  /** A parsed, definite refusal; the same call would be refused again. */
  | { readonly kind: "refused"; readonly code: TargetErrorCode; readonly message: string }
  /** Certainly not created; may work later, after the platform's own wait if it named one. */
  | {
      readonly kind: "retryable";
      readonly code: TargetErrorCode;
      readonly message: string;
      readonly retryAfterMs?: number;
      /** True when the platform's limit refused: waiting costs no attempt and holds the whole account back. */
      readonly isLimit?: boolean;
    }
  /** The access token was refused: refresh once, then ask a person to connect again. */
  | { readonly kind: "token_refused"; readonly message: string };

/** The first byte never left: our own clocks said that the mark was too old. */
export interface NotSent {
  readonly kind: "not_sent";
}

export interface Published {
  readonly kind: "published";
  readonly externalId: string | null;
  readonly permalink: string | null;
  /** What `findDetails` needs to ask with when the platform gives the id later; nothing secret. */
  readonly askLater?: Handles;
}

/** Time-out, reset after send, 5xx or 429 on the visible call, unreadable body, or the worker died: it may be visible. */
export interface Unknown {
  readonly kind: "unknown";
  readonly message: string;
  /**
   * Set when the answer was the platform's rate limit on a call that has no key. It is reconciled like any other
   * unknown outcome, but the resend after a proved absence is not counted against `maxResends`, and the account waits
   * this long.
   */
  readonly limitedForMs?: number;
}

/**
 * The platform has all that it needs and is at work on it; whether it will be visible is for it to say, and `reconcile`
 * asks, for the first time after this long. Nothing is in doubt but the end, so this is no unknown outcome to people.
 */
export interface Pending {
  readonly kind: "pending";
  readonly afterMs: number;
  /** What the platform returned and `reconcile` asks with; added to the handles together with the outcome. */
  readonly handles?: Handles;
}

export type Outcome = Published | Failure | NotSent | Unknown | Pending;

/** It is not there any more; whether this call removed it or it was gone before makes no difference. */
export type Deleted = { readonly kind: "deleted" };

/** What deleting came to. After `unknown` it is simply done again. */
export type DeletionOutcome = Deleted | Failure | Unknown;

/** What reading the platform back showed about a call with an unknown outcome. */
export type Verdict =
  | {
      readonly kind: "present";
      readonly externalId: string | null;
      readonly permalink: string | null;
      readonly askLater?: Handles;
    }
  /**
   * Proved: nothing is there. Another visible call is safe. With `handles`, those are what is left of what the steps had
   * made: what cannot be used again is made anew.
   */
  | { readonly kind: "absent"; readonly handles?: Handles }
  /** The platform has ended it: nothing is visible, and the same content would be refused again. */
  | { readonly kind: "refused"; readonly code: TargetErrorCode; readonly message: string }
  /** The protocol makes the repeated call harmless; the same handles must be used. */
  | { readonly kind: "repeat" }
  /**
   * Not proved yet, look once more after this many milliseconds from now. A look that could not read everything is
   * incomplete and does not count as one of `UnknownCall.looks`.
   */
  | { readonly kind: "look_again"; readonly afterMs: number; readonly isIncomplete?: boolean }
  | { readonly kind: "cannot_tell"; readonly message: string };

/**
 * Nothing is wrong, the platform is still at it: the step is run again after this long, with these handles added. It costs
 * no attempt; how long a step waits in all is the connector's to limit, by what it keeps in its handles.
 */
export interface StepWait {
  readonly kind: "wait";
  readonly afterMs: number;
  readonly handles?: Handles;
}

/** What a step came to: handles to keep, a failure, or a wait. No handle is named `kind`. */
export type StepResult = Handles | Failure | StepWait;

/** An invisible step. Repeating it is harmless; what it returns is stored before anything else happens. */
export interface PrepareStep {
  readonly name: string;
  /** Whether its handles are stored already, so that it is not run again. */
  isDone(handles: Handles): boolean;
  run(publication: Publication, handles: Handles, signal: AbortSignal): Promise<StepResult>;
}

/** What the core guarantees right before the first byte of a visible call. */
export interface SendGuard {
  /** False when either clock shows that the mark is too old; then nothing may be sent. */
  mayStillSend(): boolean;
  /** Deadline of the whole call, milliseconds. */
  readonly timeoutMs: number;
}

/** The call with an unknown outcome that `reconcile` looks for. */
export interface UnknownCall {
  readonly calledAt: Date;
  readonly callUntil: Date;
  /** Complete looks so far at this call, 0 at the first. */
  readonly looks: number;
  /** Database time of this look. */
  readonly now: Date;
  /** Multiplies the waiting times (1 in production). */
  readonly timeScale: number;
  /** The call was answered with `pending`, so the platform certainly has all of it. */
  readonly isPending?: boolean;
  /** The platform ids that targets of this account own already, deleted ones too: never adopted again. */
  isOwned(externalIds: readonly string[]): Promise<ReadonlySet<string>>;
}

/** Our code that talks to one platform. It knows nothing of tasks, leases or the database. */
export interface Connector {
  readonly platform: PlatformId;
  /** How often a proved absence may be followed by another visible call in one generation. */
  readonly maxResends: number;
  /** What has to be done before the visible call, in order: one step for each handle that the platform returns. */
  steps(publication: Publication): readonly PrepareStep[];
  /**
   * What the visible call carries of the post's media; absent where it carries none. The core brings these bytes onto
   * this machine before the call is marked, so that a slow media service cannot cut it: in `publish`, `read` of these
   * stretches reads them from disk. The call's deadline grows with them.
   */
  visibleParts?(publication: Publication, handles: Handles): readonly MediaPart[];
  /** The one call that makes the post visible: sent once, on a new connection, never retried here. */
  publish(publication: Publication, handles: Handles, guard: SendGuard): Promise<Outcome>;
  reconcile(
    publication: Publication,
    handles: Handles,
    call: UnknownCall,
    signal: AbortSignal,
  ): Promise<Verdict>;
  /**
   * Looks among all that the account has published since the call for what says and shows the same: the data was restored,
   * and does not know how it was sent. Without it nobody can tell, and the target is not sent.
   */
  readonly findTwin?: Connector["reconcile"];
  /**
   * Asks for the id of what is published without one. Whatever comes of it, the publication stays one. Present where a
   * success can carry `askLater`.
   */
  findDetails?(account: AccountAccess, handles: Handles, signal: AbortSignal): Promise<Details>;
  /** Whether the platform lets us delete what we published. */
  readonly canDelete: boolean;
  /** Deletes what was published as `externalId`. Repeating it is harmless. Called only where `canDelete`. */
  delete(account: AccountAccess, externalId: string, signal: AbortSignal): Promise<DeletionOutcome>;
}
