import { list, number, text } from "#src/http/platform-answer.ts";
import type { Caller } from "#src/publishing/caller.ts";
import { repeatLook } from "#src/publishing/look-schedule.ts";
import type { Publication } from "#src/publishing/publication.ts";
import { endAt, judgeMatchingPosts, readWholeList, searchStart } from "#src/publishing/search.ts";
import {
  cannotTell,
  type PostWords,
  type UnknownCall,
  type Verdict,
} from "#src/publishing/verdict.ts";
import { normalizeText } from "#src/text/normalize-text.ts";
import { askTiktok, dataOf } from "./calls.ts";
import { isPublic } from "./creator-info.ts";
import { kindOf, toPermalink } from "./publish-status.ts";

const MINUTE_MS = 60_000;
/** TikTok's list of posts is delayed. */
const LOOKS_AFTER_MS = [2 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS];
const PAGE_SIZE = 20;
const MAX_PAGES = 50;
/**
 * Minimum length of a listed TikTok title that may be truncated. TikTok truncates listed titles at
 * about 150 characters.
 */
const MIN_TRUNCATED_LENGTH = 100;
const FIELDS = "id,title,video_description,create_time,share_url";

interface Entry {
  readonly id: string;
  readonly texts: readonly string[];
  readonly link: string;
  readonly createdAtMs: number;
}

function toEntry(video: unknown): Entry {
  const texts = [
    normalizeText(text(video, "title")),
    normalizeText(text(video, "video_description")),
  ];
  return {
    id: text(video, "id") ?? "",
    texts: texts.filter((each) => each !== ""),
    link: text(video, "share_url") ?? "",
    createdAtMs: (number(video, "create_time") ?? Number.NaN) * 1000,
  };
}

async function listPosts(
  tiktok: Caller,
  call: UnknownCall,
): Promise<{ readonly entries: readonly Entry[] } | Verdict> {
  const since = searchStart(call).getTime();
  return await readWholeList(call, MAX_PAGES, async (after) => {
    const body = { max_count: PAGE_SIZE, cursor: after === undefined ? after : Number(after) };
    const data = dataOf(await askTiktok(tiktok, `video/list/?fields=${FIELDS}`, body));
    const isMore = data?.has_more === true;
    if (data === undefined || (isMore && typeof data.cursor !== "number")) return repeatLook(call);
    const entries = list(data, "videos").map(toEntry);
    const next = isMore ? String(data.cursor) : undefined;
    return endAt({ entries, next }, ({ createdAtMs }) => createdAtMs < since);
  });
}

/** TikTok lists the title, the description, or one in the field of the other. */
function showsWords({ texts }: Entry, { title, text: description }: PostWords): boolean {
  const ours = [
    normalizeText(title),
    normalizeText(description),
    normalizeText(`${title ?? ""} ${description}`),
  ];
  return (
    texts.length > 0 &&
    texts.every((each) =>
      ours.some(
        (own) => own === each || (each.length >= MIN_TRUNCATED_LENGTH && own.startsWith(each)),
      ),
    )
  );
}

/**
 * Of a publication whose publish id is not known. A post that TikTok does not list may still exist,
 * so a person has to decide when none is found.
 */
export async function findMatchingPost(
  tiktok: Caller,
  publication: Publication,
  call: UnknownCall,
): Promise<Verdict> {
  const isListed =
    isPublic(publication) && normalizeText(publication.title ?? publication.text) !== "";
  if (!isListed) return cannotTell("TikTok does not list the post's text");
  const read = await listPosts(tiktok, call);
  if ("kind" in read) return read;
  const kind = kindOf(publication);
  const posts = read.entries
    .filter((entry) => entry.link.includes(`/${kind}/`) && showsWords(entry, publication))
    .map((entry) => ({
      id: entry.id,
      permalink: toPermalink(publication, kind, entry.id),
      isSimilar: (words: PostWords) => showsWords(entry, words),
    }));
  const content = { text: publication.title ?? publication.text };
  const verdict = await judgeMatchingPosts(posts, content, call, LOOKS_AFTER_MS);
  return verdict.kind === "absent"
    ? cannotTell("TikTok's list of the account's posts does not contain the post")
    : verdict;
}
