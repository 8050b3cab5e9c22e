import { newId } from "@postrider/shared/ids";
import { asOperator, BY_OPERATOR, runAudited } from "@postrider/shared/testing/audit";
import { expect, test } from "vitest";
import { startMedia } from "./media-fixture.ts";

test("a change of a workspace's storage limit leaves one audit entry with the limit before and after", async () => {
  await using service = await startMedia({});
  const workspaceId = newId();
  const set = (limitBytes?: bigint) => async () =>
    await asOperator(() =>
      service.storage.setStorageLimit({
        workspaceId,
        ...(limitBytes === undefined ? {} : { limitBytes }),
      }),
    );
  const entry = {
    action: "workspace.set_storage_limit",
    workspaceId,
    subject: ["workspace", workspaceId],
    ...BY_OPERATOR,
  };
  const tables = ["storage_limits"];
  expect(await runAudited(service.database, tables, set(3_000_000_000_000n))).toEqual([
    {
      ...entry,
      details: { before: { limitBytes: null }, after: { limitBytes: 3_000_000_000_000 } },
    },
  ]);
  expect(await runAudited(service.database, tables, set())).toEqual([
    {
      ...entry,
      details: { before: { limitBytes: 3_000_000_000_000 }, after: { limitBytes: null } },
    },
  ]);
});
