import { callPlatform, type NoAnswer } from "#src/http/call-platform.ts";
import { list, object, type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { bearer } from "#src/http/platform-request.ts";

/**
 * Parameter with the requested fields of posts. X's OpenAPI document 2.167 (2026-08-07) calls it `post.fields`; X still
 * accepts this older name, and X's pages show it.
 */
const OLD_PARAMETER = "tweet.fields";
/** Names of fields of posts that the OpenAPI document renamed. */
const NEW_NAMES: Readonly<Record<string, string>> = {
  note_tweet: "note_post",
  referenced_tweets: "referenced_posts",
};
/** Fields that are requested as expansions with the new names. */
const NOW_EXPANSIONS: ReadonlySet<string> = new Set(["author_id", "referenced_posts"]);

/** The addresses of X that refused the old names in this process, so that they are asked with the new names only. */
const refusedOldNames = new Set<string>();

export interface PostsQuery {
  readonly baseUrl: string;
  readonly accessToken: string;
  /** Path of the call, below `/2/`. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Maximum size of the answer in bytes, if it can be larger than that of other calls. */
  readonly maxAnswerBytes?: number;
}

function toNewNames(query: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { [OLD_PARAMETER]: fields = "", expansions = "", ...others } = query;
  const names = fields.split(",").map((name) => NEW_NAMES[name] ?? name);
  const expanded = names.filter((name) => NOW_EXPANSIONS.has(name));
  const kept = names.filter((name) => !NOW_EXPANSIONS.has(name)).join(",");
  const all = [...new Set([...expansions.split(","), ...expanded])].filter((name) => name !== "");
  return {
    ...others,
    "post.fields": kept === "" ? "id" : kept,
    ...(all.length === 0 ? {} : { expansions: all.join(",") }),
  };
}

/** Whether X refused a call because of the old names of fields. */
function isOldNameRefused({ status, json }: PlatformAnswer): boolean {
  if (status !== 400) return false;
  return list(json, "errors").some((error) => {
    const names = Object.keys(object(error, "parameters") ?? {});
    return names.includes(OLD_PARAMETER) || (text(error, "message") ?? "").includes(OLD_PARAMETER);
  });
}

/**
 * Reads posts of X with a GET call. When X refuses the old names of the fields, the call is repeated with the new names,
 * which the process then keeps using. The fields in the answer have either names; see `noteOf` and `referencedPosts`.
 */
export async function readPosts(
  { baseUrl, accessToken, path, query, ...limits }: PostsQuery,
  signal: AbortSignal,
): Promise<PlatformAnswer | NoAnswer> {
  const read = async (given: Readonly<Record<string, string>>) => {
    const url = `${baseUrl}/2/${path}?${new URLSearchParams(given).toString()}`;
    const headers = bearer(accessToken);
    return await callPlatform({ method: "GET", url, headers, ...limits }, signal);
  };
  if (refusedOldNames.has(baseUrl)) return await read(toNewNames(query));
  const answer = await read(query);
  if (answer.kind === "no_answer" || !isOldNameRefused(answer)) return answer;
  refusedOldNames.add(baseUrl);
  return await read(toNewNames(query));
}

/** Returns the whole text and links of a long post in an answer of X; undefined for a post that is not long. */
export function noteOf(post: unknown): unknown {
  return object(post, "note_tweet") ?? object(post, "note_post");
}

/** Returns the posts that a post in an answer of X refers to, for example the one that it answers. */
export function referencedPosts(post: unknown): readonly unknown[] {
  return [...list(post, "referenced_tweets"), ...list(post, "referenced_posts")];
}
