import type { PostWordsListJson } from "@postrider/rest/dashboard/cures";

/** Why a post of the list failed, for each of its accounts. */
export type RowWords = PostWordsListJson["posts"][number];

/** Undefined for a post that did not fail. The place of the words is kept while they are read. */
export type KnownWords = RowWords | "reading" | undefined;
