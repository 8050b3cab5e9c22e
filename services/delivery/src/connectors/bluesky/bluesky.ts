import { deleteRecord } from "#src/connectors/bluesky/delete.ts";
import { createFacets, findMentions } from "#src/connectors/bluesky/facets.ts";
import { createTid } from "#src/connectors/bluesky/tid.ts";
import {
  COLLECTION,
  hostOf,
  lookForRecord,
  toFailure,
  toRequest,
} from "#src/connectors/bluesky/xrpc.ts";
import { callPlatform } from "#src/connectors/http.ts";
import { text, type PlatformAnswer } from "#src/connectors/platform-answer.ts";
import { sendOnce, toUnanswered } from "#src/connectors/send-once.ts";
import type {
  Connector,
  Failure,
  Handles,
  Outcome,
  PrepareStep,
  Publication,
  SendGuard,
  Verdict,
} from "#src/domain/connector.ts";

/** DIDs of the handles that the text mentions; one that does not resolve is left out. */
async function resolveMentions(
  baseUrl: string,
  publication: Publication,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string> | Failure> {
  const dids = new Map<string, string>();
  for (const { handle } of findMentions(publication.text)) {
    const host = hostOf(baseUrl, publication);
    const url = `${host}/xrpc/com.atproto.identity.resolveHandle?handle=${encodeURIComponent(handle)}`;
    const answer = await callPlatform({ method: "GET", url }, signal);
    if (answer.kind === "no_answer")
      return { kind: "retryable", code: "platform_unavailable", message: answer.message };
    const did = text(answer.json, "did");
    if (answer.status === 200 && did !== undefined) dids.set(handle, did);
  }
  return dids;
}

/** Chooses the record key and fixes the whole record, so that every later call repeats the very same write. */
function createRecordStep(baseUrl: string): PrepareStep {
  return {
    name: "record",
    isDone: (handles) => handles.rkey !== undefined && handles.record !== undefined,
    run: async (publication, _handles, signal) => {
      const dids = await resolveMentions(baseUrl, publication, signal);
      if ("kind" in dids) return dids;
      const now = new Date();
      const facets = createFacets(publication.text, dids);
      const record = {
        $type: COLLECTION,
        text: publication.text,
        createdAt: now.toISOString(),
        ...(facets.length === 0 ? {} : { facets }),
      };
      return { rkey: createTid(now, Math.random()), record: JSON.stringify(record) };
    },
  };
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
export function createBlueskyConnector(options: { readonly baseUrl: string }): Connector {
  return {
    platform: "bluesky",
    maxResends: Number.MAX_SAFE_INTEGER,
    steps: () => [createRecordStep(options.baseUrl)],
    publish: (publication, handles, guard) => publish(options.baseUrl, publication, handles, guard),
    reconcile: (publication, handles, _call, signal) =>
      reconcile(options.baseUrl, publication, handles, signal),
    canDelete: true,
    delete: (account, externalId, signal) =>
      deleteRecord(options.baseUrl, account, externalId, signal),
  };
}
