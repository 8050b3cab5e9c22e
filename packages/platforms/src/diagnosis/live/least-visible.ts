/** The least visible post that a platform has, which a live check makes. */
export interface LeastVisible {
  /**
   * Who sees the post: `owner` = only the account's owner · `unpublished` = the platform stores the post, and the publishing call
   * is left out · `readers` = everybody who reads the account.
   */
  readonly visibility: "owner" | "unpublished" | "readers";
  /** Privacy of the post, if the platform has one. */
  readonly privacy?: string;
  /** The media without which the platform takes no post. */
  readonly needs?: "media" | "video";
}

/** Returns the text of a live check's post. It has characters that a platform could change, and the id tells posts apart. */
export function liveCheckText(id: string): string {
  return `Postrider check ${id} – Grüße, 漢字 & “quotes” 🚢 (deleted in a moment)`;
}
