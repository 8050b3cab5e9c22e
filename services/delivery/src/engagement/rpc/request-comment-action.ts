import { create, fromBinary, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import {
  CommentActionSchema,
  type CommentAction,
  type RequestCommentActionRequest,
  type RequestCommentActionResponseSchema,
} from "@postrider/contracts/engagement/v1/comment_service_pb";
import { appendDeed } from "@postrider/shared/audit/deeds";
import { unprocessable } from "@postrider/shared/errors";
import { newId } from "@postrider/shared/ids";
import type { TransactionSql } from "@postrider/shared/postgres";
import { beginInTurn } from "@postrider/shared/postgres/begin-in-turn";
import {
  findReplay,
  takeKeyOrReplay,
  type KeyedRequest,
} from "@postrider/shared/postgres/idempotency";
import type { NewManualAction } from "#src/engagement/domain/comment-action.ts";
import { countEnd } from "#src/engagement/operations/action-metrics.ts";
import { insertManualAction } from "#src/engagement/operations/insert-actions.ts";
import {
  getCommentedAccount,
  readFromPlatform,
  withReadDeadline,
} from "#src/engagement/operations/read-platform.ts";
import { toCommentAction } from "#src/engagement/operations/to-comment-action.ts";
import type { CommentRpcDeps } from "../operations/dependencies.ts";
import { parseAction } from "./parse-comment-request.ts";

type Response = MessageInitShape<typeof RequestCommentActionResponseSchema>;

/** Answers before the platform is called for the action. */
export async function requestCommentAction(
  deps: CommentRpcDeps,
  request: RequestCommentActionRequest,
): Promise<Response> {
  const requested = parseAction(request);
  const keyed = toKeyed(request);
  const checked = await withReadDeadline(deps.readTimeoutMs, (signal) =>
    checkAction(deps, { requested, keyed }, signal),
  );
  if (checked.kind === "replayed") return toReplay(checked.response);
  const { platform, commentCreatedAt } = checked;
  const action = { ...requested, id: newId(), platform, commentCreatedAt };
  const outcome = await beginInTurn(deps.sql, request.workspaceId, (tx) =>
    accept(tx, action, keyed),
  );
  if (outcome.kind === "replayed") return toReplay(outcome.response);
  deps.nudgeActions();
  if (outcome.replaced.length > 0) deps.onEvents();
  for (const replaced of outcome.replaced) countEnd(replaced);
  return { action: outcome.action, replayed: false };
}

function toReplay(response: Uint8Array): Response {
  return { action: fromBinary(CommentActionSchema, response), replayed: true };
}

/** The fingerprint includes the path, so that the same key is refused for another comment. */
function toKeyed(request: RequestCommentActionRequest): KeyedRequest | undefined {
  const { workspaceId, accountId, mediaId, commentId, idempotency } = request;
  if (idempotency === undefined) return undefined;
  const fingerprint = JSON.stringify([idempotency.fingerprint, accountId, mediaId, commentId]);
  return { workspaceId, operation: "RequestCommentAction", key: idempotency.key, fingerprint };
}

interface Requested {
  readonly requested: ReturnType<typeof parseAction>;
  readonly keyed: KeyedRequest | undefined;
}

interface Checked {
  readonly kind: "checked";
  readonly platform: string;
  readonly commentCreatedAt: Date;
}

interface Created {
  readonly kind: "created";
  readonly action: CommentAction;
  /** The waiting actions that this request ended. */
  readonly replaced: Awaited<ReturnType<typeof insertManualAction>>;
}

type Replayed = { readonly kind: "replayed"; readonly response: Uint8Array };

/**
 * Checks that the account has the comment, and that its platform offers the action. Skipped if an
 * earlier request with the same idempotency key has stored the action.
 */
async function checkAction(
  deps: CommentRpcDeps,
  { requested, keyed }: Requested,
  signal: AbortSignal,
): Promise<Checked | Replayed> {
  const { workspaceId, accountId, mediaId, commentId, type } = requested;
  const commented = await getCommentedAccount(deps, { workspaceId, accountId });
  const response = keyed === undefined ? undefined : await findReplay(deps.sql, keyed);
  if (response !== undefined) return { kind: "replayed", response };
  const { connector } = commented;
  const { platform } = connector;
  const { comment } = await readFromPlatform(deps, commented, connector.costs?.read, (access) =>
    connector.readComment(access, { mediaId, commentId }, signal),
  );
  if (!connector.actions.has(type))
    throw unprocessable("validation_failed", [
      { code: "platform_unsupported", path: "/type", accountId, platform },
    ]);
  return { kind: "checked", platform, commentCreatedAt: comment.createdAt };
}

/**
 * Stores the action. The idempotency key is taken first, because a transaction that waits for a key
 * must hold no locks.
 */
async function accept(
  tx: TransactionSql,
  action: NewManualAction,
  keyed: KeyedRequest | undefined,
): Promise<Created | Replayed> {
  const [clock] = await tx<{ now: Date }[]>`select now() as now`;
  const createdAt = clock?.now ?? new Date();
  const stored = {
    ...action,
    status: "queued" as const,
    errorCode: null,
    errorMessage: null,
    version: 1,
    createdAt,
    finishedAt: null,
  };
  const message = create(CommentActionSchema, toCommentAction(stored));
  if (keyed !== undefined) {
    const response = await takeKeyOrReplay(tx, keyed, toBinary(CommentActionSchema, message));
    if (response !== undefined) return { kind: "replayed", response };
  }
  const replaced = await insertManualAction(tx, action);
  const { id, workspaceId, type, accountId, commentId } = action;
  await appendDeed(tx, {
    action: "comment_action.request",
    subject: { type: "comment_action", id },
    workspaceId,
    details: { type, accountId, commentId },
  });
  return { kind: "created", action: message, replaced };
}
