import { randomUUID } from "node:crypto";
import type { Sql } from "@postrider/shared/postgres";
import { claimTasks } from "#src/publishing/db/claims.ts";
import type { ClaimedTask } from "#src/publishing/domain/task.ts";

/** What a claim of a test takes. */
export const CLAIM = {
  owner: randomUUID(),
  leaseMs: 60_000,
  limit: 50,
  platforms: ["x"],
  suspectAfter: 3,
  maxSuspects: 1,
  mayTakeOver: true,
  maxPerPlatform: 64,
  floors: null,
};

/** Claims as a worker of its own. */
export async function claim(
  sql: Sql,
  more: Partial<typeof CLAIM> = {},
): Promise<readonly ClaimedTask[]> {
  const options = { ...CLAIM, owner: randomUUID(), ...more };
  return (await sql.begin((tx) => claimTasks(tx, options))).tasks;
}
