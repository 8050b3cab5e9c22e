import type { Client } from "@connectrpc/connect";
import type { Media } from "@postrider/contracts/media/v1/media_pb";
import type { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import type { PostMedia } from "#src/domain/post.ts";

/** The named media that exist in the workspace, whatever their status. Nothing is asked for an empty list. */
export async function findMedia(
  client: Client<typeof MediaService>,
  workspaceId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Media>> {
  if (ids.length === 0) return new Map();
  const { media } = await client.batchGetMedia({ workspaceId, ids: [...ids] });
  return new Map(media.map((item) => [item.id, item]));
}

/** What the platforms' rules look at. */
export function toPostMedia(media: Media): PostMedia {
  return {
    id: media.id,
    isReady: media.status === "ready",
    kind: media.kind === "video" ? "video" : "image",
    contentType: media.contentType,
    bytes: Number(media.bytes),
    width: media.width === 0 ? null : media.width,
    height: media.height === 0 ? null : media.height,
    durationMs: media.durationMs === undefined ? null : Number(media.durationMs),
  };
}
