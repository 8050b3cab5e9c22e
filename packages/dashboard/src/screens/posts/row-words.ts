import type { PostWordsListJson } from "@postrider/rest/dashboard/cures";

/** Why a post of the list failed, for each of its accounts. */
export type RowWords = PostWordsListJson["posts"][number];
