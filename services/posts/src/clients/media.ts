import type { Client } from "@connectrpc/connect";
import type { Media } from "@postrider/contracts/media/v1/media_pb";
import type { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import type { PostMedia } from "#src/domain/post.ts";

export type MediaClient = Client<typeof MediaService>;

/** Recorded before a post is stored, so that its media are not deleted. */
export interface MediaClaim {
  readonly workspaceId: string;
  readonly postId: string;
  /** The version number that the post will have once it uses the media. */
  readonly postVersion: number;
  /** A request that fails releases only the claims with its own id. */
  readonly claimId: string;
}

type FormerUse = Pick<MediaClaim, "workspaceId" | "postId"> & {
  readonly mediaId: string;
} & Partial<Pick<MediaClaim, "postVersion" | "claimId">>;

/** The request succeeds even if the release fails. */
const RELEASE_TIMEOUT_MS = 1_000;

export async function findMedia(
  client: MediaClient,
  workspaceId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Media>> {
  const { media } = await client.batchGetMedia({ workspaceId, ids: [...ids] });
  return toMap(media);
}

/** The claim prevents the deletion of the media if the post is committed within 5 minutes. */
export async function claimMedia(
  client: MediaClient,
  { postVersion, ...claim }: MediaClaim,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Media>> {
  const request = { ...claim, postVersion: BigInt(postVersion), ids: [...ids] };
  const { media } = await client.useMedia(request);
  return toMap(media);
}

/** The request did not commit its post. */
export async function releaseClaim(
  client: MediaClient,
  { workspaceId, postId, claimId }: Omit<MediaClaim, "postVersion">,
  mediaIds: readonly string[],
): Promise<void> {
  await releaseMedia(
    client,
    mediaIds.map((mediaId) => ({ workspaceId, postId, mediaId, claimId })),
  );
}

/** A failure is ignored: media asks about each use before it refuses a deletion. */
export async function releaseMedia(
  client: MediaClient,
  former: readonly FormerUse[],
): Promise<void> {
  if (former.length === 0) return;
  const uses = former.map(({ postVersion, ...use }) => ({
    ...use,
    ...(postVersion === undefined ? {} : { postVersion: BigInt(postVersion) }),
  }));
  await client.releaseMedia({ uses }, { timeoutMs: RELEASE_TIMEOUT_MS }).catch(() => undefined);
}

/** Media that are being deleted count as missing: a new post cannot use them. */
function toMap(media: readonly Media[]): ReadonlyMap<string, Media> {
  const there = media.filter(({ status }) => status !== "deleting");
  return new Map(there.map((item) => [item.id, item]));
}

/** The file without a rendition, to which the limits of platforms apply. */
export function toPostMedia(media: Media): PostMedia {
  const isReady = media.status === "ready";
  return {
    id: media.id,
    isReady,
    kind: media.kind === "video" ? "video" : "image",
    contentType: media.deliveryContentType || media.contentType,
    bytes: Number(media.deliveryBytes || media.bytes),
    width: media.width === 0 ? null : media.width,
    height: media.height === 0 ? null : media.height,
    durationMs: media.durationMs === undefined ? null : Number(media.durationMs),
    frames: media.frames,
    altText: media.altText ?? null,
    video: media.video,
  };
}
