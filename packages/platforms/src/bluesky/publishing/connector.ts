import { OutboundClient } from "@postrider/shared/http/outbound-client";
import type { OutboundRules } from "@postrider/shared/http/outbound-rules";
import { callPlatform } from "#src/http/call-platform.ts";
import {
  describeStatus,
  type JsonObject,
  object,
  shorten,
  text,
} from "#src/http/platform-answer.ts";
import { bearer, bytesBody } from "#src/http/platform-request.ts";
import type { SendGuard } from "#src/http/send-once.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";
import type { Handles } from "#src/publishing/handles.ts";
import { mediaBytes } from "#src/publishing/media-bytes.ts";
import type { DeletionOutcome, Outcome } from "#src/publishing/outcome.ts";
import type { AccountAccess, Publication } from "#src/publishing/publication.ts";
import type { PrepareStep } from "#src/publishing/steps.ts";
import type { Verdict } from "#src/publishing/verdict.ts";
import { toFailure, toUploadFailure } from "./failures.ts";
import { findMatchingPost } from "./find-matching-post.ts";
import type { PageReader } from "./link-card.ts";
import { putPost } from "./put-post.ts";
import { createRecordStep } from "./record-step.ts";
import { type BlueskyUrls, isFresh, toBlobHandle } from "./video-calls.ts";
import { createVideoStep } from "./video-step.ts";
import {
  COLLECTION,
  hostOf,
  isForeign,
  isOwnersHost,
  lookForRecord,
  toPermalink,
  toRequest,
} from "./xrpc.ts";

async function deleteOnce(
  baseUrl: string,
  account: AccountAccess,
  rkey: string,
  signal: AbortSignal,
): Promise<DeletionOutcome> {
  const body = { repo: account.externalId, collection: COLLECTION, rkey };
  const method = "com.atproto.repo.deleteRecord";
  const answer = await callPlatform(toRequest(baseUrl, account, method, body), signal);
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
async function deletePost(
  baseUrl: string,
  account: AccountAccess,
  rkey: string,
  signal: AbortSignal,
): Promise<DeletionOutcome> {
  const first = await deleteOnce(baseUrl, account, rkey, signal);
  if (first.kind !== "deleted") return first;
  switch (await lookForRecord(baseUrl, account, rkey, signal)) {
    case "gone":
      return first;
    case "present":
      return await deleteOnce(baseUrl, account, rkey, signal);
    case "unreadable":
      return { kind: "unknown", message: "the record could not be read back after its deletion" };
  }
}

/**
 * A record that exists is ours, because only Postrider knows its key. Writing a record again is
 * harmless and resolves the outcome.
 */
async function reconcile(
  baseUrl: string,
  publication: Publication,
  { rkey = "" }: Handles,
  signal: AbortSignal,
): Promise<Verdict> {
  switch (await lookForRecord(baseUrl, publication, rkey, signal)) {
    case "present":
      return { kind: "present", externalId: rkey, permalink: toPermalink(publication, rkey) };
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
      const media = publication.media[index];
      if (media === undefined) throw new Error(`the post has no media at index ${index}`);
      const url = `${hostOf(baseUrl, publication)}/xrpc/com.atproto.repo.uploadBlob`;
      const headers = bearer(publication.accessToken);
      const body = bytesBody(media.contentType, mediaBytes(media));
      const call = { method: "POST", url, headers, body } as const;
      const answer = await callPlatform({ ...call, isForeign: isForeign(publication) }, signal);
      const isDone = answer.kind === "answer" && answer.status === 200;
      const blob = isDone ? object(answer.json, "blob") : undefined;
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
