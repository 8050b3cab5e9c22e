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
  /** How many visible calls of one generation may follow a proved absence. */
  readonly maxResends: number;
  /** The steps before the visible call, in order: one step for each handle that the platform returns. */
  steps(publication: Publication): readonly PrepareStep[];
  /**
   * The media that the visible call carries; absent when it carries none. The caller copies these bytes to the local disk
   * before it marks the call, so that a slow media service cannot interrupt it: in `publish`, `read` returns the local
   * bytes of these parts. The deadline of the call grows with their size.
   */
  visibleParts?(publication: Publication, handles: Handles): readonly MediaPart[];
  /** The one call that makes the post visible: sent once, on a new connection, never retried here. */
  publish(publication: Publication, handles: Handles, guard: SendGuard): Promise<Outcome>;
  /** Finds out what a visible call with an unknown or pending outcome did. */
  readonly reconcile: FindPublication;
  /**
   * Searches everything that the account published since the call for a post with the same content. Used after a restore,
   * when the stored data does not say how the post was sent. A platform without it cannot tell, and the target is not
   * sent again.
   */
  readonly findMatchingPost?: FindPublication;
  /**
   * Asks for the id of a post that was published without one. The post stays published whatever the answer is. Present
   * where a success can carry `askLater`.
   */
  findDetails?(account: AccountAccess, handles: Handles, signal: AbortSignal): Promise<Details>;
  /** Whether the platform lets us delete what we published. */
  readonly canDelete: boolean;
  /** Deletes the post `externalId`. Can be repeated safely. Called only where `canDelete` is true. */
  delete(account: AccountAccess, externalId: string, signal: AbortSignal): Promise<DeletionOutcome>;
}
