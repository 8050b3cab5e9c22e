import type { Client } from "@connectrpc/connect";
import type { Media } from "@postrider/contracts/media/v1/media_pb";
import type { MediaService } from "@postrider/contracts/media/v1/media_service_pb";

export type MediaClient = Pick<Client<typeof MediaService>, "batchGetMedia">;

interface MediaRef {
  readonly workspaceId: string;
  readonly id: string;
}

/** Reads media from the media service, one call per workspace. Deleted media are missing in the result. */
export async function fetchMedia(
  client: MediaClient,
  refs: readonly MediaRef[],
  timeoutMs: () => number,
): Promise<readonly Media[]> {
  const found: Media[] = [];
  for (const [workspaceId, group] of Map.groupBy(refs, (ref) => ref.workspaceId)) {
    const ids = group.map(({ id }) => id);
    const answer = await client.batchGetMedia({ workspaceId, ids }, { timeoutMs: timeoutMs() });
    found.push(...answer.media);
  }
  return found;
}
