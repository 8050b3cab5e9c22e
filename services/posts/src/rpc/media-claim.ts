import { ServiceError } from "@postrider/shared/errors";
import { newId } from "@postrider/shared/ids";
import { releaseMedia, type MediaClaim, type MediaClient } from "#src/clients/media.ts";

/** A claim for a request that may be repeated in rounds. */
export function newClaim(workspaceId: string, postId: string): Omit<MediaClaim, "postVersion"> {
  return { workspaceId, postId, claimId: newId() };
}

/** Takes back what only this request has noted: nothing was committed with it. */
export async function dropClaim(
  media: MediaClient,
  { workspaceId, postId, claimId }: Omit<MediaClaim, "postVersion">,
  mediaIds: readonly string[],
): Promise<void> {
  await releaseMedia(
    media,
    mediaIds.map((mediaId) => ({ workspaceId, postId, mediaId, claimId })),
  );
}

/**
 * Does the work of a request, and drops its claim when it is refused. After any other failure nobody knows whether the
 * post was committed: then the claim stays, and media finds out.
 */
export async function dropIfRefused<T>(
  media: MediaClient,
  claim: Omit<MediaClaim, "postVersion">,
  mediaIds: readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ServiceError) await dropClaim(media, claim, mediaIds);
    throw error;
  }
}

/** Tells media of those that a committed version of a post has no more. */
export async function releaseRemoved(
  media: MediaClient,
  before: readonly string[],
  post: {
    readonly workspaceId: string;
    readonly id: string;
    readonly version: number;
    readonly mediaIds: readonly string[];
  },
): Promise<void> {
  const { workspaceId, id: postId, version: postVersion } = post;
  const removed = before.filter((mediaId) => !post.mediaIds.includes(mediaId));
  await releaseMedia(
    media,
    removed.map((mediaId) => ({ workspaceId, postId, mediaId, postVersion })),
  );
}
