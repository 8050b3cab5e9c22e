/** The usage of media by a post, recorded before the post version is committed. */
export interface Usage {
  readonly postId: string;
  /** The version of the post that uses the media. */
  readonly postVersion: number;
  /**
   * Whether the usage was recorded less than 10 minutes ago by the database's clock. The posts service may still commit
   * the post version of a young usage.
   */
  readonly isYoung: boolean;
}

/** The stored state of a post that the posts service returns about the use of media. */
export interface UsingPost {
  readonly uses: boolean;
  readonly version: number;
}

/**
 * Whether a usage keeps its media from being deleted.
 * - The post uses the media: the usage blocks the deletion.
 * - The post has reached the usage's version without the media: the usage does not block it, because that version can no
 *   longer be committed.
 * - The post does not exist, or has an older version: the usage blocks it while it is young, because the posts service
 *   commits no version with an old usage.
 *
 * @param post The state of the post, read after the usage; undefined when the post does not exist.
 */
export function blocksDeletion(usage: Usage, post: UsingPost | undefined): boolean {
  if (post === undefined) return usage.isYoung;
  if (post.uses) return true;
  return usage.postVersion > post.version && usage.isYoung;
}
