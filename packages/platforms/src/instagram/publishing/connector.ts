import type { GraphApi } from "#src/graph-api/graph-request.ts";
import { usesInstagramLogin } from "#src/instagram/login.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";
import type { DeletionOutcome } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { createContainerSteps } from "./container-step.ts";
import { deletePost } from "./delete-post.ts";
import { findMatchingPost } from "./find-matching-post.ts";
import { publishContainer } from "./publish-container.ts";
import { createLimitStep } from "./publishing-limit.ts";
import { reconcile } from "./reconcile.ts";

/**
 * Maximum number of repeated publishing calls to Instagram. Instagram publishes a container only once, so repeating the
 * call is harmless; the limit only ends an endless series of failures.
 */
const MAX_RESENDS = 5;

export interface InstagramSettings extends GraphApi {
  /** URL of the API host of accounts that were connected with Instagram Login; their tokens work only there. */
  readonly loginBaseUrl: string;
}

const NOT_DELETED: DeletionOutcome = {
  kind: "refused",
  code: "permission_missing",
  message: "Instagram cannot delete posts of accounts that were connected with Instagram Login",
};

/**
 * Instagram's publishing connector: a post is created as an invisible media container, which is then published once.
 * Instagram fetches images from their public URL. Whether the account was connected with Facebook Login or Instagram
 * Login decides the API host, and whether videos are uploaded or fetched.
 */
export function createInstagramPublishingConnector({
  loginBaseUrl,
  ...api
}: InstagramSettings): PublishingConnector {
  const loginApi = { ...api, baseUrl: loginBaseUrl };
  const apiOf = (account: AccountAccess) => (usesInstagramLogin(account) ? loginApi : api);
  return {
    platform: "instagram",
    maxResends: MAX_RESENDS,
    steps: (publication) => {
      const chosen = apiOf(publication);
      const files = publication.media.length;
      return [createLimitStep(chosen), ...createContainerSteps(chosen, files)];
    },
    publish: (publication, handles, guard) =>
      publishContainer(apiOf(publication), publication, handles, guard),
    reconcile: (publication, handles, call, signal) =>
      reconcile({ api: apiOf(publication), publication, handles, call, signal }),
    findMatchingPost: (publication, _handles, call, signal) =>
      findMatchingPost(apiOf(publication), publication, call, signal),
    canDelete: true,
    delete: async (account, externalId, signal) =>
      usesInstagramLogin(account)
        ? NOT_DELETED
        : await deletePost(api, account, externalId, signal),
  };
}
