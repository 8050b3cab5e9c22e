import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { WorkspaceSchema } from "@postrider/contracts/accounts/v1/workspace_pb";
import type { WorkspaceRow } from "#src/db/workspaces.ts";

function toMove({ movesTo, movedAt, handoverHash }: WorkspaceRow, frozenAt: Date) {
  return {
    cell: movesTo ?? "",
    frozenAt: timestampFromDate(frozenAt),
    handoverHash: handoverHash ?? new Uint8Array(),
    ...(movedAt === null ? {} : { movedAt: timestampFromDate(movedAt) }),
  };
}

export function toWorkspace(row: WorkspaceRow): MessageInitShape<typeof WorkspaceSchema> {
  const { requestsPerMinute, monthlyQuota, dailyQuota, deletionRequestedAt, removesAt } = row;
  return {
    id: row.id,
    name: row.name,
    verified: row.verified,
    limits: {
      ...(requestsPerMinute === null ? {} : { requestsPerMinute }),
      ...(monthlyQuota === null ? {} : { monthlyQuota }),
      ...(dailyQuota === null ? {} : { dailyQuota }),
    },
    createdAt: timestampFromDate(row.createdAt),
    isImporting: row.isImporting,
    ...(row.frozenAt === null ? {} : { move: toMove(row, row.frozenAt) }),
    ...(deletionRequestedAt === null || removesAt === null
      ? {}
      : {
          deletion: {
            requestedAt: timestampFromDate(deletionRequestedAt),
            removesAt: timestampFromDate(removesAt),
          },
        }),
  };
}
