import type { Client } from "@connectrpc/connect";
import type { Media } from "@postrider/contracts/media/v1/media_pb";
import type { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import type { PostMedia } from "#src/domain/post.ts";

export type MediaClient = Client<typeof MediaService>;

/** What a post is about to be committed as, and for which request. */
export interface MediaClaim {
  readonly workspaceId: string;
  readonly postId: string;
  /** The version that the post gets. */
  readonly postVersion: number;
  /** Of this request alone: it can take back what only it has noted. */
  readonly claimId: string;
}

/** A use that is over. */
export type FormerUse = Pick<MediaClaim, "workspaceId" | "postId"> & {
  readonly mediaId: string;
} & Partial<Pick<MediaClaim, "postVersion" | "claimId">>;

/** Nobody waits long for what is not necessary. */
const RELEASE_TIMEOUT_MS = 1_000;

/** The named media that the workspace has. Nothing is asked for an empty list. */
export async function findMedia(
  client: MediaClient,
  workspaceId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Media>> {
  if (ids.length === 0) return new Map();
  const { media } = await client.batchGetMedia({ workspaceId, ids: [...ids] });
  return toMap(media);
}

/** As `findMedia`, and from now on they are not deleted, as long as the post is committed soon. */
export async function useMedia(
  client: MediaClient,
  { postVersion, ...claim }: MediaClaim,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Media>> {
  const request = { ...claim, postVersion: BigInt(postVersion), ids: [...ids] };
  const { media } = await client.useMedia(request);
  return toMap(media);
}

/** Tells media of uses that are over. A failure is none of the caller's: media asks about what it was not told. */
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

/** What is being deleted is as good as gone: no post can have it any more. */
function toMap(media: readonly Media[]): ReadonlyMap<string, Media> {
  const there = media.filter(({ status }) => status !== "deleting");
  return new Map(there.map((item) => [item.id, item]));
}

/** What the platforms' rules look at: the bytes as platforms receive them. */
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
