import { apiOfAccount, type InstagramSettings } from "#src/instagram/api-of-account.ts";
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

const MAX_RESENDS = 5;

const NOT_DELETED: DeletionOutcome = {
  kind: "refused",
  code: "permission_missing",
  message: "Instagram cannot delete posts of accounts that were connected with Instagram Login",
};

/**
 * A post is created as an invisible container, which is then published once. Instagram fetches
 * images from their public URL; the account's login decides whether videos are uploaded or fetched.
 */
export function createInstagramPublishingConnector(
  settings: InstagramSettings,
): PublishingConnector {
  const apiOf = (account: AccountAccess) => apiOfAccount(settings, account);
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
        : await deletePost(apiOf(account), account, externalId, signal),
  };
}
