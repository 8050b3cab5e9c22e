export interface LeastVisible {
  /**
   * Who sees the post: `owner` = only the account's owner · `unpublished` = no reader, because
   * the platform only stores it · `readers` = everybody who reads the account.
   */
  readonly visibility: "owner" | "unpublished" | "readers";
  readonly privacy?: string;
  readonly needs?: "media" | "video";
}

/** It has characters that a platform could change, and the id tells posts apart. */
export function liveCheckText(id: string): string {
  return `Postrider check ${id} – Grüße, 漢字 & “quotes” 🚢 (deleted in a moment)`;
}
