import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Account } from "@postrider/contracts/accounts/v1/account_pb";
import type { CommentSchema } from "@postrider/contracts/engagement/v1/comment_service_pb";
import type {
  CallCost,
  CommentPage,
  CommentQuery,
  CommentsConnector,
  Missing,
  PlatformComment,
} from "@postrider/platforms/comments/connector";
import { isPlatformId } from "@postrider/platforms/platform-id";
import type { Failure } from "@postrider/platforms/publishing/outcome";
import type { AccountAccess } from "@postrider/platforms/publishing/publication";
import { conflict, notFound, ServiceError, unavailable } from "@postrider/shared/errors";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import { type AccountRef, findConnectedAccount } from "#src/clients/accounts.ts";
import { type Unavailable, type Unusable, withAccess } from "#src/operations/with-credential.ts";
import { settleAppUnits, takeAppUnits } from "./app-units.ts";
import type { EngagementDeps } from "./dependencies.ts";

export type ReadDeps = Pick<EngagementDeps, "sql" | "accounts" | "logger">;

export interface CommentedAccount {
  readonly ref: AccountRef;
  readonly account: Account;
  readonly connector: CommentsConnector;
}

/**
 * Reads of this process. Those of one workspace wait for each other: the server that answers may be
 * its own, with answers that take long to come and to parse.
 */
export const READS = new Semaphore({
  total: 64,
  perKey: 4,
  maxWaiting: 1_000,
  maxWaitingPerShare: 100,
  maxWaitMs: 10_000,
});

/** Told to clients whose call the platform refused. */
export const REFUSED_RETRY_MS = 60_000;
/** Told to clients whose call the platform did not answer. */
const NO_ANSWER_RETRY_MS = 5_000;

/** @throws `upstream_timeout` at the deadline, at which the signal of `read` is aborted. */
export async function withReadDeadline<T>(
  timeoutMs: number,
  read: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const controller = new AbortController();
  const timer = setTimeout(() => {
    reject(new ServiceError("timeout", "upstream_timeout"));
    controller.abort();
  }, timeoutMs);
  try {
    return await Promise.race([read(controller.signal), late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * @throws `not_found` for an account that is unknown, of another workspace or disconnected, and for
 *   a platform without comments.
 */
export async function getCommentedAccount(
  {
    accounts,
    connectors,
  }: Pick<EngagementDeps, "accounts"> & {
    readonly connectors: Pick<EngagementDeps["connectors"], "comments">;
  },
  ref: AccountRef,
): Promise<CommentedAccount> {
  const account = await findConnectedAccount(accounts, ref);
  if (account === undefined || !isPlatformId(account.platform)) throw notFound();
  const connector = connectors.comments[account.platform];
  if (connector === undefined) throw notFound();
  return { ref, account, connector };
}

/** Reads a page of comments, and charges what it used of the app's budget. */
export async function readCommentPage(
  deps: ReadDeps,
  commented: CommentedAccount,
  query: CommentQuery,
  signal: AbortSignal,
): Promise<CommentPage> {
  const { connector, ref } = commented;
  const cost = connector.costs?.list(query.limit);
  let charged: CallCost | undefined;
  const page = await readFromPlatform(deps, commented, cost, (access, taken) => {
    charged = taken;
    return connector.listComments(access, query, signal);
  });
  if (charged !== undefined && page.units !== undefined)
    await settleAppUnits(
      deps.sql,
      { platform: connector.platform, workspaceId: ref.workspaceId, cost: charged },
      page.units,
    );
  return page;
}

type Read<T extends { readonly kind: string }> = T | Missing | Failure;

/**
 * @throws `not_found` if the platform does not have it or it belongs to another account;
 *   `account_reconnect_required`, whose detail names a missing permission; `unavailable` else, also
 *   when too many reads of the workspace wait, or the app's budget has no units for it.
 */
export async function readFromPlatform<T extends { readonly kind: string }>(
  deps: ReadDeps,
  { ref, account, connector }: CommentedAccount,
  cost: CallCost | undefined,
  read: (access: AccountAccess, taken: CallCost | undefined) => Promise<Read<T>>,
): Promise<T> {
  using _permit = await READS.acquire({ key: ref.workspaceId });
  const { platform } = connector;
  const { workspaceId } = ref;
  const result = await withAccess(deps, ref, async (access): Promise<Read<T>> => {
    if (cost === undefined || connector.isForeignHost?.(access) === true)
      return await read(access, undefined);
    const limit = await takeAppUnits(deps.sql, { platform, workspaceId, cost });
    return limit ?? (await read(access, cost));
  });
  if (isNoResult(result)) throw toError(result, account);
  return result;
}

type NoResult = Missing | Exclude<Failure, { kind: "token_refused" }> | Unusable | Unavailable;

const NO_RESULTS: ReadonlySet<string> = new Set<NoResult["kind"]>([
  "missing",
  "refused",
  "retryable",
  "unusable",
  "unavailable",
]);

function isNoResult(result: { readonly kind: string }): result is NoResult {
  return NO_RESULTS.has(result.kind);
}

function toError(answer: NoResult, { id: accountId, platform }: Account): ServiceError {
  const reconnect = (code: string) =>
    conflict("account_reconnect_required", [{ code, accountId, platform }]);
  switch (answer.kind) {
    case "missing":
      return notFound();
    case "unusable":
      return answer.code === "account_disconnected" ? notFound() : reconnect(answer.code);
    case "refused":
      return answer.code === "permission_missing" || answer.code === "account_reconnect_required"
        ? reconnect(answer.code)
        : unavailable(new Error(answer.message), REFUSED_RETRY_MS);
    case "retryable":
      return unavailable(new Error(answer.message), answer.retryAfterMs ?? NO_ANSWER_RETRY_MS);
    case "unavailable":
      return unavailable(new Error(answer.message), NO_ANSWER_RETRY_MS);
  }
}

export function toComment(comment: PlatformComment): MessageInitShape<typeof CommentSchema> {
  const { id, text, authorId, authorUsername, createdAt, likeCount, replyCount, hidden } = comment;
  const author = {
    ...(authorId === null ? {} : { id: authorId }),
    ...(authorUsername === null ? {} : { username: authorUsername }),
  };
  return {
    id,
    text,
    ...(authorId === null && authorUsername === null ? {} : { author }),
    createdAt: timestampFromDate(createdAt),
    ...(likeCount === null ? {} : { likeCount: BigInt(likeCount) }),
    ...(replyCount === null ? {} : { replyCount: BigInt(replyCount) }),
    hidden: hidden ?? false,
  };
}
