import type { SendGuard } from "#src/http/send-once.ts";
import type { PlatformId } from "#src/registry.ts";
import type { Details } from "./details.ts";
import type { Handles } from "./handles.ts";
import type { DeletionOutcome, Outcome } from "./outcome.ts";
import type { AccountAccess, MediaPart, Publication } from "./publication.ts";
import type { PrepareStep } from "./steps.ts";
import type { UnknownCall, Verdict } from "./verdict.ts";

/** Finds out whether a publication is visible. */
export type FindPublication = (
  publication: Publication,
  handles: Handles,
  call: UnknownCall,
  signal: AbortSignal,
) => Promise<Verdict>;

/** Publishes to one platform and deletes from it. A connector knows nothing of tasks, leases or the database. */
export interface PublishingConnector {
  readonly platform: PlatformId;
  /** Maximum number of publishing calls per generation that may follow after the post was proved to be absent. */
  readonly maxResends: number;
  /** The steps before the publishing call, in order: one step for each handle that the platform returns. */
  steps(publication: Publication): readonly PrepareStep[];
  /**
   * The media in the body of the publishing call; absent when the body contains none. The caller copies these bytes to
   * the local disk before it marks the call, so that a slow media service cannot interrupt it: in `publish`, `read`
   * returns the local bytes of these parts. The deadline of the call grows with their size.
   */
  visibleParts?(publication: Publication, handles: Handles): readonly MediaPart[];
  /**
   * The publishing call, which makes the post visible. It is sent once, on a new connection, and the connector never
   * retries it.
   */
  publish(publication: Publication, handles: Handles, guard: SendGuard): Promise<Outcome>;
  /** Finds out the outcome of a publishing call whose outcome is unknown or pending. */
  readonly reconcile: FindPublication;
  /**
   * Searches everything that the account published since the call for a post with the same content. Used after a
   * restore, when the stored data does not say how the post was sent. Without this function the outcome stays unknown,
   * and the target is not sent again.
   */
  readonly findMatchingPost?: FindPublication;
  /**
   * Asks for the id of a post that was published without one. The post stays published whatever the answer is. Required
   * if `publish` can return `askLater`.
   */
  findDetails?(account: AccountAccess, handles: Handles, signal: AbortSignal): Promise<Details>;
  /** Whether posts can be deleted through the platform's API. */
  readonly canDelete: boolean;
  /** Deletes the post `externalId`. The call can be repeated safely. It is made only if `canDelete` is true. */
  delete(account: AccountAccess, externalId: string, signal: AbortSignal): Promise<DeletionOutcome>;
}
