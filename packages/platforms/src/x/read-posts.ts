import type { NoAnswer } from "#src/http/call-platform.ts";
import { list, object, type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import type { Query } from "#src/http/platform-request.ts";
import { type ApiCall, ask, type Caller } from "#src/publishing/caller.ts";

/**
 * Parameter with the requested fields of posts. X's OpenAPI document 2.167 (2026-08-07) calls it
 * `post.fields`; X still accepts this older name, and X's pages show it.
 */
const OLD_PARAMETER = "tweet.fields";
/** Names of fields of posts that the OpenAPI document renamed. */
const NEW_NAMES: Readonly<Record<string, string>> = {
  note_tweet: "note_post",
  referenced_tweets: "referenced_posts",
};
const NOW_EXPANSIONS: ReadonlySet<string> = new Set(["author_id", "referenced_posts"]);

/**
 * The addresses of X that refused the old names in this process, so that they are asked with the
 * new names only.
 */
const refusedOldNames = new Set<string>();

function toNewNames(query: Query): Query {
  const { [OLD_PARAMETER]: fields = "", expansions = "", ...others } = query;
  const names = fields.split(",").map((name) => NEW_NAMES[name] ?? name);
  const expanded = names.filter((name) => NOW_EXPANSIONS.has(name));
  const kept = names.filter((name) => !NOW_EXPANSIONS.has(name)).join(",");
  const all = [...new Set([...expansions.split(","), ...expanded])].filter((name) => name !== "");
  return {
    ...others,
    "post.fields": kept === "" ? "id" : kept,
    expansions: all.length === 0 ? undefined : all.join(","),
  };
}

function isOldNameRefused({ status, json }: PlatformAnswer): boolean {
  if (status !== 400) return false;
  return list(json, "errors").some((error) => {
    const names = Object.keys(object(error, "parameters") ?? {});
    return names.includes(OLD_PARAMETER) || (text(error, "message") ?? "").includes(OLD_PARAMETER);
  });
}

/**
 * When X refuses the old names of the fields, the call is repeated with the new names, which the
 * process then keeps using.
 */
export async function readPosts(
  x: Caller,
  { query = {}, ...call }: ApiCall,
): Promise<PlatformAnswer | NoAnswer> {
  const { baseUrl } = x;
  const read = (given: Query) => ask(x, { ...call, query: given });
  if (refusedOldNames.has(baseUrl)) return await read(toNewNames(query));
  const answer = await read(query);
  if (answer.kind === "no_answer" || !isOldNameRefused(answer)) return answer;
  refusedOldNames.add(baseUrl);
  return await read(toNewNames(query));
}

export function noteOf(post: unknown): unknown {
  return object(post, "note_tweet") ?? object(post, "note_post");
}

export function referencedPosts(post: unknown): readonly unknown[] {
  return [...list(post, "referenced_tweets"), ...list(post, "referenced_posts")];
}
