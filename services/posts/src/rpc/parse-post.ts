import { timestampDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import type {
  CreatePostRequest,
  UpdatePostRequest,
  ValidatePostRequest,
} from "@postrider/contracts/posts/v1/post_service_pb";
import { invalidRequest } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import type { PostRequest } from "#src/db/new-post.ts";
import {
  MAX_ACCOUNTS,
  MAX_MEDIA,
  type PostContent,
  type PostOptions,
  type PostTiming,
} from "#src/domain/post.ts";

const CREATED_VIA = new Set(["rest", "mcp", "dashboard"]);

/** The fields of a post that an update replaces; an absent field keeps its value. */
export type PostUpdate = { readonly [K in keyof PostContent]?: PostContent[K] | undefined } & {
  readonly scheduledAt: Date | undefined;
};

/** The gateway has checked the body, so an invalid value is a defect of the caller. */
export function parseCreatePost(request: CreatePostRequest): PostRequest {
  const { isDraft, queueSlot, force, workspaceId, createdVia, idempotency } = request;
  requireValid({
    ...validityOf(request),
    "/createdVia": CREATED_VIA.has(createdVia),
    "/queueSlot": !queueSlot || (!isDraft && request.scheduledAt === undefined),
  });
  const { key = "", fingerprint = "" } = idempotency ?? {};
  const isKeyed = idempotency !== undefined;
  return {
    ...toContent(request),
    timing: queueSlot ? { kind: "queue_slot" } : toTiming(request.scheduledAt, isDraft),
    createdVia,
    force,
    keyed: isKeyed ? { workspaceId, operation: "CreatePost", key, fingerprint } : null,
  };
}

export function parseValidatePost(
  request: ValidatePostRequest,
): Pick<PostRequest, keyof PostContent | "workspaceId" | "timing"> {
  requireValid(validityOf(request));
  return { ...toContent(request), timing: toTiming(request.scheduledAt, false) };
}

/** Parses the fields that were sent in an UpdatePost request. At least one field is required. */
export function parseUpdatePost(request: UpdatePostRequest): PostUpdate {
  const { content, accountIds, mediaIds, options, scheduledAt } = request;
  const sent = [content, accountIds, mediaIds, options, scheduledAt];
  if (sent.every((field) => field === undefined)) throw invalidRequest();
  requireValid({
    "/accountIds": accountIds === undefined || areAccountIds(accountIds.values),
    "/mediaIds": mediaIds === undefined || areMediaIds(mediaIds.values),
    "/scheduledAt": isInstant(scheduledAt),
  });
  return {
    content,
    accountIds: accountIds?.values,
    mediaIds: mediaIds?.values,
    options: options === undefined ? undefined : parseOptions(options),
    scheduledAt: scheduledAt === undefined ? undefined : timestampDate(scheduledAt),
  };
}

/** The fields that creating and validating a post have in common. */
type PostFields = Omit<ValidatePostRequest, "$typeName">;

function toContent({ workspaceId, content, accountIds, mediaIds, options }: PostFields) {
  return { workspaceId, content, accountIds, mediaIds, options: parseOptions(options) };
}

/** The gateway has checked their fields. */
function parseOptions(json: string): PostOptions {
  return json === "" ? {} : (JSON.parse(json) as PostOptions);
}

function toTiming(sent: Timestamp | undefined, isDraft: boolean): PostTiming {
  // Instants are cut to milliseconds, the precision that the API shows.
  const scheduledAt = sent === undefined ? null : timestampDate(sent);
  if (isDraft) return { kind: "draft", scheduledAt };
  return scheduledAt === null ? { kind: "now" } : { kind: "scheduled", scheduledAt };
}

/** Refuses a request of which some fields, given by their paths, are not valid. */
function requireValid(fields: Readonly<Record<string, boolean>>): void {
  const paths = Object.keys(fields).filter((path) => fields[path] !== true);
  if (paths.length > 0) throw invalidRequest(paths.map((path) => ({ code: "invalid", path })));
}

function validityOf({ workspaceId, accountIds, mediaIds, scheduledAt }: PostFields) {
  return {
    "/workspaceId": isId(workspaceId),
    "/accountIds": areAccountIds(accountIds),
    "/mediaIds": areMediaIds(mediaIds),
    "/scheduledAt": isInstant(scheduledAt),
  };
}

function areAccountIds(ids: readonly string[]): boolean {
  return ids.length > 0 && areDistinctIds(ids, MAX_ACCOUNTS);
}

function areMediaIds(ids: readonly string[]): boolean {
  return areDistinctIds(ids, MAX_MEDIA);
}

function areDistinctIds(ids: readonly string[], max: number): boolean {
  return ids.length <= max && new Set(ids).size === ids.length && ids.every(isId);
}

function isInstant(instant: Timestamp | undefined): boolean {
  return instant === undefined || !Number.isNaN(timestampDate(instant).getTime());
}
