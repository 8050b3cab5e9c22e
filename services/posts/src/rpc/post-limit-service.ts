import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type {
  PostLimitService,
  PostLimitsSchema,
  SetPostLimitsRequest,
} from "@postrider/contracts/posts/v1/post_limit_service_pb";
import { appendAudit } from "@postrider/shared/audit/append";
import { invalidRequest } from "@postrider/shared/errors";
import { assertWorkspaceId } from "@postrider/shared/ids";
import {
  findOwnPostLimits,
  lockPostLimits,
  readPostUsage,
  setOwnPostLimits,
} from "#src/db/post-limits.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";

type Deps = Pick<PostsDeps, "sql">;

/** Maximum number of drafts that a limit can have: that of the column. */
const MAX_DRAFTS = 2_147_483_647n;
/** Maximum number of bytes that a limit can have: a number in JavaScript holds it exactly. */
const MAX_BYTES = BigInt(Number.MAX_SAFE_INTEGER);

export function createPostLimitService(deps: Deps): ServiceImpl<typeof PostLimitService> {
  return {
    getPostLimits: async ({ workspaceId }) => {
      assertWorkspaceId(workspaceId);
      return { limits: await getLimits(deps, workspaceId) };
    },
    setPostLimits: async (request) => {
      assertWorkspaceId(request.workspaceId);
      assertLimit("/drafts", request.drafts, MAX_DRAFTS);
      assertLimit("/bytes", request.bytes, MAX_BYTES);
      await changeLimits(deps, request);
      return { limits: await getLimits(deps, request.workspaceId) };
    },
  };
}

function assertLimit(path: string, limit: bigint | undefined, max: bigint): void {
  if (limit === undefined) return;
  if (limit < 0n) throw invalidRequest([{ code: "too_small", path, limit: 0 }]);
  if (limit > max) throw invalidRequest([{ code: "too_large", path, limit: Number(max) }]);
}

async function changeLimits({ sql }: Deps, request: SetPostLimitsRequest): Promise<void> {
  const { workspaceId, reset } = request;
  await sql.begin(async (tx) => {
    await lockPostLimits(tx, workspaceId);
    const before = await findOwnPostLimits(tx, workspaceId);
    const kept = reset ? { drafts: null, bytes: null } : before;
    const after = {
      drafts: request.drafts === undefined ? kept.drafts : Number(request.drafts),
      bytes: request.bytes === undefined ? kept.bytes : Number(request.bytes),
    };
    await setOwnPostLimits(tx, workspaceId, after);
    const subject = { type: "workspace", id: workspaceId } as const;
    const details = { before: { ...before }, after };
    const action = "workspace.set_post_limits";
    await appendAudit(tx, [{ action, subject, workspaceId, details }]);
  });
}

async function getLimits(
  { sql }: Deps,
  workspaceId: string,
): Promise<MessageInitShape<typeof PostLimitsSchema>> {
  const own = await findOwnPostLimits(sql, workspaceId);
  const { drafts, maxDrafts, bytes, maxBytes } = await readPostUsage(sql, workspaceId);
  return {
    workspaceId,
    maxDrafts: BigInt(maxDrafts),
    hasDefaultDrafts: own.drafts === null,
    drafts: BigInt(drafts),
    maxBytes: BigInt(maxBytes),
    hasDefaultBytes: own.bytes === null,
    bytes: BigInt(bytes),
  };
}
