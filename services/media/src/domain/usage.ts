/** A post's use of media, as it was noted before the post was committed. */
export interface Usage {
  readonly postId: string;
  /** Version that the post has, or would have, with it. */
  readonly postVersion: number;
  /** Whether what it was noted for may still be committed; counted by the database's time. */
  readonly isYoung: boolean;
}

/** A post as it is committed. */
export interface UsingPost {
  readonly uses: boolean;
  readonly version: number;
}

/**
 * Whether a usage keeps its media from being deleted. One that was noted for a version which the post has reached without
 * the media, is over: no request can commit that version any more. What was noted for a version, or for a post, that is
 * not there, may be about to be committed while it is young; posts never commits an old one.
 *
 * @param post As it was after the usage was read; undefined when there is none.
 */
export function blocksDeletion(usage: Usage, post: UsingPost | undefined): boolean {
  if (post === undefined) return usage.isYoung;
  if (post.uses) return true;
  return usage.postVersion > post.version && usage.isYoung;
}
