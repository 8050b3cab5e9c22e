import { list, object, text } from "#src/http/platform-answer.ts";
import { ask, type Caller } from "#src/publishing/caller.ts";
import type { Handles } from "#src/publishing/handles.ts";
import { repeatLook } from "#src/publishing/look-schedule.ts";
import type { Publication } from "#src/publishing/publication.ts";
import { endAt, judgeMatchingPosts, readWholeList, searchStart } from "#src/publishing/search.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";
import { createTid } from "./put-post.ts";
import { COLLECTION, toPermalink } from "./xrpc.ts";

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
 * In descending order of the keys. The date in a record is not used, because every client chooses
 * it freely.
 */
async function listPosts(
  bluesky: Caller,
  call: UnknownCall,
): Promise<{ readonly entries: readonly Entry[] } | Verdict> {
  const firstKey = createTid(searchStart(call), 0);
  const path = "com.atproto.repo.listRecords";
  const repo = bluesky.account.externalId;
  return await readWholeList(call, MAX_PAGES, async (cursor) => {
    const query = { repo, collection: COLLECTION, limit: String(PAGE_SIZE), cursor };
    const page = await ask(bluesky, { path, query, isPublic: true });
    if (page.kind === "no_answer" || page.status !== 200 || !Array.isArray(page.json?.records))
      return repeatLook(call);
    const entries = list(page.json, "records").map(toEntry);
    return endAt({ entries, next: text(page.json, "cursor") }, ({ rkey }) => rkey < firstKey);
  });
}

function countFiles(record: unknown): number {
  const embed = object(record, "embed");
  return object(embed, "video") === undefined ? list(embed, "images").length : 1;
}

/** The account's repository lists its posts completely and without delay. */
export async function findMatchingPost(
  bluesky: Caller,
  publication: Publication,
  handles: Handles,
  call: UnknownCall,
): Promise<Verdict> {
  const read = await listPosts(bluesky, call);
  if ("kind" in read) return read;
  const posts = read.entries.flatMap(({ rkey, record }) => {
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
