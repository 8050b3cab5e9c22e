import type { Handles } from "./handles.ts";
import type { Caveat, TargetErrorCode } from "./outcome.ts";

/** What is known about a publishing call with an unknown outcome after the platform was searched for its post. */
export type Verdict =
  | {
      readonly kind: "present";
      readonly externalId: string | null;
      readonly permalink: string | null;
      readonly askLater?: Handles;
      readonly caveat?: Caveat;
    }
  /**
   * The post is proved to be absent, so another publishing call is safe. `handles`, when set, replace the stored
   * handles. Preparation steps whose handles are then missing run again. `isOwnFlag` says that the platform's flag of the post
   * itself shows that no call has published it, so that a later refusal as a duplicate cannot mean an earlier call.
   */
  | { readonly kind: "absent"; readonly handles?: Handles; readonly isOwnFlag?: true }
  /** The platform ended the publication: no post is visible, and the same content would be refused again. */
  | { readonly kind: "refused"; readonly code: TargetErrorCode; readonly message: string }
  /**
   * The outcome is not known, but the platform's protocol makes it harmless to repeat the publishing call with the same
   * stored values (handles).
   */
  | { readonly kind: "repeat" }
  /**
   * The outcome is not known yet: the platform is searched again after `afterMs` milliseconds. A search that could not
   * read all posts is incomplete and does not count in `UnknownCall.looks`.
   */
  | { readonly kind: "look_again"; readonly afterMs: number; readonly isIncomplete?: boolean }
  | { readonly kind: "cannot_tell"; readonly message: string };

/** A publishing call with an unknown outcome. The connector's `reconcile` searches the platform for its post. */
export interface UnknownCall {
  readonly calledAt: Date;
  readonly callUntil: Date;
  /** Number of complete searches (looks) for the post of this call so far; 0 at the first search. */
  readonly looks: number;
  /** Time of this search for the post, by the clock of the database. */
  readonly now: Date;
  /** Factor by which the waits between searches are multiplied: 1 in production, less in tests. */
  readonly timeScale: number;
  /** Whether the platform answered the publishing call as `pending`, so that it certainly has all of the content. */
  readonly isPending?: boolean;
  /**
   * Returns which of the given posts on the platform already belong to a Postrider post on the same account, including
   * deleted posts. They cannot be the post that is searched for.
   */
  isOwned(externalIds: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Whether the account has another Postrider post with the same text but other media whose outcome is also unknown. A search
   * by the text then cannot tell which of the two posts it has found on the platform.
   */
  hasSimilarPost(): Promise<boolean>;
}
