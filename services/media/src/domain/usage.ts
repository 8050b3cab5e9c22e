export interface Usage {
  readonly postId: string;
  readonly postVersion: number;
  /** Less than 10 minutes old by the database's clock: posts may still commit the post version. */
  readonly isYoung: boolean;
}

export interface UsingPost {
  readonly uses: boolean;
  readonly version: number;
}

/**
 * Whether the record that a post uses media keeps the media from being deleted.
 * - The post uses the media: the record blocks the deletion.
 * - The post does not use them and has at least the recorded version: the record does not block,
 *   because the recorded version can no longer be committed.
 * - The post does not exist, or has an older version: the record blocks while it is young. The
 *   posts service commits no version whose record is old.
 *
 * @param post The answer of the posts service, requested after the record was read; undefined when
 *   the post does not exist.
 */
export function blocksDeletion(usage: Usage, post: UsingPost | undefined): boolean {
  if (post === undefined) return usage.isYoung;
  if (post.uses) return true;
  return usage.postVersion > post.version && usage.isYoung;
}
