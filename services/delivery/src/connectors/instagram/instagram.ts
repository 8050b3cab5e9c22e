import type { GraphApi } from "#src/connectors/graph/graph-call.ts";
import { createContainerSteps } from "#src/connectors/instagram/container-step.ts";
import { deleteMedia } from "#src/connectors/instagram/delete.ts";
import { findTwinMedia } from "#src/connectors/instagram/find-twin.ts";
import { publishContainer } from "#src/connectors/instagram/publish.ts";
import { createLimitStep } from "#src/connectors/instagram/publishing-limit.ts";
import { reconcileByContainer } from "#src/connectors/instagram/reconcile.ts";
import type { Connector } from "#src/domain/connector.ts";

/** A container is published once, however often it is asked for, so this only keeps an endless failure from going on. */
const MAX_RESENDS = 5;

/**
 * Instagram's Content Publishing with Facebook Login: invisible containers, of which one is published, once. Images are
 * fetched from their public address, films are pushed.
 */
export function createInstagramConnector(api: GraphApi): Connector {
  return {
    platform: "instagram",
    maxResends: MAX_RESENDS,
    steps: ({ media }) => [createLimitStep(api), ...createContainerSteps(api, media.length)],
    publish: (publication, handles, guard) => publishContainer(api, publication, handles, guard),
    reconcile: (publication, handles, call, signal) =>
      reconcileByContainer({ api, publication, handles, call, signal }),
    findTwin: (publication, _handles, call, signal) =>
      findTwinMedia(api, publication, call, signal),
    canDelete: true,
    delete: (account, externalId, signal) => deleteMedia(api, account, externalId, signal),
  };
}
