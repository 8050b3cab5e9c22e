import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { overviewApi } from "../api/overview-api.ts";
import { attention } from "../kit/page.tsx";
import { postsApi } from "../posts/posts-api.ts";
import { useCan } from "../session/session-context.ts";
import { type ItemName, listItems } from "./navigation.ts";

export interface Count {
  readonly count: number;
  /** The real number is higher. */
  readonly isMore: boolean;
  readonly tone: "bad" | "warn" | "quiet";
}

export type Counts = Readonly<Partial<Record<ItemName, Count>>>;

/** What stands beside the items of the navigation: red needs a person, amber is an account. */
export function useCounts(): Counts {
  const can = useCan();
  const names = new Set(listItems(can).map(({ name }) => name));
  const overview = useQuery({ ...overviewApi.overview(), enabled: can("posts:read") }).data;
  const inbox = useQuery({ ...overviewApi.openComments(), enabled: names.has("comments") }).data;
  const accounts = useQuery({ ...postsApi.accounts(), enabled: can("accounts:read") }).data;
  const needing = accounts?.accounts.filter(({ status }) => status === "reconnect_required").length;
  const posts = overview?.needsYou.posts;
  useEffect(() => attention.set(posts?.count ?? 0), [posts]);
  return {
    ...(posts && { posts: { ...posts, tone: "bad" } }),
    ...(inbox && { comments: { ...inbox.open, tone: "quiet" } }),
    ...(needing !== undefined && { accounts: { count: needing, isMore: false, tone: "warn" } }),
  };
}
