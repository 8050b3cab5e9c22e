import type { Account } from "@postrider/client";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { postsApi } from "./posts-api.ts";

/** The connected accounts by id. */
export function useAccounts(): ReadonlyMap<string, Account> {
  const { data } = useQuery(postsApi.accounts());
  return useMemo(() => new Map(data?.accounts.map((account) => [account.id, account])), [data]);
}
