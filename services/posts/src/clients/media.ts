import type { Client } from "@connectrpc/connect";
import type { Media } from "@postrider/contracts/media/v1/media_pb";
import type { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import type { PostMedia } from "#src/domain/post.ts";

export type MediaClient = Client<typeof MediaService>;

/** A post that is about to be stored with media, noted by the media service as their user. */
export interface MediaClaim {
  readonly workspaceId: string;
  readonly postId: string;
  /** The version that the post gets. */
  readonly postVersion: number;
  /** The id of the request, which can take back what only it has noted. */
  readonly claimId: string;
}

/** A use that has ended. */
type FormerUse = Pick<MediaClaim, "workspaceId" | "postId"> & {
  readonly mediaId: string;
} & Partial<Pick<MediaClaim, "postVersion" | "claimId">>;

/** How long a request waits for a release, which is not necessary for its own success. */
const RELEASE_TIMEOUT_MS = 1_000;

/** The named media that the workspace has. An empty list asks nothing. */
export async function findMedia(
  client: MediaClient,
  workspaceId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Media>> {
  if (ids.length === 0) return new Map();
  const { media } = await client.batchGetMedia({ workspaceId, ids: [...ids] });
  return toMap(media);
}

/** As `findMedia`, and keeps them from being deleted, if the post is committed within 5 minutes. */
export async function claimMedia(
  client: MediaClient,
  { postVersion, ...claim }: MediaClaim,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Media>> {
  const request = { ...claim, postVersion: BigInt(postVersion), ids: [...ids] };
  const { media } = await client.useMedia(request);
  return toMap(media);
}

/** Takes back what only this request has noted, because nothing was committed with it. */
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

/**
 * Reports uses that have ended. A failure does not matter to the caller: media asks this service about each use before it
 * refuses to delete an item.
 */
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

/** What the rules of platforms are about: the file as platforms receive it, which may be a converted one. */
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
  };
}
