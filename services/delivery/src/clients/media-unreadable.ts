/** Media could not be read: thrown by `PublicationMedia.read` and by what it returns. Nothing is known about the platform. */
export class MediaUnreadable extends Error {
  override name = "MediaUnreadable";
  /** True when it will never be there again; false when media did not answer, or broke off. */
  readonly isGone: boolean;

  constructor(message: string, options: { readonly isGone: boolean; readonly cause?: unknown }) {
    super(message, { cause: options.cause });
    this.isGone = options.isGone;
  }
}
