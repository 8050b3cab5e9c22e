import { deleteObject } from "#src/connectors/facebook/delete.ts";
import { kindOf } from "#src/connectors/facebook/kind.ts";
import { createPhotoStep, createPostStep } from "#src/connectors/facebook/post-steps.ts";
import { publishPrepared } from "#src/connectors/facebook/publish.ts";
import { reconcilePrepared } from "#src/connectors/facebook/reconcile.ts";
import { createReelStep } from "#src/connectors/facebook/reel-step.ts";
import { createVideoStep } from "#src/connectors/facebook/video-step.ts";
import type { GraphApi } from "#src/connectors/graph/graph-call.ts";
import type { Connector, PrepareStep, Publication } from "#src/domain/connector.ts";

function toSteps(api: GraphApi, publication: Publication): readonly PrepareStep[] {
  switch (kindOf(publication)) {
    case "post":
      return [
        ...publication.media.map((_media, index) => createPhotoStep(api, index)),
        createPostStep(api),
      ];
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
export function createFacebookConnector(api: GraphApi): Connector {
  return {
    platform: "facebook",
    maxResends: Number.MAX_SAFE_INTEGER,
    steps: (publication) => toSteps(api, publication),
    publish: (publication, handles, guard) =>
      publishPrepared(api, kindOf(publication), publication, handles, guard),
    reconcile: (publication, handles, call, signal) =>
      reconcilePrepared(api, kindOf(publication), { publication, handles }, call, signal),
    canDelete: true,
    delete: (account, externalId, signal) => deleteObject(api, account, externalId, signal),
  };
}
