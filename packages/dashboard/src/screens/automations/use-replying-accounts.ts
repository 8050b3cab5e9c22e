import type { Account } from "@postrider/client";
import { useQuery } from "@tanstack/react-query";
import { postsApi } from "../../posts/posts-api.ts";
import { useAccounts } from "../../posts/use-accounts.ts";

/** The accounts whose platform lets a comment be answered with a private reply. */
export function useReplyingAccounts(): readonly Account[] {
  const accounts = useAccounts();
  const { data } = useQuery(postsApi.platforms());
  const platforms = data?.platforms.filter(({ rules }) => rules.dm.supported).map(({ id }) => id);
  return [...accounts.values()].filter(({ platform }) => platforms?.includes(platform));
}
