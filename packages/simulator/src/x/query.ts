import { refuseParameter } from "#src/x/errors.ts";
import { POST_FIELDS, type PostSelection, TWEET_FIELDS } from "#src/x/tweets.ts";

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?(?:Z|[+-]\d{2}:\d{2})$/;

export const FIELD_PARAMETERS = [
  "tweet.fields",
  "post.fields",
  "expansions",
  "media.fields",
  "poll.fields",
  "user.fields",
  "place.fields",
];

export function checkParameters(query: URLSearchParams, known: readonly string[]): void {
  for (const [name, value] of query)
    if (!known.includes(name))
      refuseParameter(
        name,
        value,
        `The query parameter [${name}] is not one of [${known.join(",")}]`,
      );
}

export function fieldSet(
  query: URLSearchParams,
  name: string,
  known: readonly string[],
): ReadonlySet<string> {
  const values = (query.get(name) ?? "").split(",").filter((value) => value !== "");
  for (const value of values)
    if (!known.includes(value))
      refuseParameter(
        name,
        value,
        `The \`${name}\` query parameter value [${value}] is not one of [${known.join(",")}]`,
      );

  return new Set(values);
}

/**
 * X has two sets of names: `tweet.fields`, and the `post.fields` of the OpenAPI document of
 * 2026-08, with which the author and the referenced tweets are expansions.
 */
export function postSelection(query: URLSearchParams): PostSelection {
  const fields = fieldSet(query, "tweet.fields", TWEET_FIELDS);
  if (!query.has("post.fields")) return { fields, dialect: "tweet" };
  const chosen = fieldSet(query, "post.fields", POST_FIELDS);
  const expanded = (query.get("expansions") ?? "")
    .split(",")
    .filter((name) => name === "author_id" || name === "referenced_posts");
  return { fields: new Set([...fields, ...chosen, ...expanded]), dialect: "post" };
}

export function instantParameter(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  return INSTANT.test(text)
    ? Date.parse(text)
    : refuseParameter(
        name,
        text,
        `The \`${name}\` query parameter value [${text}] is not a valid RFC 3339 time`,
      );
}

export function integerParameter(
  query: URLSearchParams,
  name: string,
  rule: { readonly min: number; readonly max: number; readonly default: number },
): number {
  const text = query.get(name);
  const value = text === null ? rule.default : Number(text);
  if (!Number.isInteger(value) || value < rule.min || value > rule.max)
    refuseParameter(
      name,
      text,
      `The \`${name}\` query parameter value [${text}] is not between ${rule.min} and ${rule.max}`,
    );
  return value;
}
