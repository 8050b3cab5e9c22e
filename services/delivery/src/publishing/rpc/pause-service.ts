import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { PauseSchema, PauseService } from "@postrider/contracts/delivery/v1/pause_service_pb";
import { deletePause, insertPause, listPauses, type PauseRow } from "#src/publishing/db/pauses.ts";
import type { Dependencies } from "./dependencies.ts";
import { parsePauseScope } from "./parse-pause-scope.ts";

function toPause(row: PauseRow): MessageInitShape<typeof PauseSchema> {
  return { kind: row.kind, key: row.key, createdAt: timestampFromDate(row.createdAt) };
}

export function createPauseService({
  sql,
  nudgeClaims,
}: Pick<Dependencies, "sql" | "nudgeClaims">) {
  return {
    async pausePublishing(request) {
      const { kind, key } = parsePauseScope(request);
      return { pause: toPause(await insertPause(sql, kind, key)) };
    },
    async resumePublishing(request) {
      const { kind, key } = parsePauseScope(request);
      const resumed = await deletePause(sql, kind, key);
      nudgeClaims();
      return { resumed };
    },
    async listPauses() {
      return { pauses: (await listPauses(sql)).map(toPause) };
    },
  } satisfies ServiceImpl<typeof PauseService>;
}
