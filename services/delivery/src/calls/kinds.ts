/** In what the kinds of calls differ. Everything else is the same for all of them. */
export interface CallKind {
  readonly success: "published" | "succeeded" | "deleted";
  /**
   * Whether repeating the call has no effect that readers see. Then it is repeated instead of
   * searched for when its outcome is unknown.
   */
  readonly isRepeatable: boolean;
  /**
   * How often a call that a search proved absent is sent again, if its connector names no other
   * number.
   */
  readonly maxResends: number;
  /**
   * Whether a call that its platform cannot carry out twice is repeated until it is too late to
   * send it, and not only as often as a failed one.
   */
  readonly isRepeatedUntilTooLate: boolean;
  /**
   * Whether a refusal as a duplicate after an unknown outcome proves that the call took effect.
   * Otherwise the platform is searched, because the duplicate can be another post.
   */
  readonly isProvedByDuplicate: boolean;
  /**
   * Whether a refusal of the content proves that earlier sendings with an unknown outcome failed,
   * too: the platform refuses the same content each time. For a comment action, the comment may
   * have been deleted in between.
   */
  readonly isDisprovedByContent: boolean;
  /**
   * Whether a late answer continues a call that was reported as failed. Only a target can tell
   * whether its user has sent it again meanwhile, in another generation.
   */
  readonly mayReopen: boolean;
}

const ONCE = {
  success: "succeeded",
  isRepeatable: false,
  maxResends: 1,
  isRepeatedUntilTooLate: false,
  isProvedByDuplicate: false,
  isDisprovedByContent: false,
  mayReopen: false,
} as const satisfies CallKind;

export const TARGET: CallKind = {
  ...ONCE,
  success: "published",
  isRepeatedUntilTooLate: true,
  isDisprovedByContent: true,
  mayReopen: true,
};
export const REPLY: CallKind = ONCE;
/** A comment gets at most one private reply, on the platform too. */
export const PRIVATE_REPLY: CallKind = { ...ONCE, isProvedByDuplicate: true };
/** Hiding and showing a comment. */
export const VISIBILITY: CallKind = { ...ONCE, isRepeatable: true };
/**
 * Deleting again is harmless, so a deletion is never marked as begun: it is sent while its worker
 * holds the lease.
 */
export const DELETION: CallKind = { ...ONCE, success: "deleted", isRepeatable: true };
