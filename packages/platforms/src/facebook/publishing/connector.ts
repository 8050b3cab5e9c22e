import type { GraphApi } from "#src/graph-api/graph-request.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";
import type { Publication } from "#src/publishing/publication.ts";
import type { PrepareStep } from "#src/publishing/steps.ts";
import { deletePost } from "./delete-post.ts";
import { findMatchingPost } from "./find-matching-post.ts";
import { kindOf, type FacebookKind } from "./post-kind.ts";
import { createPhotoStep, createPostStep } from "./post-steps.ts";
import { publishDirectly } from "./publish-directly.ts";
import { publishPrepared } from "./publish-prepared.ts";
import { reconcileDirect } from "./reconcile-direct.ts";
import { reconcilePrepared } from "./reconcile-prepared.ts";
import { createReelStep } from "./reel-step.ts";
import { createVideoStep } from "./video-step.ts";

export interface FacebookSettings extends GraphApi {
  /** URL of the host to which videos are uploaded, without the API version; absent = the URL of all other calls. */
  readonly videoBaseUrl?: string;
  /**
   * Whether a Facebook post is created unpublished first; absent = true. An installation decides this with the setting
   * `FACEBOOK_TWO_PHASE`. It is not verified that every Page accepts the flag that later publishes such a post. With
   * `false`, a post is visible as soon as it is created; when Facebook's answer is lost, the Page's posts are searched
   * for it. Videos and reels always have an id before they are visible.
   */
  readonly isTwoPhase?: boolean;
}

function toSteps(api: FacebookSettings, publication: Publication): readonly PrepareStep[] {
  switch (kindOf(publication)) {
    case "post": {
      const photos = publication.media.map((_media, index) => createPhotoStep(api, index));
      return api.isTwoPhase === false ? photos : [...photos, createPostStep(api)];
    }
    case "video":
      return [createVideoStep(api, { ...api, baseUrl: api.videoBaseUrl ?? api.baseUrl })];
    case "reel":
      return [createReelStep(api)];
  }
}

/**
 * Facebook's publishing connector for Pages. Videos and reels, and with `isTwoPhase` all other posts, are created
 * unpublished, and one call with the stored id makes them visible. This publishing call may be repeated, so an unknown
 * outcome is resolved by reading the post or by repeating the call. Without `isTwoPhase`, the other posts are visible
 * as soon as they are created.
 */
export function createFacebookPublishingConnector(api: FacebookSettings): PublishingConnector {
  const isDirect = (kind: FacebookKind) => kind === "post" && api.isTwoPhase === false;
  return {
    platform: "facebook",
    maxResends: api.isTwoPhase === false ? 1 : Number.MAX_SAFE_INTEGER,
    steps: (publication) => toSteps(api, publication),
    publish: (publication, handles, guard) => {
      const kind = kindOf(publication);
      return isDirect(kind)
        ? publishDirectly(api, publication, handles, guard)
        : publishPrepared(api, kind, publication, handles, guard);
    },
    reconcile: (publication, handles, call, signal) => {
      const kind = kindOf(publication);
      const sent = { publication, handles };
      return isDirect(kind)
        ? reconcileDirect(api, sent, call, signal)
        : reconcilePrepared(api, kind, sent, call, signal);
    },
    findMatchingPost: (publication, handles, call, signal) =>
      findMatchingPost(api, { publication, handles }, call, signal),
    canDelete: true,
    delete: (account, externalId, signal) => deletePost(api, account, externalId, signal),
  };
}
