import type { GraphApi } from "#src/graph/graph-call.ts";
import type { Connector, PrepareStep, Publication } from "#src/publishing/connector.ts";
import { deleteObject } from "./delete.ts";
import { kindOf, type FacebookKind } from "./kind.ts";
import { publishAtOnce } from "./one-phase.ts";
import { createPhotoStep, createPostStep } from "./post-steps.ts";
import { publishPrepared } from "./publish.ts";
import { findTwinPost, reconcileByPosts } from "./published-posts.ts";
import { reconcilePrepared } from "./reconcile.ts";
import { createReelStep } from "./reel-step.ts";
import { createVideoStep } from "./video-step.ts";

/** How posts are made visible. */
export interface FacebookOptions extends GraphApi {
  /**
   * Whether they are made unpublished first, which is the default. That Pages take the flag that publishes them is
   * not verified on every Page; without it a post is visible when it is made, and a lost answer is looked for among the
   * Page's posts. Videos and reels always have an id first.
   */
  readonly isTwoPhase?: boolean;
}

function toSteps(api: FacebookOptions, publication: Publication): readonly PrepareStep[] {
  switch (kindOf(publication)) {
    case "post": {
      const photos = publication.media.map((_media, index) => createPhotoStep(api, index));
      return api.isTwoPhase === false ? photos : [...photos, createPostStep(api)];
    }
    case "video":
      return [createVideoStep(api)];
    case "reel":
      return [createReelStep(api)];
  }
}

/**
 * Facebook Pages: everything is made unpublished first, and one call that names it by its stored id makes it visible.
 * That call may be repeated, so an unknown outcome is settled by reading the object, or by calling again.
 */
export function createFacebookConnector(api: FacebookOptions): Connector {
  const isAtOnce = (kind: FacebookKind) => kind === "post" && api.isTwoPhase === false;
  return {
    platform: "facebook",
    maxResends: api.isTwoPhase === false ? 1 : Number.MAX_SAFE_INTEGER,
    steps: (publication) => toSteps(api, publication),
    publish: (publication, handles, guard) => {
      const kind = kindOf(publication);
      return isAtOnce(kind)
        ? publishAtOnce(api, publication, handles, guard)
        : publishPrepared(api, kind, publication, handles, guard);
    },
    reconcile: (publication, handles, call, signal) => {
      const kind = kindOf(publication);
      const sent = { publication, handles };
      return isAtOnce(kind)
        ? reconcileByPosts(api, sent, call, signal)
        : reconcilePrepared(api, kind, sent, call, signal);
    },
    findTwin: (publication, _handles, call, signal) => findTwinPost(api, publication, call, signal),
    canDelete: true,
    delete: (account, externalId, signal) => deleteObject(api, account, externalId, signal),
  };
}
