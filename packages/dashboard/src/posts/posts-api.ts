import type { PostDetail } from "@postrider/client";
import type { AccountRetryJson } from "@postrider/rest/dashboard/accounts";
import type {
  PostTargetsWordsJson,
  PostWordsListJson,
  ResolvedTargetJson,
  ResolveTargetBodyJson,
} from "@postrider/rest/dashboard/cures";
import type { MediaLibraryJson } from "@postrider/rest/dashboard/media";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "../api/api.ts";
import { appApi } from "../api/app-api.ts";
import { retryAll } from "./retry-account.ts";

/** A post with the `ETag` that a change of it has to name. */
export interface PostVersion {
  readonly post: PostDetail;
  readonly etag: string | undefined;
}

export async function readPost(id: string, signal?: AbortSignal): Promise<PostVersion> {
  let etag: string | null = null;
  const onResponse = ({ headers }: Response) => {
    etag = headers.get("etag");
  };
  return { post: await api.getPost(id, {}, { signal, onResponse }), etag: etag ?? undefined };
}

const NEWEST_MEDIA = 100;

export const postsApi = {
  post: (id: string) =>
    queryOptions({
      queryKey: ["post", id],
      queryFn: ({ signal }) => readPost(id, signal),
    }),
  /** Cause, cure and what is waited for, for each account of a post. */
  targets: (id: string) =>
    queryOptions({
      queryKey: ["post", id, "targets"],
      queryFn: ({ signal }) =>
        appApi<PostTargetsWordsJson>("GET", `/posts/${id}/targets`, { signal }),
    }),
  /** The same for posts of a list, without what is waited for. */
  words: (ids: readonly string[]) =>
    queryOptions({
      queryKey: ["post", "list", "words", ids],
      queryFn: ({ signal }) =>
        appApi<PostWordsListJson>("GET", "/posts/words", { query: { ids: ids.join(",") }, signal }),
      enabled: ids.length > 0,
      placeholderData: keepPreviousData,
    }),
  /** The newest files, for the addresses of those of a draft. */
  newestMedia: () =>
    queryOptions({
      queryKey: ["media", "list", "newest"],
      queryFn: ({ signal }) =>
        appApi<MediaLibraryJson>("GET", "/media", { query: { limit: NEWEST_MEDIA }, signal }),
      staleTime: 300_000,
    }),
  accounts: () =>
    queryOptions({
      queryKey: ["account", "list"],
      queryFn: ({ signal }) => api.listAccounts({}, { signal }),
    }),
  platforms: () =>
    queryOptions({
      queryKey: ["platform", "list"],
      queryFn: ({ signal }) => api.listPlatforms({}, { signal }),
      staleTime: Number.POSITIVE_INFINITY,
    }),
  /** All that failed on an account for one cause, or that of one post only. */
  retryAccount: (accountId: string, code: string, postId?: string) =>
    retryAll((after) =>
      appApi<AccountRetryJson>("POST", `/accounts/${accountId}/retry`, {
        body: { code, after, postId },
      }),
    ),
  resolve: (postId: string, accountId: string, body: ResolveTargetBodyJson) =>
    appApi<ResolvedTargetJson>("POST", `/posts/${postId}/targets/${accountId}/resolve`, { body }),
};
