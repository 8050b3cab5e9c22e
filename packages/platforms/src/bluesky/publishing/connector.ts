import { OutboundClient } from "@postrider/shared/http/outbound-client";
import type { OutboundRules } from "@postrider/shared/http/outbound-rules";
import {
  describeStatus,
  type JsonObject,
  list,
  object,
  shorten,
  text,
} from "#src/http/platform-answer.ts";
import { bytesBody } from "#src/http/platform-request.ts";
import type { SendGuard } from "#src/http/send-once.ts";
import { ask, type Caller, forAccounts, type Site } from "#src/publishing/caller.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";
import type { Handles } from "#src/publishing/handles.ts";
import { repeatLook } from "#src/publishing/look-schedule.ts";
import { mediaBytes } from "#src/publishing/media-bytes.ts";
import type { DeletionOutcome, Outcome } from "#src/publishing/outcome.ts";
import { fileAt, type Publication } from "#src/publishing/publication.ts";
import { endAt, judgeMatchingPosts, readWholeList, searchStart } from "#src/publishing/search.ts";
import type { PrepareStep } from "#src/publishing/steps.ts";
import { cannotTell, present, type UnknownCall, type Verdict } from "#src/publishing/verdict.ts";
import { toFailure, toUploadFailure } from "./failures.ts";
import type { PageReader } from "./link-card.ts";
import { createTid, putPost } from "./put-post.ts";
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

/** The smaller ones are for records with long texts, such as four descriptions of pictures. */
const PAGE_SIZES = [100, 25, 6];
const MAX_PAGES = 50;
/** Keys of other servers are of any length. */
const TID = /^[2-7a-z]{13}$/;

interface Entry {
  readonly rkey: string;
  /** Nothing else of a record is kept: the owner of an account may run its server. */
  readonly isSimilar: boolean;
}

function countFiles(record: unknown): number {
  const embed = object(record, "embed");
  return object(embed, "video") === undefined ? list(embed, "images").length : 1;
}

/** Postrider never publishes a post as a reply; only comment actions create replies. */
function isSimilar(record: unknown, publication: Publication): boolean {
  return (
    object(record, "reply") === undefined &&
    (text(record, "text") ?? "") === publication.text &&
    countFiles(record) === publication.media.length
  );
}

async function readPage(
  bluesky: Caller,
  page: { readonly limit: number; readonly cursor: string | undefined },
): Promise<JsonObject | "too_large" | undefined> {
  const repo = bluesky.account.externalId;
  const query = { repo, collection: COLLECTION, limit: String(page.limit), cursor: page.cursor };
  const path = "com.atproto.repo.listRecords";
  const answer = await ask(bluesky, { path, query, isPublic: true });
  if (answer.kind === "no_answer") return answer.isTimeout === true ? undefined : "too_large";
  return answer.status === 200 && Array.isArray(answer.json?.records) ? answer.json : undefined;
}

/**
 * In descending order of the keys. The date in a record is not used, because every client chooses
 * it freely.
 */
async function listPosts(
  bluesky: Caller,
  publication: Publication,
  call: UnknownCall,
): Promise<{ readonly entries: readonly Entry[] } | Verdict> {
  const firstKey = createTid(searchStart(call), 0);
  const sizes = [...PAGE_SIZES];
  const toEntry = (value: unknown): Entry => ({
    rkey: text(value, "uri")?.split("/").at(-1) ?? "",
    isSimilar: isSimilar(object(value, "value"), publication),
  });
  return await readWholeList(call, MAX_PAGES, async (cursor) => {
    for (;;) {
      const page = await readPage(bluesky, { limit: sizes[0] ?? 1, cursor });
      if (page === "too_large" && sizes.length > 1) {
        sizes.shift();
        continue;
      }
      if (page === undefined || page === "too_large") return repeatLook(call);
      const entries = list(page, "records").map(toEntry);
      return endAt({ entries, next: text(page, "cursor") }, ({ rkey }) => rkey < firstKey);
    }
  });
}

/** The account's repository lists its posts completely and without delay. */
async function findMatchingPost(
  bluesky: Caller,
  publication: Publication,
  handles: Handles,
  call: UnknownCall,
): Promise<Verdict> {
  const read = await listPosts(bluesky, publication, call);
  if ("kind" in read) return read;
  const posts = read.entries.flatMap((entry) => {
    const { rkey } = entry;
    const isProven = rkey === handles.rkey;
    const permalink = toPermalink(publication, rkey);
    const isMatch = isProven || (entry.isSimilar && TID.test(rkey));
    return isMatch ? [{ id: rkey, permalink, isProven }] : [];
  });
  return await judgeMatchingPosts(posts, publication, call, []);
}

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
async function reconcile(bluesky: Caller, { rkey }: Handles): Promise<Verdict> {
  if (rkey === undefined) return cannotTell("the key of the record is not known");
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

async function publish(site: Site, handles: Handles, guard: SendGuard): Promise<Outcome> {
  const { rkey, record } = handles;
  if (rkey === undefined || record === undefined) throw new Error("the record was not prepared");
  const post = { rkey, record: JSON.parse(record) as JsonObject, handles };
  return await putPost(site, post, guard);
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
