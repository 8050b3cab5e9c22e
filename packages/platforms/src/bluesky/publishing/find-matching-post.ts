import { callPlatform } from "#src/http/call-platform.ts";
import { list, object, text } from "#src/http/platform-answer.ts";
import { repeatLook } from "#src/publishing/look-schedule.ts";
import { judgeMatchingPosts, searchStart } from "#src/publishing/matching-posts.ts";
import type { AccountAccess, Publication } from "#src/publishing/publication.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";
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

function createdAt({ record }: Entry): number {
  return Date.parse(text(record, "createdAt") ?? "");
}

/**
 * Lists the posts in the account's Bluesky repository since `since`, newest first; undefined when they could not all be
 * read.
 */
async function listPosts(
  baseUrl: string,
  account: AccountAccess,
  since: number,
  signal: AbortSignal,
): Promise<readonly Entry[] | undefined> {
  const found: Entry[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const query = new URLSearchParams({
      repo: account.externalId,
      collection: COLLECTION,
      limit: String(PAGE_SIZE),
      ...(cursor === undefined ? {} : { cursor }),
    });
    const url = `${hostOf(baseUrl, account)}/xrpc/com.atproto.repo.listRecords?${query.toString()}`;
    const answer = await callPlatform(
      { method: "GET", url, isForeign: isForeign(account) },
      signal,
    );
    if (answer.kind === "no_answer" || answer.status !== 200) return undefined;
    if (!Array.isArray(answer.json?.records)) return undefined;
    const entries = list(answer.json, "records").map(toEntry);
    found.push(...entries.filter((entry) => createdAt(entry) >= since));
    cursor = text(answer.json, "cursor");
    if (cursor === undefined || entries.some((entry) => createdAt(entry) < since)) return found;
  }
  return undefined;
}

function countFiles(record: unknown): number {
  const embed = object(record, "embed");
  return object(embed, "video") === undefined ? list(embed, "images").length : 1;
}

/**
 * Searches the account's Bluesky posts for the post of a publication. The account's repository lists its posts
 * completely and without delay.
 */
export async function findMatchingPost(
  baseUrl: string,
  publication: Publication,
  call: UnknownCall,
  signal: AbortSignal,
): Promise<Verdict> {
  const since = searchStart(call).getTime();
  const entries = await listPosts(baseUrl, publication, since, signal);
  if (entries === undefined) return repeatLook(call);
  const posts = entries
    .filter(({ record }) => text(record, "text") === publication.text)
    .filter(({ record }) => countFiles(record) === publication.media.length)
    .map(({ rkey }) => ({ id: rkey, permalink: toPermalink(publication, rkey) }));
  return await judgeMatchingPosts(posts, publication, call, []);
}
