/** The account for which a connector acts, with its access token. */
export interface AccountAccess {
  /** The account's id on the platform. */
  readonly externalId: string;
  readonly username: string;
  readonly accessToken: string;
  /** Data of the account's credential that is not secret, for example the host of a Bluesky repository. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** A range of a file in bytes; without `length` it extends to the end of the file. */
export interface ByteRange {
  readonly start: number;
  readonly length?: number;
}

/**
 * A file of a post, an image or a video, in the form that the platform receives: without location and other metadata.
 */
export interface PublicationMedia {
  readonly id: string;
  readonly kind: "image" | "video";
  /** Media type of the file's bytes that `read` returns; `bytes` and `sha256` also describe these bytes. */
  readonly contentType: string;
  readonly bytes: number;
  /** SHA-256 hash of the file in lower-case hex. */
  readonly sha256: string;
  /** Width of the picture or video in pixels after rotation; null when it is not known. */
  readonly width: number | null;
  /** Height of the picture or video in pixels after rotation; null when it is not known. */
  readonly height: number | null;
  readonly durationMs: number | null;
  /** Description of the picture or video for people who do not see it; null when there is none. */
  readonly altText: string | null;
  /** Time in the video, in milliseconds, of its cover picture; null when the platform chooses one. */
  readonly coverMs: number | null;
  readonly fileName: string;
  /** A signed public URL of the file that answers without redirects, for platforms that fetch the file themselves. */
  readonly url: string;
  /**
   * Streams the bytes of the file. The platform's upload speed limits the reading; the file is never held in memory.
   *
   * @throws MediaUnreadable When the media service does not answer, the stream breaks or the file no longer exists. A
   *   preparation step does not catch it: the delivery service retries the step, or fails the post with
   *   `media_fetch_failed`.
   */
  read(range: ByteRange, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
}

/** A range of bytes of one file of the post. */
export interface MediaPart {
  readonly media: PublicationMedia;
  readonly start: number;
  readonly length: number;
}

/** The content that a connector publishes, and the account that it publishes for. */
export interface Publication extends AccountAccess {
  readonly targetId: string;
  readonly text: string;
  readonly title: string | undefined;
  readonly privacy: string | undefined;
  readonly tags: readonly string[];
  /** The files of the post, in order. */
  readonly media: readonly PublicationMedia[];
  /**
   * The settings of the account as they were stored when the post was accepted; `readSettings` ignores unknown values
   * and adds the defaults.
   */
  readonly settings: Readonly<Record<string, unknown>>;
}
