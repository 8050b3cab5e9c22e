import type { SendGuard } from "#src/http/send-once.ts";
import type { PlatformId } from "#src/platform-id.ts";
import type { Details } from "./details.ts";
import type { Handles } from "./handles.ts";
import type { DeletionOutcome, Outcome } from "./outcome.ts";
import type { AccountAccess, MediaPart, Publication } from "./publication.ts";
import type { PrepareStep } from "./steps.ts";
import type { UnknownCall, Verdict } from "./verdict.ts";

export type FindPublication = (
  publication: Publication,
  handles: Handles,
  call: UnknownCall,
  signal: AbortSignal,
) => Promise<Verdict>;

/** A connector does not use the tasks, the leases or the database of the delivery service. */
export interface PublishingConnector {
  readonly platform: PlatformId;
  /**
   * Maximum number of times that a post is sent again for one publish command, after searches
   * proved that the post is not on the platform.
   */
  readonly maxResends: number;
  /** Returns the steps before the publishing call, in order. */
  steps(publication: Publication): readonly PrepareStep[];
  /**
   * The files in the body of the publishing call; absent when the body contains none. The caller
   * copies the bytes of these files to the local disk before it records the intent to make the
   * call, so that a slow media service cannot interrupt the call. In `publish`, `read` then returns
   * the local bytes. The deadline of the call grows with their size.
   */
  visibleParts?(publication: Publication, handles: Handles): readonly MediaPart[];
  /** Sent once, on a new connection, and never retried. */
  publish(publication: Publication, handles: Handles, guard: SendGuard): Promise<Outcome>;
  /**
   * Whether the server that gets the publishing call belongs to the account's owner, not to the
   * platform. The answers of such a server do not show whether the platform is available. Without
   * this function all accounts of the platform are on the platform's own servers.
   */
  isForeignHost?(account: AccountAccess): boolean;
  /**
   * Returns the form of a text in which `reconcile` compares it with the posts on the platform. A
   * search cannot tell two texts with the same form apart, so an account never has two open
   * publishing calls whose texts have the same form. Without this function texts are compared in
   * NFC with folded white space.
   */
  comparableText?(text: string): string;
  /** Handles that are missing prove nothing: without those that it needs, it cannot tell. */
  readonly reconcile: FindPublication;
  /**
   * Searches everything that the account published since the publishing call for a post with the
   * same content. It is used after a database restore and after a move, when the stored data does
   * not say how the post was sent. Without this function the outcome stays unknown, and the post is
   * not sent again.
   */
  readonly findMatchingPost?: FindPublication;
  /**
   * Does the work that remains for a published post: asks the platform for the id of a post that
   * was published without one, adds a video to a playlist, or asks whether the platform could
   * process it. It is repeated until it succeeds, so it first checks whether it has been done. The
   * post counts as published whatever the answer is. Required if `publish` can return `askLater`.
   */
  findDetails?(account: AccountAccess, handles: Handles, signal: AbortSignal): Promise<Details>;
  /**
   * Whether a post can be published before its id is known, which `findDetails` returns later. A
   * search may then find such a post of another target.
   */
  readonly givesIdsLater?: true;
  readonly canDelete: boolean;
  delete(
    account: AccountAccess,
    externalId: string,
    signal: AbortSignal,
    permalink?: string | null,
  ): Promise<DeletionOutcome>;
}
