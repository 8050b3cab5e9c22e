import { fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import type { BackfillItemSchema } from "@postrider/contracts/engagement/v1/automation_service_pb";
import { CommentSchema } from "@postrider/contracts/engagement/v1/comment_service_pb";
import { invalidRequest } from "@postrider/shared/errors";
import type { ISql } from "@postrider/shared/postgres";
import {
  encodeCursor,
  requireCursor,
  type CursorKeys,
} from "@postrider/shared/secrets/list-cursor";
import { listResults } from "#src/engagement/db/backfill-results.ts";
import type { BackfillRow } from "#src/engagement/db/backfills.ts";

const DEFAULT_LIMIT = 20;
/** Per page, and the default when a request does not name a number. */
export const MAX_RESULTS = 100;

interface ResultPage {
  readonly results: MessageInitShape<typeof BackfillItemSchema>[];
  readonly nextCursor?: string;
}

export async function readResults(
  { sql, cursorKeys }: { readonly sql: ISql; readonly cursorKeys: CursorKeys },
  { id, workspaceId }: Pick<BackfillRow, "id" | "workspaceId">,
  { limit, cursor }: { readonly limit: number; readonly cursor: string },
): Promise<ResultPage> {
  if (limit < 0 || limit > MAX_RESULTS) throw invalidRequest([{ code: "invalid", path: "/limit" }]);
  const size = limit === 0 ? DEFAULT_LIMIT : limit;
  const scope = ["backfill results", workspaceId, id];
  // A cursor carries a time and an id. Results are ordered by a number, so the cursor carries that
  // number in place of the time.
  const after = cursor === "" ? -1 : requireCursor(cursorKeys, scope, cursor).at.getTime();
  const rows = await listResults(sql, { id, workspaceId }, { limit: size, after });
  const shown = rows.slice(0, size);
  const last = rows.length > shown.length ? shown.at(-1) : undefined;
  return {
    results: shown.map(({ comment, outcome, reason }) => ({
      comment: fromBinary(CommentSchema, comment),
      outcome,
      ...(reason === null ? {} : { reason }),
    })),
    ...(last === undefined
      ? {}
      : { nextCursor: encodeCursor(cursorKeys, scope, { at: new Date(last.position), id }) }),
  };
}
