import type { Handles } from "./handles.ts";
import type { TargetErrorCode } from "./outcome.ts";

/** What reading back from the platform shows about a call with an unknown outcome. */
export type Verdict =
  | {
      readonly kind: "present";
      readonly externalId: string | null;
      readonly permalink: string | null;
      readonly askLater?: Handles;
    }
  /**
   * Absence is proved, so another visible call is safe. `handles`, when set, replace the stored ones: what is missing in
   * them is prepared again.
   */
  | { readonly kind: "absent"; readonly handles?: Handles }
  /** The platform ended the publication: nothing is visible, and the same content would be refused again. */
  | { readonly kind: "refused"; readonly code: TargetErrorCode; readonly message: string }
  /** The protocol makes a repeated call harmless, provided that the same handles are used. */
  | { readonly kind: "repeat" }
  /**
   * Not proved yet: look again after `afterMs` milliseconds. A look that could not read everything is incomplete and does
   * not count in `UnknownCall.looks`.
   */
  | { readonly kind: "look_again"; readonly afterMs: number; readonly isIncomplete?: boolean }
  | { readonly kind: "cannot_tell"; readonly message: string };

/** The call with an unknown outcome that `reconcile` looks for. */
export interface UnknownCall {
  readonly calledAt: Date;
  readonly callUntil: Date;
  /** Complete looks for this call so far; 0 at the first. */
  readonly looks: number;
  /** Database time of this look. */
  readonly now: Date;
  /** Multiplies the waiting times (1 in production). */
  readonly timeScale: number;
  /** The call was answered with `pending`, so the platform certainly has all of the content. */
  readonly isPending?: boolean;
  /** Which of these platform ids already belong to a target of this account, deleted targets included: they never match. */
  isOwned(externalIds: readonly string[]): Promise<ReadonlySet<string>>;
}
