import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  RetryAccountRequest,
  RetryAccountResponseSchema,
} from "@postrider/contracts/posts/v1/overview_service_pb";
import { ServiceError } from "@postrider/shared/errors";
import { assertIds } from "@postrider/shared/ids";
import { listRetryablePosts } from "#src/db/overview.ts";
import { type RetryDeps, retryTargets } from "#src/operations/retry-targets.ts";

/** Posts per call, each in a transaction of its own, so that a call ends within its deadline. */
const MAX_POSTS = 50;

/**
 * Oldest first. A post whose retry is refused, for example because the quota is used up, is left as
 * it is and does not stop the others; one that another request retried meanwhile is not counted.
 */
export async function retryAccount(
  deps: RetryDeps,
  { workspaceId, accountId, code }: RetryAccountRequest,
): Promise<MessageInitShape<typeof RetryAccountResponseSchema>> {
  assertIds(workspaceId, accountId);
  const found = await listRetryablePosts(deps.sql, { workspaceId, accountId, code }, MAX_POSTS + 1);
  let retried = 0;
  const refused: { postId: string; code: string }[] = [];
  for (const postId of found.slice(0, MAX_POSTS))
    try {
      retried += await retryTargets(
        deps,
        { workspaceId, postId },
        { accountId, code },
        (_, count) => count,
      );
    } catch (error) {
      if (!(error instanceof ServiceError) || isOutage(error)) throw error;
      if (error.reason !== "nothing_to_retry") refused.push({ postId, code: error.reason });
    }
  return { retried, refused, isMore: found.length > MAX_POSTS };
}

/** The other posts would fail in the same way. */
function isOutage({ kind }: ServiceError): boolean {
  return kind === "unavailable" || kind === "timeout" || kind === "internal";
}
