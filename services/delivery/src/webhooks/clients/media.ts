import type { Client } from "@connectrpc/connect";
import type { Media } from "@postrider/contracts/media/v1/media_pb";
import type { MediaService } from "@postrider/contracts/media/v1/media_service_pb";

export type MediaClient = Pick<Client<typeof MediaService>, "batchGetMedia">;

interface MediaRef {
  readonly workspaceId: string;
  readonly id: string;
}

/** Maximum number of calls to the media service at the same time. */
const MAX_CALLS = 4;

/**
 * Reads media from the media service, one call per workspace. Deleted media are missing in the result.
 *
 * @param timeoutMs Returns the timeout of the next call in milliseconds.
 */
export async function fetchMedia(
  client: MediaClient,
  refs: readonly MediaRef[],
  timeoutMs: () => number,
): Promise<readonly Media[]> {
  // The concurrent loops share one iterator, so the media of each workspace are read once.
  const groups = Map.groupBy(refs, (ref) => ref.workspaceId).entries();
  const readGroups = async () => {
    const found: Media[] = [];
    for (const [workspaceId, group] of groups) {
      const ids = group.map(({ id }) => id);
      const answer = await client.batchGetMedia({ workspaceId, ids }, { timeoutMs: timeoutMs() });
      found.push(...answer.media);
    }
    return found;
  };
  return (await Promise.all(Array.from({ length: MAX_CALLS }, readGroups))).flat();
}
