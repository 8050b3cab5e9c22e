import { timestampDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import type { PostOption as PostOptionMessage } from "@postrider/contracts/posts/v1/post_pb";
import type {
  CreatePostRequest,
  ValidatePostRequest,
} from "@postrider/contracts/posts/v1/post_service_pb";
import { invalidRequest, type Violation } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import type { PostInput } from "#src/domain/check-post.ts";
import type { PostOption } from "#src/domain/post.ts";

const MAX_ACCOUNTS = 100;
const MAX_MEDIA = 35;
const CREATED_VIA = new Set(["rest", "mcp", "dashboard"]);

/** A post that is asked for: what to publish, and when. */
export interface CreateInput extends PostInput {
  readonly scheduledAt: Date | undefined;
  readonly isDraft: boolean;
  readonly queueSlot: boolean;
  readonly force: boolean;
}

/** The request as values of the domain. The gateway has checked the body; what is refused here is a fault of a caller. */
export function parseCreatePost(request: CreatePostRequest): CreateInput {
  const { isDraft, queueSlot, force } = request;
  const faults = [
    ...findFaults(request),
    ...(CREATED_VIA.has(request.createdVia) ? [] : [{ code: "invalid", path: "/createdVia" }]),
    ...(queueSlot && (isDraft || request.scheduledAt !== undefined)
      ? [{ code: "invalid", path: "/queueSlot" }]
      : []),
  ];
  if (faults.length > 0) throw invalidRequest(faults);
  return {
    ...toInput(request),
    scheduledAt: toDate(request.scheduledAt),
    isDraft,
    queueSlot,
    force,
  };
}

/** As `parseCreatePost`. */
export function parseValidatePost(
  request: ValidatePostRequest,
): PostInput & Pick<CreateInput, "scheduledAt"> {
  const faults = findFaults(request);
  if (faults.length > 0) throw invalidRequest(faults);
  return { ...toInput(request), scheduledAt: toDate(request.scheduledAt) };
}

/** What both requests say of a post. */
type PostRequest = Pick<
  CreatePostRequest,
  "workspaceId" | "content" | "accountIds" | "mediaIds" | "options" | "scheduledAt"
>;

function toInput(request: PostRequest): PostInput {
  return {
    content: request.content,
    accountIds: request.accountIds,
    mediaIds: request.mediaIds,
    options: Object.fromEntries(
      Object.entries(request.options).map(([key, option]) => [key, toOption(option)]),
    ),
  };
}

/** Clients see milliseconds. */
function toDate(instant: Timestamp | undefined): Date | undefined {
  return instant === undefined ? undefined : timestampDate(instant);
}

function findFaults(request: PostRequest): Violation[] {
  const checks: readonly (readonly [path: string, isFine: boolean])[] = [
    ["/workspaceId", isId(request.workspaceId)],
    ["/accountIds", request.accountIds.length > 0 && areIds(request.accountIds, MAX_ACCOUNTS)],
    ["/mediaIds", areIds(request.mediaIds, MAX_MEDIA)],
    ["/scheduledAt", !Number.isNaN(toDate(request.scheduledAt)?.getTime())],
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
