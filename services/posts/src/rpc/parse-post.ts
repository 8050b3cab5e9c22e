import { timestampDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import type { PostOption as PostOptionMessage } from "@postrider/contracts/posts/v1/post_pb";
import type {
  CreatePostRequest,
  UpdatePostRequest,
  ValidatePostRequest,
} from "@postrider/contracts/posts/v1/post_service_pb";
import { invalidRequest, type Violation } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import type { KeyedRequest } from "@postrider/shared/postgres/idempotency";
import type { PostTiming } from "#src/domain/plan-post.ts";
import type { PostContent, PostOption, PostOptions } from "#src/domain/post.ts";

const MAX_ACCOUNTS = 100;
const MAX_MEDIA = 35;
const CREATED_VIA = new Set(["rest", "mcp", "dashboard"]);

/** The post that a request contains: its content, its accounts and its time. */
export interface RequestedPost extends PostContent {
  readonly workspaceId: string;
  readonly timing: PostTiming;
}

/** The post that a CreatePost request contains, and the options of the request. */
export interface NewPostRequest extends RequestedPost {
  readonly createdVia: string;
  /** Whether the post may be stored although another post has the same content. */
  readonly force: boolean;
  /** The client's idempotency key; null when the client sent no key. */
  readonly keyed: KeyedRequest | null;
}

/** The fields of a post that an update replaces; an absent field keeps its value. */
export type PostUpdate = { readonly [K in keyof PostContent]?: PostContent[K] | undefined } & {
  readonly scheduledAt: Date | undefined;
};

/**
 * Parses a CreatePost request. The gateway has already checked the client's body, so an invalid value here is a defect of the
 * calling service.
 */
export function parseCreatePost(request: CreatePostRequest): NewPostRequest {
  const { isDraft, queueSlot, force, workspaceId, createdVia, idempotency } = request;
  assertValid([
    ...checkPost(request),
    check("/createdVia", CREATED_VIA.has(createdVia)),
    check("/queueSlot", !queueSlot || (!isDraft && request.scheduledAt === undefined)),
  ]);
  const keyed =
    idempotency === undefined
      ? null
      : {
          workspaceId,
          operation: "CreatePost",
          key: idempotency.key,
          fingerprint: idempotency.fingerprint,
        };
  return {
    ...toContent(request),
    workspaceId,
    createdVia,
    timing: toTiming(request),
    force,
    keyed,
  };
}

/** Parses a ValidatePost request, whose post is checked but not stored. */
export function parseValidatePost(request: ValidatePostRequest): RequestedPost {
  assertValid(checkPost(request));
  const timing = toTiming({ ...request, isDraft: false, queueSlot: false });
  return { ...toContent(request), workspaceId: request.workspaceId, timing };
}

/** Parses the fields that were sent in an UpdatePost request. At least one field is required. */
export function parseUpdatePost(request: UpdatePostRequest): PostUpdate {
  const { content, accountIds, mediaIds, options, scheduledAt } = request;
  const sent = [content, accountIds, mediaIds, options, scheduledAt];
  if (sent.every((field) => field === undefined)) throw invalidRequest();
  assertValid([
    ...(accountIds === undefined ? [] : [checkAccountIds(accountIds.values)]),
    ...(mediaIds === undefined ? [] : [checkMediaIds(mediaIds.values)]),
    checkInstant(scheduledAt),
  ]);
  return {
    content,
    accountIds: accountIds?.values,
    mediaIds: mediaIds?.values,
    options: options === undefined ? undefined : toOptions(options.values),
    scheduledAt: scheduledAt === undefined ? undefined : timestampDate(scheduledAt),
  };
}

type PostFields = Pick<
  CreatePostRequest,
  "workspaceId" | "content" | "accountIds" | "mediaIds" | "options" | "scheduledAt"
>;

function toContent({ content, accountIds, mediaIds, options }: PostFields): PostContent {
  return { content, accountIds, mediaIds, options: toOptions(options) };
}

function toTiming({
  isDraft,
  queueSlot,
  scheduledAt: sent,
}: Pick<CreatePostRequest, "isDraft" | "queueSlot" | "scheduledAt">): PostTiming {
  if (queueSlot) return { kind: "queue_slot" };
  // Instants are cut to milliseconds, the precision that the API shows.
  const scheduledAt = sent === undefined ? null : timestampDate(sent);
  if (isDraft) return { kind: "draft", scheduledAt };
  return scheduledAt === null ? { kind: "now" } : { kind: "scheduled", scheduledAt };
}

function toOptions(options: Readonly<Record<string, PostOptionMessage>>): PostOptions {
  return Object.fromEntries(
    Object.entries(options).map(([key, option]) => [key, toOption(option)]),
  );
}

function toOption({ content, title, privacy, tags }: PostOptionMessage): PostOption {
  return {
    ...(content === undefined ? {} : { content }),
    ...(title === undefined ? {} : { title }),
    ...(privacy === undefined ? {} : { privacy }),
    ...(tags === undefined ? {} : { tags: tags.values }),
  };
}

interface Check {
  readonly path: string;
  readonly isValid: boolean;
}

function check(path: string, isValid: boolean): Check {
  return { path, isValid };
}

function assertValid(checks: readonly Check[]): void {
  const faults = checks.flatMap(({ path, isValid }): Violation[] =>
    isValid ? [] : [{ code: "invalid", path }],
  );
  if (faults.length > 0) throw invalidRequest(faults);
}

function checkPost({ workspaceId, accountIds, mediaIds, scheduledAt }: PostFields): Check[] {
  return [
    check("/workspaceId", isId(workspaceId)),
    checkAccountIds(accountIds),
    checkMediaIds(mediaIds),
    checkInstant(scheduledAt),
  ];
}

function checkAccountIds(ids: readonly string[]): Check {
  return check("/accountIds", ids.length > 0 && areDistinctIds(ids, MAX_ACCOUNTS));
}

function checkMediaIds(ids: readonly string[]): Check {
  return check("/mediaIds", areDistinctIds(ids, MAX_MEDIA));
}

function checkInstant(instant: Timestamp | undefined): Check {
  const isDate = instant === undefined || !Number.isNaN(timestampDate(instant).getTime());
  return check("/scheduledAt", isDate);
}

function areDistinctIds(ids: readonly string[], max: number): boolean {
  return ids.length <= max && new Set(ids).size === ids.length && ids.every(isId);
}
