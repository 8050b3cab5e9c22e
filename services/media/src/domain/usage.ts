/** A post's use of media, recorded before the post version is committed. */
export interface Usage {
  readonly postId: string;
  /** The version of the post that uses the media. */
  readonly postVersion: number;
  /** Recorded less than 10 minutes ago by the database's clock: posts may still commit the version. */
  readonly isYoung: boolean;
}

/** The committed state of a post. */
export interface UsingPost {
  readonly uses: boolean;
  readonly version: number;
}

/**
 * Whether a usage keeps its media from being deleted.
 * - The post uses the media: yes.
 * - The post has reached the usage's version without the media: no, because that version can no longer be committed.
 * - The post does not exist, or has an older version: while the usage is young, because posts commits no version with an
 *   old usage.
 *
 * @param post Read after the usage; undefined when the post does not exist.
 */
export function blocksDeletion(usage: Usage, post: UsingPost | undefined): boolean {
  if (post === undefined) return usage.isYoung;
  if (post.uses) return true;
  return usage.postVersion > post.version && usage.isYoung;
}
