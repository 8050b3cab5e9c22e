import type { Handles } from "./handles.ts";
import type { TargetErrorCode } from "./outcome.ts";

/** The verdict: the result of searching the platform for the post of a publishing call with an unknown outcome. */
export type Verdict =
  | {
      readonly kind: "present";
      readonly externalId: string | null;
      readonly permalink: string | null;
      readonly askLater?: Handles;
    }
  /**
   * The post is proved to be absent, so another publishing call is safe. `handles`, when set, replace the stored
   * handles; preparation steps whose handles are missing run again.
   */
  | { readonly kind: "absent"; readonly handles?: Handles }
  /** The platform ended the publication: no post is visible, and the same content would be refused again. */
  | { readonly kind: "refused"; readonly code: TargetErrorCode; readonly message: string }
  /**
   * The outcome is not known, but the platform's protocol makes a repeated publishing call with the same handles
   * harmless.
   */
  | { readonly kind: "repeat" }
  /**
   * The outcome is not known yet: the platform is searched again after `afterMs` milliseconds. A search that could not
   * read all posts is incomplete and does not count in `UnknownCall.looks`.
   */
  | { readonly kind: "look_again"; readonly afterMs: number; readonly isIncomplete?: boolean }
  | { readonly kind: "cannot_tell"; readonly message: string };

/** A publishing call with an unknown outcome, for whose post `reconcile` searches the platform. */
export interface UnknownCall {
  readonly calledAt: Date;
  readonly callUntil: Date;
  /** Number of complete searches (looks) for the post of this call so far; 0 at the first search. */
  readonly looks: number;
  /** Database time of this search. */
  readonly now: Date;
  /** Factor by which waiting times are multiplied (1 in production). */
  readonly timeScale: number;
  /** Whether the platform answered the publishing call as `pending`, so that it certainly has all of the content. */
  readonly isPending?: boolean;
  /**
   * Returns which of the given post ids of the platform already belong to a target of this account, including deleted
   * targets. Such posts never match.
   */
  isOwned(externalIds: readonly string[]): Promise<ReadonlySet<string>>;
}
