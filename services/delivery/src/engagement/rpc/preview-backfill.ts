import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  PreviewBackfillRequest,
  PreviewBackfillResponseSchema,
} from "@postrider/contracts/engagement/v1/automation_service_pb";
import { notFound, unavailable } from "@postrider/shared/errors";
import { encodeTextCursor, requireTextCursor } from "@postrider/shared/secrets/list-cursor";
import type { AutomationRpcDeps } from "#src/engagement/operations/automation-rpc-dependencies.ts";
import { toPreviewItem } from "#src/engagement/operations/backfill-pages.ts";
import { getLiveRule } from "#src/engagement/operations/get-live-rule.ts";
import { readPastComments } from "#src/engagement/operations/read-past-comments.ts";

/** Shows a page of past comments and what an automation rule would do with each. Stores nothing and sends nothing. */
export async function previewBackfill(
  deps: AutomationRpcDeps,
  { workspaceId, ruleId, mediaId, cursor }: PreviewBackfillRequest,
): Promise<MessageInitShape<typeof PreviewBackfillResponseSchema>> {
  const rule = await getLiveRule(deps.sql, { workspaceId, ruleId, mediaId });
  const scope = ["backfill preview", workspaceId, ruleId, mediaId];
  const after = cursor === "" ? undefined : requireTextCursor(deps.cursorKeys, scope, cursor);
  const page = await readPastComments(deps, rule, { mediaId, after });
  if (page.kind === "missing") throw notFound();
  if (page.kind === "refused") throw unavailable();
  const { items, next } = page;
  return {
    items: items.map(toPreviewItem),
    ...(next === undefined ? {} : { nextCursor: encodeTextCursor(deps.cursorKeys, scope, next) }),
  };
}
