import type { PostOption as PostOptionMessage } from "@postrider/contracts/posts/v1/post_pb";
import type { CreatePostRequest } from "@postrider/contracts/posts/v1/post_service_pb";
import { invalidRequest, type Violation } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import type { PostInput } from "#src/domain/check-post.ts";
import type { PostOption } from "#src/domain/post.ts";

const MAX_ACCOUNTS = 100;
const MAX_MEDIA = 35;
const CREATED_VIA = new Set(["rest", "mcp", "dashboard"]);

/** The request as values of the domain. The gateway has checked the body; what is refused here is a fault of a caller. */
export function parseCreatePost(request: CreatePostRequest): PostInput {
  const faults = findFaults(request);
  if (faults.length > 0) throw invalidRequest(faults);
  return {
    content: request.content,
    accountIds: request.accountIds,
    mediaIds: request.mediaIds,
    options: Object.fromEntries(
      Object.entries(request.options).map(([key, option]) => [key, toOption(option)]),
    ),
  };
}

function findFaults(request: CreatePostRequest): Violation[] {
  const checks: readonly (readonly [path: string, isFine: boolean])[] = [
    ["/workspaceId", isId(request.workspaceId)],
    ["/accountIds", request.accountIds.length > 0 && areIds(request.accountIds, MAX_ACCOUNTS)],
    ["/mediaIds", areIds(request.mediaIds, MAX_MEDIA)],
    ["/createdVia", CREATED_VIA.has(request.createdVia)],
    // Publishing such a post now would be the one thing that its author did not ask for.
    ["/scheduledAt", request.scheduledAt === undefined],
  ];
  return checks.flatMap(([path, isFine]) => (isFine ? [] : [{ code: "invalid", path }]));
}

function areIds(ids: readonly string[], max: number): boolean {
  return ids.length <= max && new Set(ids).size === ids.length && ids.every(isId);
}

function toOption({ content, title, privacy, tags }: PostOptionMessage): PostOption {
  return {
    ...(content === undefined ? {} : { content }),
    ...(title === undefined ? {} : { title }),
    ...(privacy === undefined ? {} : { privacy }),
    ...(tags === undefined ? {} : { tags: tags.values }),
  };
}
