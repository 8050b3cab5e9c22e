import { callPlatform } from "#src/http/http.ts";
import { list, object, text } from "#src/http/platform-answer.ts";
import type {
  AccountAccess,
  Publication,
  UnknownCall,
  Verdict,
} from "#src/publishing/connector.ts";
import { judgeTwins, lookAgain, type Twin } from "#src/publishing/twins.ts";
import { COLLECTION, hostOf, isForeign } from "./xrpc.ts";

const PAGE_SIZE = 100;
const MAX_PAGES = 50;
/** A record carries the time at which it was prepared, by our clock. */
const BEFORE_CALL_MS = 60_000;

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

/** The account's posts since then, newest first; undefined unless all of them were read. */
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

/** Looks through the account's own posts, which its repository lists completely and at once. */
export async function findTwinRecord(
  baseUrl: string,
  publication: Publication,
  call: UnknownCall,
  signal: AbortSignal,
): Promise<Verdict> {
  const since = call.calledAt.getTime() - BEFORE_CALL_MS;
  const entries = await listPosts(baseUrl, publication, since, signal);
  if (entries === undefined) return lookAgain(call);
  const twins = entries
    .filter(({ record }) => text(record, "text") === publication.text)
    .filter(({ record }) => countFiles(record) === publication.media.length)
    .map(({ rkey }): Twin => {
      const permalink = `https://bsky.app/profile/${publication.externalId}/post/${rkey}`;
      return { id: rkey, permalink };
    });
  return await judgeTwins(twins, publication, call, []);
}
