import type { Handles } from "./handles.ts";
import type { Caveat, Failure, TargetErrorCode } from "./outcome.ts";

export type Verdict =
  | {
      readonly kind: "present";
      readonly externalId: string | null;
      readonly permalink: string | null;
      readonly askLater?: Handles;
      readonly caveat?: Caveat;
    }
  /**
   * The post is proved to be absent, so another publishing call is safe. `handles`, when set,
   * replace the stored handles. Preparation steps whose handles are then missing run again.
   * `isOwnFlag` says that the platform's flag of the post itself shows that no call has published
   * it, so that a later refusal as a duplicate cannot mean an earlier call. `limit`: a limit of the
   * platform ended the accepted post; the account waits, and the next call is not a repetition.
   */
  | {
      readonly kind: "absent";
      readonly handles?: Handles;
      readonly isOwnFlag?: true;
      readonly limit?: Extract<Failure, { kind: "retryable" }>;
    }
  /**
   * No post is visible, and the same content would be refused again. Without `isOwnFlag` this is
   * about the latest call only.
   */
  | {
      readonly kind: "refused";
      readonly code: TargetErrorCode;
      readonly message: string;
      readonly isOwnFlag?: true;
    }
  /** An earlier call may have published the post; another one publishes it only once. */
  | { readonly kind: "repeat"; readonly handles?: Handles }
  /**
   * The outcome is not known yet: the platform is searched again after `afterMs` milliseconds. A
   * search that could not read all posts is incomplete and does not count in `UnknownCall.looks`.
   */
  | { readonly kind: "look_again"; readonly afterMs: number; readonly isIncomplete?: boolean }
  | { readonly kind: "cannot_tell"; readonly message: string };

export function present(externalId: string | null, permalink: string | null): Verdict {
  return { kind: "present", externalId, permalink };
}

export function cannotTell(message: string): Verdict {
  return { kind: "cannot_tell", message };
}

export interface UnknownCall {
  readonly calledAt: Date;
  readonly callUntil: Date;
  /**
   * Number of complete searches (looks) for the post of this call so far; 0 at the first search.
   */
  readonly looks: number;
  readonly now: Date;
  /** Factor by which the waits between searches are multiplied: 1 in production, less in tests. */
  readonly timeScale: number;
  /** It certainly has all of the content then. */
  readonly isPending?: boolean;
  isOwned(externalIds: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Whether the platform has yet to return the id of a published Postrider post of the account:
   * `isOwned` does not know that id.
   */
  hasPostWithoutId(): Promise<boolean>;
  /**
   * Whether the account has another Postrider post with the same text but other media whose outcome
   * is also unknown. A search by the text then cannot tell which of the two posts it has found on
   * the platform.
   *
   * @param isSimilar Whether the post on the platform may also be one with these words, if the
   *   platform does not show all words of its posts.
   */
  hasSimilarPost(isSimilar?: (words: PostWords) => boolean): Promise<boolean>;
}

export interface PostWords {
  readonly title?: string | undefined;
  readonly text: string;
}
