import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ValidatePostRequest,
  ValidatePostResponseSchema,
} from "@postrider/contracts/posts/v1/post_service_pb";
import { unprocessable } from "@postrider/shared/errors";
import type { PostsDeps } from "#src/operations/dependencies.ts";
import { loadPostDependencies, validateRequest } from "#src/operations/validate-request.ts";
import { parseValidatePost } from "#src/rpc/parse-post.ts";

/**
 * Stores nothing. Only CreatePost checks duplicates, slots and quota, which other posts may take
 * until then.
 */
export async function validatePost(
  deps: Pick<PostsDeps, "accounts" | "platforms" | "media" | "clock">,
  request: ValidatePostRequest,
): Promise<MessageInitShape<typeof ValidatePostResponseSchema>> {
  const post = parseValidatePost(request);
  const known = await loadPostDependencies(deps, post, null);
  const violations = await validateRequest(post, known, post.timing);
  if (violations.length > 0) throw unprocessable("validation_failed", violations);
  const targets = post.accountIds.flatMap((accountId) => {
    const account = known.accounts.get(accountId);
    return account === undefined ? [] : [{ accountId, platform: account.platform }];
  });
  const { scheduledAt } = request;
  return { targets, ...(scheduledAt === undefined ? {} : { scheduledAt }) };
}
