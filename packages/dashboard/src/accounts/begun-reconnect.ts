const NAME = "postrider.reconnecting";

type TabStorage = Pick<Storage, "getItem" | "setItem" | "removeItem">;

/**
 * Notes in this tab that the person goes to the platform to connect an account again. Only then are
 * its failed posts sent again after the return: any link can hold the address of the return.
 */
export function noteReconnect(storage: TabStorage, accountId: string): void {
  try {
    storage.setItem(NAME, accountId);
  } catch {
    // Without storage the person presses the button that retries.
  }
}

/** Which of the connected accounts was noted. The note holds for one return. */
export function takeReconnect(storage: TabStorage, connected: readonly string[]): string[] {
  try {
    const noted = storage.getItem(NAME);
    storage.removeItem(NAME);
    return connected.filter((id) => id === noted);
  } catch {
    return [];
  }
}
