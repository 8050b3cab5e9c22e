import { OutboundClient } from "@postrider/shared/http/outbound-client";
import type { OutboundRules } from "@postrider/shared/http/outbound-rules";
import { describeStatus, type JsonObject, shorten, text } from "#src/http/platform-answer.ts";
import { bytesBody } from "#src/http/platform-request.ts";
import type { SendGuard } from "#src/http/send-once.ts";
import { ask, type Caller, forAccounts, type Site } from "#src/publishing/caller.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";
import type { Handles } from "#src/publishing/handles.ts";
import { mediaBytes } from "#src/publishing/media-bytes.ts";
import type { DeletionOutcome, Outcome } from "#src/publishing/outcome.ts";
import { fileAt, type Publication } from "#src/publishing/publication.ts";
import type { PrepareStep } from "#src/publishing/steps.ts";
import { present, type Verdict } from "#src/publishing/verdict.ts";
import { toFailure, toUploadFailure } from "./failures.ts";
import { findMatchingPost } from "./find-matching-post.ts";
import type { PageReader } from "./link-card.ts";
import { putPost } from "./put-post.ts";
import { createRecordStep } from "./record-step.ts";
import { type BlueskyUrls, isFresh, toBlobHandle, uploadBlob } from "./video-calls.ts";
import { createVideoStep } from "./video-step.ts";
import {
  COLLECTION,
  isOwnersHost,
  lookForRecord,
  openBluesky,
  toPermalink,
  toPost,
  toSite,
} from "./xrpc.ts";

async function deleteOnce(bluesky: Caller, rkey: string): Promise<DeletionOutcome> {
  const body = { repo: bluesky.account.externalId, collection: COLLECTION, rkey };
  const answer = await ask(bluesky, toPost("com.atproto.repo.deleteRecord", body));
  if (answer.kind === "no_answer") return { kind: "unknown", message: answer.message };
  if (answer.status === 200 && answer.json !== undefined) return { kind: "deleted" };
  const name = text(answer.json, "error");
  if (name === undefined || answer.status < 400 || answer.status >= 500)
    return { kind: "unknown", message: shorten(name ?? describeStatus(answer)) };
  return toFailure(answer, name);
}

/**
 * A delayed write may arrive after the deletion and create the record again, so the record is read,
 * and deleted once more if it is there.
 */
async function deletePost(bluesky: Caller, rkey: string): Promise<DeletionOutcome> {
  const first = await deleteOnce(bluesky, rkey);
  if (first.kind !== "deleted") return first;
  switch (await lookForRecord(bluesky, rkey)) {
    case "gone":
      return first;
    case "present":
      return await deleteOnce(bluesky, rkey);
    case "unreadable":
      return { kind: "unknown", message: "the record could not be read back after its deletion" };
  }
}

/**
 * A record that exists is ours, because only Postrider knows its key. Writing a record again is
 * harmless and resolves the outcome.
 */
async function reconcile(bluesky: Caller, { rkey = "" }: Handles): Promise<Verdict> {
  switch (await lookForRecord(bluesky, rkey)) {
    case "present":
      return present(rkey, toPermalink(bluesky.account, rkey));
    case "gone":
      return { kind: "absent" };
    case "unreadable":
      return { kind: "repeat" };
  }
}

/** The image is uploaded unchanged. */
function createImageStep(baseUrl: string, index: number): PrepareStep {
  return {
    name: `upload ${index + 1}`,
    isDone: (handles) => isFresh(handles, index, Date.now()),
    run: async (publication, _handles, signal) => {
      const media = fileAt(publication, index);
      const body = bytesBody(media.contentType, mediaBytes(media));
      const { blob, answer } = await uploadBlob(openBluesky(baseUrl)(publication, signal), body);
      return blob === undefined ? toUploadFailure(answer) : toBlobHandle(index, blob, Date.now());
    },
  };
}

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

async function publish(site: Site, { rkey, record }: Handles, guard: SendGuard): Promise<Outcome> {
  if (rkey === undefined || record === undefined) throw new Error("the record was not prepared");
  return await putPost(site, { rkey, record: JSON.parse(record) as JsonObject }, guard);
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
  const open = openBluesky(baseUrl);
  return {
    platform: "bluesky",
    maxResends: Number.MAX_SAFE_INTEGER,
    steps: (publication) => toSteps(urls, pages, publication),
    publish: (publication, handles, guard) => publish(toSite(baseUrl, publication), handles, guard),
    isForeignHost: isOwnersHost,
    reconcile: (publication, handles, _call, signal) =>
      reconcile(open(publication, signal), handles),
    findMatchingPost: (publication, handles, call, signal) =>
      findMatchingPost(open(publication, signal), publication, handles, call),
    canDelete: true,
    ...forAccounts(open, { delete: deletePost }),
  };
}
