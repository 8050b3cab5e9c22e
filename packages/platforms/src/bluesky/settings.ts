import type { ListField } from "#src/settings/field.ts";

/**
 * The languages of a post. Source: lexicon app.bsky.feed.post, `langs` has at most 3 BCP 47 tags,
 * 2026-11-22.
 */
const languages: ListField = {
  kind: "list",
  item: { pattern: "^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$", maxLength: 35 },
  maxItems: 3,
  default: [],
  description:
    "Languages of the posts as BCP 47 tags, for example `en` or `pt-BR`. People find posts in their languages only.",
};

export const SETTINGS = { languages };
