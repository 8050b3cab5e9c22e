import { text, type PlatformAnswer } from "#src/http/platform-answer.ts";
import { sendOnce, toUnanswered } from "#src/http/send-once.ts";
import type {
  Connector,
  Handles,
  Outcome,
  PrepareStep,
  Publication,
  SendGuard,
  Verdict,
} from "#src/publishing/connector.ts";
import { deleteRecord } from "./delete.ts";
import { findTwinRecord } from "./find-twin.ts";
import type { PageReader } from "./link-card.ts";
import { createRecordStep } from "./record.ts";
import { createImageStep } from "./upload-image.ts";
import { createVideoStep } from "./upload-video.ts";
import type { BlueskyUrls } from "./video-calls.ts";
import { COLLECTION, lookForRecord, toFailure, toRequest } from "./xrpc.ts";

export interface BlueskyOptions extends BlueskyUrls {
  /** For the cards of links; without it there are none. */
  readonly pages?: PageReader;
}

/** With the DID, which stays when the handle changes. */
function toPermalink({ externalId }: Publication, rkey: string): string {
  return `https://bsky.app/profile/${externalId}/post/${rkey}`;
}

function toOutcome(answer: PlatformAnswer, publication: Publication, rkey: string): Outcome {
  if (answer.status === 200 && text(answer.json, "uri") !== undefined) {
    return {
      kind: "published",
      externalId: rkey,
      permalink: toPermalink(publication, rkey),
    };
  }
  const name = text(answer.json, "error");
  if (name === undefined || answer.status < 400 || answer.status >= 500 || name === "InvalidSwap") {
    return { kind: "unknown", message: name ?? `HTTP ${answer.status} without a readable answer` };
  }
  return toFailure(answer, name);
}

/** Every file is there before the record names it. */
function prepareSteps(urls: BlueskyOptions, publication: Publication): readonly PrepareStep[] {
  const uploads = publication.media.map(({ kind }, index) =>
    kind === "video" ? createVideoStep(urls, index) : createImageStep(urls.baseUrl, index),
  );
  return [...uploads, createRecordStep(urls, publication)];
}

async function publish(
  baseUrl: string,
  publication: Publication,
  handles: Handles,
  guard: SendGuard,
): Promise<Outcome> {
  const { rkey, record } = handles;
  if (rkey === undefined || record === undefined) throw new Error("the record was not prepared");
  const body = {
    repo: publication.externalId,
    collection: COLLECTION,
    rkey,
    record: JSON.parse(record) as unknown,
    swapRecord: null,
  };
  const sent = await sendOnce(
    toRequest(baseUrl, publication, "com.atproto.repo.putRecord", body),
    guard,
  );
  return sent.kind === "answer" ? toOutcome(sent, publication, rkey) : toUnanswered(sent);
}

/**
 * Reads the record back: there, it is ours, because nobody else knows the key; not there, it may be written. When it
 * cannot be read, writing it again is harmless and settles it as well.
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

/**
 * Bluesky over XRPC: `putRecord` with our own record key. The same record under the same key is a no-op that answers like
 * the first time, so an unknown outcome is settled by reading it back or writing it again.
 */
export function createBlueskyConnector(options: BlueskyOptions): Connector {
  return {
    platform: "bluesky",
    maxResends: Number.MAX_SAFE_INTEGER,
    steps: (publication) => prepareSteps(options, publication),
    publish: (publication, handles, guard) => publish(options.baseUrl, publication, handles, guard),
    reconcile: (publication, handles, _call, signal) =>
      reconcile(options.baseUrl, publication, handles, signal),
    findTwin: (publication, _handles, call, signal) =>
      findTwinRecord(options.baseUrl, publication, call, signal),
    canDelete: true,
    delete: (account, externalId, signal) =>
      deleteRecord(options.baseUrl, account, externalId, signal),
  };
}
