import type { Account } from "@postrider/client";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { accountNameOf } from "./account-name.ts";
import { postsApi } from "./posts-api.ts";

/** The connected accounts by id. */
export function useAccounts(): ReadonlyMap<string, Account> {
  const { data } = useQuery(postsApi.accounts());
  return useMemo(() => new Map(data?.accounts.map((account) => [account.id, account])), [data]);
}

/** What an account is called; the other text while it is not known, or no longer. */
export function useAccountName(accountId: string, otherwise = ""): string {
  const account = useAccounts().get(accountId);
  return account === undefined ? otherwise : accountNameOf(account);
}
