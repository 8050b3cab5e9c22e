import { type CommentAction, PostriderError } from "@postrider/client";
import type {
  InboxCommentJson,
  InboxJson,
  InboxStateJson,
  SetInboxStateJson,
} from "@postrider/rest/dashboard/inbox";
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/api.ts";
import { appApi } from "../../api/app-api.ts";
import { queryClient } from "../../api/query-client.ts";

/** Where a comment is: the arguments of the operations on it. */
export type Place = Pick<InboxCommentJson, "accountId" | "mediaId" | "commentId">;

export interface InboxFilter {
  /** Undefined: whatever its state. */
  readonly state: InboxStateJson | undefined;
  readonly accountId: string | undefined;
}

const FIRST_PAGE = 30;
/** Few requests: all pages are read again each minute. */
const NEXT_PAGE = 100;
const NEWEST = 100;
const READ_AGAIN_MS = 60_000;
const ASK_AGAIN_MS = 1_000;

export const commentsApi = {
  /** Each reading makes the server ask the platforms for newer ones, at most once a minute. */
  inbox: (filter: InboxFilter) =>
    infiniteQueryOptions({
      queryKey: ["comment", "list", "inbox", filter],
      queryFn: ({ pageParam, signal }) => {
        const limit = pageParam === "" ? FIRST_PAGE : NEXT_PAGE;
        const query = { ...filter, limit, cursor: pageParam || undefined };
        return appApi<InboxJson>("GET", "/inbox", { query, signal });
      },
      initialPageParam: "",
      getNextPageParam: ({ nextCursor }) => nextCursor,
      placeholderData: keepPreviousData,
      refetchInterval: READ_AGAIN_MS,
    }),
  /** For a comment that is open on the page and is not in the list that is shown. */
  newest: () =>
    queryOptions({
      queryKey: ["comment", "list", "newest"],
      queryFn: ({ signal }) =>
        appApi<InboxJson>("GET", "/inbox", { query: { limit: NEWEST }, signal }),
    }),
  /** What readers wrote below one publication, newest first, from the platform. */
  thread: (accountId: string, mediaId: string) =>
    infiniteQueryOptions({
      queryKey: ["comment", "list", "thread", accountId, mediaId],
      queryFn: ({ pageParam, signal }) => {
        const query = { limit: 50, ...(pageParam === "" ? {} : { cursor: pageParam }) };
        return api.listComments(accountId, mediaId, query, { signal });
      },
      initialPageParam: "",
      getNextPageParam: ({ nextCursor }) => nextCursor,
    }),
  /** An action that was accepted; it is asked for until it has ended. */
  action: (id: string | undefined) =>
    queryOptions({
      queryKey: ["comment", id ?? "none"],
      queryFn: ({ signal }) => api.getCommentAction(id ?? "", {}, { signal }),
      enabled: id !== undefined,
      refetchInterval: ({ state: { data, error } }) => (isOver(data, error) ? false : ASK_AGAIN_MS),
    }),
  setState: async (id: string, state: SetInboxStateJson["state"]): Promise<InboxCommentJson> => {
    const comment = await appApi<InboxCommentJson>("PUT", `/inbox/${id}`, { body: { state } });
    // Not awaited: the way back is offered at once.
    void queryClient.invalidateQueries({ queryKey: ["comment", "list"] });
    return comment;
  },
};

/** Actions are forgotten after a time, and replies are kept in this browser for longer. */
function isOver(action: CommentAction | undefined, error: Error | null): boolean {
  if (error instanceof PostriderError) return error.status === 404;
  return action !== undefined && action.status !== "pending";
}

export type ActionBody =
  | { readonly type: "reply"; readonly text: string }
  | { readonly type: "hide" | "unhide" };

export async function requestAction(
  { accountId, mediaId, commentId }: Place,
  body: ActionBody,
  key: string,
): Promise<CommentAction> {
  return await api.requestCommentAction(accountId, mediaId, commentId, body, {
    idempotencyKey: key,
  });
}
