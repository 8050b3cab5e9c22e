import { callPlatform } from "#src/http/call-platform.ts";
import { list, object, text } from "#src/http/platform-answer.ts";
import { toSearch } from "#src/http/platform-request.ts";
import type { Handles } from "#src/publishing/handles.ts";
import { repeatLook } from "#src/publishing/look-schedule.ts";
import { judgeMatchingPosts, searchStart } from "#src/publishing/matching-posts.ts";
import type { AccountAccess, Publication } from "#src/publishing/publication.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";
import { createTid } from "./put-post.ts";
import { COLLECTION, hostOf, isForeign, toPermalink } from "./xrpc.ts";

const PAGE_SIZE = 100;
const MAX_PAGES = 50;

interface Entry {
  readonly rkey: string;
  readonly record: unknown;
}

function toEntry(value: unknown): Entry {
  return { rkey: text(value, "uri")?.split("/").at(-1) ?? "", record: object(value, "value") };
}

/**
 * In descending order of the keys; undefined when they could not all be read. The date in a record
 * is not used, because every client chooses it freely.
 */
async function listPosts(
  baseUrl: string,
  account: AccountAccess,
  firstKey: string,
  signal: AbortSignal,
): Promise<readonly Entry[] | undefined> {
  const found: Entry[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const query = toSearch({
      repo: account.externalId,
      collection: COLLECTION,
      limit: String(PAGE_SIZE),
      cursor,
    });
    const url = `${hostOf(baseUrl, account)}/xrpc/com.atproto.repo.listRecords${query}`;
    const answer = await callPlatform(
      { method: "GET", url, isForeign: isForeign(account) },
      signal,
    );
    if (answer.kind === "no_answer" || answer.status !== 200) return undefined;
    if (!Array.isArray(answer.json?.records)) return undefined;
    const entries = list(answer.json, "records").map(toEntry);
    found.push(...entries.filter(({ rkey }) => rkey >= firstKey));
    cursor = text(answer.json, "cursor");
    if (cursor === undefined || entries.some(({ rkey }) => rkey < firstKey)) return found;
  }
  return undefined;
}

function countFiles(record: unknown): number {
  const embed = object(record, "embed");
  return object(embed, "video") === undefined ? list(embed, "images").length : 1;
}

/** The account's repository lists its posts completely and without delay. */
export async function findMatchingPost(
  baseUrl: string,
  { publication, handles }: { readonly publication: Publication; readonly handles: Handles },
  call: UnknownCall,
  signal: AbortSignal,
): Promise<Verdict> {
  const entries = await listPosts(baseUrl, publication, createTid(searchStart(call), 0), signal);
  if (entries === undefined) return repeatLook(call);
  const posts = entries.flatMap(({ rkey, record }) => {
    const isProven = rkey === handles.rkey;
    // Postrider never publishes a post as a reply; only comment actions create replies.
    const isSimilar =
      object(record, "reply") === undefined &&
      (text(record, "text") ?? "") === publication.text &&
      countFiles(record) === publication.media.length;
    const permalink = toPermalink(publication, rkey);
    return isProven || isSimilar ? [{ id: rkey, permalink, isProven }] : [];
  });
  return await judgeMatchingPosts(posts, publication, call, []);
}
