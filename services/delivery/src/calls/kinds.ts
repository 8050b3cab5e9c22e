export interface CallKind {
  readonly success: "published" | "succeeded" | "deleted";
  /** Without effect for readers: then it is repeated instead of searched for. */
  readonly isRepeatable: boolean;
  /** After a search proved it absent, if its connector names no other number. */
  readonly maxResends: number;
  /** Not only as often as a failed one, if its platform cannot carry it out twice. */
  readonly isRepeatedUntilTooLate: boolean;
  /** After an unknown outcome. Otherwise it is searched for: the duplicate can be another post. */
  readonly isProvedByDuplicate: boolean;
  /**
   * A refusal of the content disproves earlier unknown sendings too: the platform always refuses
   * that content. Not for a comment action, whose comment may have been deleted in between.
   */
  readonly isDisprovedByContent: boolean;
  /** After a late answer. Only a target knows whether its user has sent it again meanwhile. */
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
export const VISIBILITY: CallKind = { ...ONCE, isRepeatable: true };
/** Harmless to repeat, so never marked as begun: sent while its worker holds the lease. */
export const DELETION: CallKind = { ...ONCE, success: "deleted", isRepeatable: true };
