import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ValidatePostRequest,
  ValidatePostResponseSchema,
} from "@postrider/contracts/posts/v1/post_service_pb";
import { unprocessable } from "@postrider/shared/errors";
import { inspectPost } from "#src/rpc/inspect-post.ts";
import { parseValidatePost } from "#src/rpc/parse-create-post.ts";
import type { PostServiceDeps } from "#src/rpc/post-service.ts";

/** Checks what CreatePost would, except what others may take in between, and stores nothing. */
export async function validatePost(
  deps: PostServiceDeps,
  request: ValidatePostRequest,
): Promise<MessageInitShape<typeof ValidatePostResponseSchema>> {
  const input = parseValidatePost(request);
  const { accounts, violations } = await inspectPost(deps, request.workspaceId, input);
  if (violations.length > 0) throw unprocessable("validation_failed", violations);
  const targets = input.accountIds.flatMap((accountId) => {
    const account = accounts.get(accountId);
    return account === undefined ? [] : [{ accountId, platform: account.platform }];
  });
  const { scheduledAt } = request;
  return { targets, ...(scheduledAt === undefined ? {} : { scheduledAt }) };
}
