/** With its access token. */
export interface AccountAccess {
  readonly externalId: string;
  readonly username: string;
  readonly accessToken: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** Without `length` it extends to the end of the file. */
export interface ByteRange {
  readonly start: number;
  readonly length?: number;
}

export interface PublicationMedia {
  readonly id: string;
  readonly kind: "image" | "video";
  readonly contentType: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly width: number | null;
  readonly height: number | null;
  readonly durationMs: number | null;
  readonly altText: string | null;
  /** Null when the platform chooses one. */
  readonly coverMs: number | null;
  readonly fileName: string;
  /**
   * A signed public URL of the file that answers without redirects, for platforms that fetch the
   * file themselves.
   */
  readonly url: string;
  /**
   * Streams the bytes of the file. The platform's upload speed limits the reading; the file is
   * never held in memory.
   *
   * @throws MediaUnreadable When the media service does not answer, the stream breaks or the file
   *   no longer exists. A preparation step does not catch it: the delivery service retries the
   *   step, or fails the post with `media_fetch_failed`.
   */
  read(range: ByteRange, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
}

/** The file at the index, from which the steps of the post were made. */
export function fileAt({ media }: Publication, index: number): PublicationMedia {
  const file = media[index];
  if (file === undefined) throw new Error(`the post has no file at index ${index}`);
  return file;
}

export interface MediaPart {
  readonly media: PublicationMedia;
  readonly start: number;
  readonly length: number;
}

export interface Publication extends AccountAccess {
  readonly targetId: string;
  readonly text: string;
  readonly title: string | undefined;
  readonly privacy: string | undefined;
  readonly tags: readonly string[];
  readonly media: readonly PublicationMedia[];
  /**
   * As they were when the post was accepted; `readSettings` ignores unknown values and adds the
   * defaults.
   */
  readonly settings: Readonly<Record<string, unknown>>;
}
