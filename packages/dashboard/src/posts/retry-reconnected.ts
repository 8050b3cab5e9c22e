import { postsApi } from "./posts-api.ts";

/** The failures that a new connection can mend. */
export const MENDED_BY_CONNECTING: readonly string[] = [
  "account_reconnect_required",
  "account_disconnected",
  "permission_missing",
];

/**
 * Sends again what failed on an account that was connected again, and returns how much that is.
 * What cannot be sent again now stays in what needs the person, with its button.
 */
export async function retryReconnected(accountId: string): Promise<number> {
  let retried = 0;
  try {
    for (const code of MENDED_BY_CONNECTING)
      retried += (await postsApi.retryAccount(accountId, code)).retried;
  } catch {
    // The account is connected all the same, which is what the person is told.
  }
  return retried;
}
