import { OutboundClient } from "@postrider/shared/http/outbound-client";
import type { OutboundRules } from "@postrider/shared/http/outbound-rules";
import type { JsonObject } from "#src/http/platform-answer.ts";
import type { SendGuard } from "#src/http/send-once.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";
import type { Handles } from "#src/publishing/handles.ts";
import type { Outcome } from "#src/publishing/outcome.ts";
import type { Publication } from "#src/publishing/publication.ts";
import type { PrepareStep } from "#src/publishing/steps.ts";
import { deletePost } from "./delete-post.ts";
import { findMatchingPost } from "./find-matching-post.ts";
import { createImageStep } from "./image-step.ts";
import type { PageReader } from "./link-card.ts";
import { putPost } from "./put-post.ts";
import { reconcile } from "./reconcile.ts";
import { createRecordStep } from "./record-step.ts";
import type { BlueskyUrls } from "./video-calls.ts";
import { createVideoStep } from "./video-step.ts";
import { isOwnersHost } from "./xrpc.ts";

export interface BlueskySettings extends BlueskyUrls {
  readonly outbound?: OutboundRules;
}

function toSteps(
  urls: BlueskyUrls,
  pages: PageReader,
  publication: Publication,
): readonly PrepareStep[] {
  const uploads = publication.media.map(({ kind }, index) =>
    kind === "video" ? createVideoStep(urls, index) : createImageStep(urls.baseUrl, index),
  );
  return [...uploads, createRecordStep({ baseUrl: urls.baseUrl, pages }, publication)];
}

async function publish(
  baseUrl: string,
  publication: Publication,
  handles: Handles,
  guard: SendGuard,
): Promise<Outcome> {
  const { rkey, record } = handles;
  if (rkey === undefined || record === undefined) throw new Error("the record was not prepared");
  return await putPost(
    baseUrl,
    publication,
    { rkey, record: JSON.parse(record) as JsonObject },
    guard,
  );
}

/**
 * Writing the same record under the same key again changes nothing and gets the same answer, so an
 * unknown outcome is resolved by reading the record or by writing it again.
 */
export function createBlueskyPublishingConnector(
  { outbound = { allow: [] }, ...urls }: BlueskySettings,
  pages: PageReader = new OutboundClient(outbound),
): PublishingConnector {
  const { baseUrl } = urls;
  return {
    platform: "bluesky",
    maxResends: Number.MAX_SAFE_INTEGER,
    steps: (publication) => toSteps(urls, pages, publication),
    publish: (publication, handles, guard) => publish(baseUrl, publication, handles, guard),
    isForeignHost: isOwnersHost,
    reconcile: (publication, handles, _call, signal) =>
      reconcile(baseUrl, publication, handles, signal),
    findMatchingPost: (publication, handles, call, signal) =>
      findMatchingPost(baseUrl, { publication, handles }, call, signal),
    canDelete: true,
    delete: (account, externalId, signal) => deletePost(baseUrl, account, externalId, signal),
  };
}
