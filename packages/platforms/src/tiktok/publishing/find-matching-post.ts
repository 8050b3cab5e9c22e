import { list, number, text } from "#src/http/platform-answer.ts";
import { nextLook, repeatLook } from "#src/publishing/look-schedule.ts";
import { searchStart, SIMILAR_POST } from "#src/publishing/matching-posts.ts";
import type { Publication } from "#src/publishing/publication.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";
import { normalizeText } from "#src/text/normalize-text.ts";
import { ask, dataOf, type TiktokAccess } from "#src/tiktok/publishing/calls.ts";
import { isPublic } from "#src/tiktok/publishing/creator-info.ts";
import { kindOf, toPermalink } from "#src/tiktok/publishing/publish-status.ts";

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

/** Undefined when they could not all be read. */
async function listSince(
  access: TiktokAccess,
  sinceMs: number,
  signal: AbortSignal,
): Promise<readonly Entry[] | undefined> {
  const entries: Entry[] = [];
  let cursor: number | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const body = { max_count: PAGE_SIZE, cursor };
    const data = dataOf(await ask(access, `video/list/?fields=${FIELDS}`, body, signal));
    if (data === undefined) return undefined;
    const found = list(data, "videos").map(toEntry);
    // A post whose time cannot be read stays in the list, because it may be the post that is
    // searched for.
    const recent = found.filter(({ createdAtMs }) => !(createdAtMs < sinceMs));
    entries.push(...recent);
    if (data.has_more !== true || recent.length < found.length) return entries;
    if (typeof data.cursor !== "number") return undefined;
    cursor = data.cursor;
  }
  return undefined;
}

/** TikTok lists the title, the description, or one in the field of the other. */
function matches(publication: Publication, { texts, link }: Entry): boolean {
  const { title, text: description } = publication;
  const ours = [
    normalizeText(title),
    normalizeText(description),
    normalizeText(`${title ?? ""} ${description}`),
  ];
  return (
    link.includes(`/${kindOf(publication)}/`) &&
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
  access: TiktokAccess,
  publication: Publication,
  call: UnknownCall,
  signal: AbortSignal,
): Promise<Verdict> {
  const isListed =
    isPublic(publication) && normalizeText(publication.title ?? publication.text) !== "";
  if (!isListed) return { kind: "cannot_tell", message: "TikTok does not list the post's text" };
  const entries = await listSince(access, searchStart(call).getTime(), signal);
  if (entries === undefined) return repeatLook(call);
  const owned = await call.isOwned(entries.map(({ id }) => id));
  const [match, other] = entries.filter(
    (entry) => !owned.has(entry.id) && matches(publication, entry),
  );
  if (other !== undefined)
    return { kind: "cannot_tell", message: "several posts of the account match" };
  if (match === undefined)
    return (
      nextLook(call, LOOKS_AFTER_MS) ?? {
        kind: "cannot_tell",
        message: "TikTok's list of the account's posts does not contain the post",
      }
    );
  if (await call.hasSimilarPost()) return SIMILAR_POST;
  const permalink = toPermalink(publication, kindOf(publication), match.id);
  return { kind: "present", externalId: match.id, permalink };
}
