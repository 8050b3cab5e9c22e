import type { Client } from "@connectrpc/connect";
import type { TargetContent, TargetService } from "@postrider/contracts/posts/v1/target_service_pb";

export type PostsClient = Client<typeof TargetService>;

const TIMEOUT_MS = 5_000;
/** The largest contents, with the facts about their media, then stay far below 16 MiB an answer. */
export const CONTENTS_PER_CALL = 25;

interface TargetRef {
  readonly workspaceId: string;
  readonly targetId: string;
  readonly generation: number;
}

/** The contents, and whether each target is still wanted, in the order of the targets. */
export async function fetchContents(
  posts: PostsClient,
  targets: readonly TargetRef[],
): Promise<readonly TargetContent[]> {
  const pages: TargetRef[][] = [];
  for (let from = 0; from < targets.length; from += CONTENTS_PER_CALL)
    pages.push(targets.slice(from, from + CONTENTS_PER_CALL));
  return (await Promise.all(pages.map((page) => fetchPage(posts, page)))).flat();
}

async function fetchPage(
  posts: PostsClient,
  targets: readonly TargetRef[],
): Promise<readonly TargetContent[]> {
  const refs = targets.map(({ workspaceId, targetId, generation }) => ({
    workspaceId,
    targetId,
    generation,
  }));
  const { contents } = await posts.batchGetTargetContents({ refs }, { timeoutMs: TIMEOUT_MS });
  if (contents.length !== refs.length)
    throw new Error("the posts service did not return exactly one content per target");
  return contents;
}
