import { randomUUID } from "node:crypto";
import type { PlatformId } from "@postrider/shared/platforms/registry";
import type { Sql } from "@postrider/shared/postgres";
import { expect, test } from "vitest";
import { claimTasks } from "#src/db/claims.ts";
import { openDatabase, request, World, type TestTarget } from "./fixture.ts";

const SHARE = 4;
const CLAIM = {
  leaseMs: 60_000,
  limit: 50,
  platforms: ["x", "bluesky"],
  isSuspect: false,
  maxPerPlatform: SHARE,
  maxPerWorkspace: SHARE,
};
/** More than one claim looks at. */
const BACKLOG = 1_200;

function claim(sql: Sql, more: Partial<typeof CLAIM> = {}) {
  return claimTasks(sql, { ...CLAIM, ...more, owner: randomUUID() });
}

/** Posts that have been due for long: `busy` accounts of them have one in work already. */
async function addBacklog(
  sql: Sql,
  world: World,
  { platform, workspaceId }: { platform: PlatformId; workspaceId: string },
): Promise<void> {
  const accounts = Array.from({ length: BACKLOG / 10 }, () => randomUUID());
  const dueAt = new Date(Date.now() - 60_000);
  const targets = Array.from({ length: BACKLOG }, (_, index) =>
    world.addTarget({
      platform,
      workspaceId,
      accountId: accounts[index % accounts.length] ?? "",
      dueAt,
    }),
  );
  await request(sql, ...targets);
}

function names(claimed: readonly { readonly targetId: string }[]) {
  return claimed.map(({ targetId }) => targetId);
}

test("the backlog of a platform that hangs hides nobody else's posts", async () => {
  await using database = await openDatabase();
  const world = new World();
  const workspaceId = randomUUID();
  await addBacklog(database.sql, world, { platform: "x", workspaceId });
  const other: TestTarget = world.addTarget({
    platform: "bluesky",
    workspaceId,
    dueAt: new Date(),
  });
  await request(database.sql, other);

  expect(await claim(database.sql)).toHaveLength(SHARE);
  expect(names(await claim(database.sql))).toEqual([other.targetId]);
});

test("the backlog of one workspace hides no other's posts, on the same platform either", async () => {
  await using database = await openDatabase();
  const world = new World();
  await addBacklog(database.sql, world, { platform: "x", workspaceId: randomUUID() });
  const other = world.addTarget({ platform: "x", dueAt: new Date() });
  await request(database.sql, other);

  const more = { maxPerPlatform: 2 * SHARE };
  expect(await claim(database.sql, more)).toHaveLength(SHARE);
  expect(names(await claim(database.sql, more))).toEqual([other.targetId]);
});
