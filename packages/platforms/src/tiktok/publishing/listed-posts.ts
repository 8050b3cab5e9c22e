import { list, text } from "#src/http/platform-answer.ts";
import type { Publication, UnknownCall, Verdict } from "#src/publishing/connector.ts";
import { ask, dataOf, type TiktokAccess } from "./calls.ts";
import { isPublic } from "./creator.ts";
import { kindOf, toPermalink } from "./post-links.ts";

const MINUTE_MS = 60_000;
/** A post may be listed late; after these there is nothing more to see (architecture, "Reconciling"). */
const LOOKS_AFTER_MS = [2 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS];
/** Clock differences between us and the platform. */
const BEFORE_CALL_MS = MINUTE_MS;
const PAGE_SIZE = 20;
const MAX_PAGES = 50;
/** Lists cut titles at about 150 characters; a text that is cut here is long enough to be known by. */
const MIN_CUT_LENGTH = 100;
const FIELDS = "id,title,video_description,create_time,share_url";

interface Entry {
  readonly id: string;
  readonly words: readonly string[];
  readonly link: string;
  readonly createdAtMs: number;
}

function fold(words: string | undefined): string {
  return (words ?? "").normalize("NFC").replaceAll(/\s+/g, " ").trim();
}

function toEntry(video: unknown): Entry {
  const { create_time: seconds } = video as { create_time?: unknown };
  const words = [fold(text(video, "title")), fold(text(video, "video_description"))];
  return {
    id: text(video, "id") ?? "",
    words: words.filter((each) => each !== ""),
    link: text(video, "share_url") ?? "",
    createdAtMs: Number(seconds) * 1000,
  };
}

/** The account's public posts since just before the call; undefined when they cannot be read to the end. */
async function listSince(
  access: TiktokAccess,
  sinceMs: number,
  signal: AbortSignal,
): Promise<readonly Entry[] | undefined> {
  const entries: Entry[] = [];
  let cursor: number | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const body = { max_count: PAGE_SIZE, ...(cursor === undefined ? {} : { cursor }) };
    const data = dataOf(await ask(access, `video/list/?fields=${FIELDS}`, body, signal));
    if (data === undefined) return undefined;
    const found = list(data, "videos").map(toEntry);
    const recent = found.filter(({ createdAtMs }) => createdAtMs >= sinceMs);
    entries.push(...recent);
    if (data.has_more !== true || recent.length < found.length) return entries;
    if (typeof data.cursor !== "number") return undefined;
    cursor = data.cursor;
  }
  return undefined;
}

/** Lists show a post's title, its description, or the one for the other. */
function isSame(publication: Publication, { words, link }: Entry): boolean {
  const { title, text: description } = publication;
  const ours = [fold(title), fold(description), fold(`${title ?? ""} ${description}`)];
  return (
    link.includes(`/${kindOf(publication)}/`) &&
    words.length > 0 &&
    words.every((each) =>
      ours.some((own) => own === each || (each.length >= MIN_CUT_LENGTH && own.startsWith(each))),
    )
  );
}

/** The first look comes at once, because most lost answers are there. */
function nextLook({ now, callUntil, looks, timeScale }: UnknownCall): Verdict {
  const afterMs = LOOKS_AFTER_MS[looks];
  if (afterMs === undefined)
    return { kind: "cannot_tell", message: "the post is not among the account's" };
  const sinceMs = now.getTime() - callUntil.getTime();
  return { kind: "look_again", afterMs: Math.max(10, afterMs * timeScale - sinceMs) };
}

/**
 * Looks for a post whose publish id is not known among all that the account has published since the call. Not to be listed
 * proves nothing, so what is not found is for a person to decide.
 */
export async function findListedPost(
  access: TiktokAccess,
  publication: Publication,
  call: UnknownCall,
  signal: AbortSignal,
): Promise<Verdict> {
  const isListed = isPublic(publication) && fold(publication.title ?? publication.text) !== "";
  if (!isListed) return { kind: "cannot_tell", message: "the post cannot be told from others" };
  const entries = await listSince(access, call.calledAt.getTime() - BEFORE_CALL_MS, signal);
  if (entries === undefined)
    return { kind: "look_again", afterMs: MINUTE_MS * call.timeScale, isIncomplete: true };
  const owned = await call.isOwned(entries.map(({ id }) => id));
  const [same, twin] = entries.filter(
    (entry) => !owned.has(entry.id) && isSame(publication, entry),
  );
  if (twin !== undefined)
    return { kind: "cannot_tell", message: "several posts of the account are the same" };
  if (same === undefined) return nextLook(call);
  const permalink = toPermalink(publication, kindOf(publication), same.id);
  return { kind: "present", externalId: same.id, permalink };
}
