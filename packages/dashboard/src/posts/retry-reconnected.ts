import type { ReconnectRetry } from "../accounts/begun-reconnect.ts";
import { postsApi } from "./posts-api.ts";

/** The failures that a new connection can mend. */
export const MENDED_BY_CONNECTING: readonly string[] = [
  "account_reconnect_required",
  "account_disconnected",
  "permission_missing",
];

interface Mended {
  readonly accountId: string;
  readonly code: string;
  readonly postId: string;
  readonly retryable: number;
}

/** A small button stands for all posts with the cause, one on the page of a post for that post. */
export function retryOf(failure: Mended, isSmall: boolean): ReconnectRetry | undefined {
  const { accountId, code, postId, retryable } = failure;
  if (!isSmall) return { accountId, codes: [code], postId };
  return retryable === 0 ? undefined : { accountId, codes: [code] };
}

/**
 * Sends again what the button said, after the account was connected again, and returns how much
 * that is. What cannot be sent again now stays in what needs the person, with its button.
 */
export async function retryReconnected(retry: ReconnectRetry | undefined): Promise<number> {
  let retried = 0;
  if (retry === undefined) return retried;
  const { accountId, codes, postId } = retry;
  try {
    for (const code of codes)
      retried += (await postsApi.retryAccount(accountId, code, postId)).retried;
  } catch {
    // The account is connected all the same, which is what the person is told.
  }
  return retried;
}
