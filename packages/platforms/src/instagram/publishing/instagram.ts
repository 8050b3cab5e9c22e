import type { GraphApi } from "#src/graph/graph-call.ts";
import type { AccountAccess, Connector, DeletionOutcome } from "#src/publishing/connector.ts";
import { createContainerSteps } from "./container-step.ts";
import { deleteMedia } from "./delete.ts";
import { findTwinMedia } from "./find-twin.ts";
import { publishContainer } from "./publish.ts";
import { createLimitStep } from "./publishing-limit.ts";
import { reconcileByContainer } from "./reconcile.ts";

/** A container is published once, however often it is asked for, so this only keeps an endless failure from going on. */
const MAX_RESENDS = 5;

export interface InstagramOptions extends GraphApi {
  /** Where accounts are that logged in with Instagram itself; their tokens work nowhere else. */
  readonly loginBaseUrl: string;
}

const NOT_DELETED: DeletionOutcome = {
  kind: "refused",
  code: "permission_missing",
  message: "Instagram deletes nothing for accounts that log in with it itself",
};

/** Whether the account logged in with Instagram itself and not by its Page. */
function hasOwnLogin({ attributes }: Pick<AccountAccess, "attributes">): boolean {
  return attributes.login === "instagram";
}

/**
 * Instagram's Content Publishing: invisible containers, of which one is published, once. Images are fetched from their
 * public address, films are pushed. By which login an account was connected decides the host.
 */
export function createInstagramConnector({ loginBaseUrl, ...api }: InstagramOptions): Connector {
  const ownApi = { ...api, baseUrl: loginBaseUrl };
  const apiOf = (account: AccountAccess) => (hasOwnLogin(account) ? ownApi : api);
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
      reconcileByContainer({ api: apiOf(publication), publication, handles, call, signal }),
    findTwin: (publication, _handles, call, signal) =>
      findTwinMedia(apiOf(publication), publication, call, signal),
    canDelete: true,
    delete: async (account, externalId, signal) =>
      hasOwnLogin(account) ? NOT_DELETED : await deleteMedia(api, account, externalId, signal),
  };
}
