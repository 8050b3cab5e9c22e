const NAME = "postrider.reconnecting";

type TabStorage = Pick<Storage, "getItem" | "setItem" | "removeItem">;

/** What is sent again once an account is connected again, as the button says. */
export interface ReconnectRetry {
  readonly accountId: string;
  /** Of the failures. */
  readonly codes: readonly string[];
  /** Without it, all posts of the account. */
  readonly postId?: string;
}

/**
 * Notes in this tab what is sent again when the person is back from the platform, or that nothing
 * is. Without the note nothing is sent: any link can hold the address of the return.
 */
export function noteReconnect(storage: TabStorage, retry: ReconnectRetry | undefined): void {
  try {
    if (retry === undefined) storage.removeItem(NAME);
    else storage.setItem(NAME, JSON.stringify(retry));
  } catch {
    // Without storage the person presses the button that retries.
  }
}

/** What was noted for one of the connected accounts. The note holds for one return. */
export function takeReconnect(
  storage: TabStorage,
  connected: readonly string[],
): ReconnectRetry | undefined {
  try {
    const noted = storage.getItem(NAME);
    storage.removeItem(NAME);
    const retry = JSON.parse(noted ?? "null") as ReconnectRetry | null;
    return retry !== null && connected.includes(retry.accountId) ? retry : undefined;
  } catch {
    return undefined;
  }
}
