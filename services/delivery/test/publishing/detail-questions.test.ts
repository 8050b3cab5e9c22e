import { newId } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { claimQuestions, postponeQuestion } from "#src/publishing/db/detail-questions.ts";
import { releaseImportedTasks } from "#src/publishing/db/workspace-import.ts";
import { startAskForDetails } from "#src/publishing/jobs/ask-for-details.ts";
import { insertPublished, openDatabase, publishingDeps, readTask, openStage } from "./fixture.ts";

test("a process whose claim of a post id's question has ended does not delay the question that another process has claimed", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  await sql`
    insert into detail_questions (target_id, generation, workspace_id, account_id, platform, handles, wake_at)
    values (${newId()}, 1, ${newId()}, ${newId()}, 'tiktok', '{}', now())`;
  const claim = () => claimQuestions(sql, { limit: 1, leaseMs: 0, since: new Date(0) });
  const [late] = await claim();
  const [current] = await claim();
  if (late === undefined || current === undefined) throw new Error("not claimed");
  const readWait = async () => {
    const [row] = await sql<{ isFar: boolean }[]>`
      select wake_at > now() + interval '1 minute' as is_far
      from detail_questions`;
    return row?.isFar;
  };
  await postponeQuestion(sql, late, 3_600_000);
  expect(await readWait()).toBe(false);
  await postponeQuestion(sql, current, 3_600_000);
  expect(await readWait()).toBe(true);
});

async function insertQuestions(
  sql: Sql,
  {
    platform,
    count,
    age,
  }: { readonly platform: string; readonly count: number; readonly age: string },
): Promise<string> {
  const workspaceId = newId();
  await sql`
    insert into detail_questions (target_id, generation, workspace_id, account_id, platform, handles, wake_at)
    select gen_random_uuid(), 1, ${workspaceId}, gen_random_uuid(), ${platform}, '{}', now() - ${age}::interval
    from generate_series(1, ${count}::int)`;
  return workspaceId;
}

test("a claim of questions for post ids takes one of each workspace and platform before a second one, and none of an excepted platform", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const busy = await insertQuestions(sql, { platform: "tiktok", count: 100, age: "1 hour" });
  const other = await insertQuestions(sql, { platform: "tiktok", count: 1, age: "1 minute" });
  const third = await insertQuestions(sql, { platform: "youtube", count: 2, age: "1 minute" });
  const options = { limit: 3, leaseMs: 60_000, since: new Date(0) };
  const claim = async (except: readonly string[]) =>
    (await claimQuestions(sql, { ...options, except })).map(({ workspaceId }) => workspaceId);

  expect((await claim([])).toSorted()).toEqual([busy, other, third].toSorted());
  expect(await claim(["tiktok"])).toEqual([third]);
});

test("the questions of an imported workspace, however many, do not delay those of others", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const imported = await insertQuestions(sql, {
    platform: "tiktok",
    count: 10_001,
    age: "-400 days",
  });
  await releaseImportedTasks(sql, imported, false);
  const other = await insertQuestions(sql, { platform: "tiktok", count: 1, age: "0" });
  const claimed = await claimQuestions(sql, { limit: 2, leaseMs: 60_000, since: new Date(0) });
  const workspaces = claimed.map(({ workspaceId }) => workspaceId);
  expect(workspaces.toSorted()).toEqual([imported, other].toSorted());
});

test("the answer to a question that an export has named another workspace's target for does not change that target", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const target = world.addTarget({ platform: "tiktok" });
  await insertPublished(sql, [{ target, externalId: "id-1" }]);
  await sql`update publish_tasks set external_id = null`;
  const other = world.addTarget({ platform: "tiktok" });
  await sql`
    insert into detail_questions (target_id, generation, workspace_id, account_id, platform, handles, wake_at)
    values (${target.targetId}, ${target.generation}, ${other.workspaceId}, ${other.accountId}, 'tiktok', '{}', now())`;
  const found = { kind: "found", externalId: "theirs", permalink: null } as const;
  const connectors = {
    tiktok: { ...world.connector("tiktok"), findDetails: () => Promise.resolve(found) },
  };
  await using _details = startAskForDetails(publishingDeps(world, sql, { connectors }));
  await eventually(async () => expect(await sql`select from detail_questions`).toHaveLength(0));
  expect(await readTask(sql, target)).toMatchObject({ externalId: null });
});

test("a platform that does not answer the request for a post id delays no request to another platform", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const silent = Promise.withResolvers<AbortSignal>();
  const connectors = {
    tiktok: {
      ...world.connector("tiktok"),
      findDetails: (_account: unknown, _handles: unknown, signal: AbortSignal) => {
        silent.resolve(signal);
        return new Promise<never>((_, reject) => {
          signal.addEventListener("abort", () => reject(new Error("no answer")));
        });
      },
    },
    youtube: {
      ...world.connector("youtube"),
      findDetails: () => Promise.resolve({ kind: "never" } as const),
    },
  };
  const insert = async (platform: "tiktok" | "youtube") => {
    const { targetId, workspaceId, accountId } = world.addTarget({ platform });
    await sql`
      insert into detail_questions (target_id, generation, workspace_id, account_id, platform, handles, wake_at)
      values (${targetId}, 1, ${workspaceId}, ${accountId}, ${platform}, '{}', now())`;
  };
  await insert("tiktok");
  await using details = startAskForDetails(publishingDeps(world, sql, { connectors }));
  const signal = await silent.promise;

  await insert("youtube");
  details.nudge();

  await eventually(async () =>
    expect(await sql`select platform from detail_questions`).toEqual([{ platform: "tiktok" }]),
  );
  expect(signal.aborted).toBe(false);
});

test("a question for a published target is asked again only after the wait that its platform's answer asks for", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  let asked = 0;
  const findDetails = () => {
    asked += 1;
    return Promise.resolve({ kind: "not_yet", afterMs: 3_600_000 } as const);
  };
  const connectors = { youtube: { ...world.connector("youtube"), findDetails } };
  const { targetId, workspaceId, accountId } = world.addTarget({ platform: "youtube" });
  await sql`
    insert into detail_questions (target_id, generation, workspace_id, account_id, platform, handles, wake_at)
    values (${targetId}, 1, ${workspaceId}, ${accountId}, 'youtube', '{}', now())`;
  await using _details = startAskForDetails(publishingDeps(world, sql, { connectors }));
  await eventually(async () => {
    const [row] = await sql<{ isFar: boolean }[]>`
      select wake_at > now() + interval '50 minutes' as is_far
      from detail_questions`;
    expect(row?.isFar).toBe(true);
  });
  expect(asked).toBe(1);
});
