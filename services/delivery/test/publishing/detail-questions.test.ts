import { newId } from "@postrider/shared/ids";
import { expect, test } from "vitest";
import { claimQuestions, postponeQuestion } from "#src/publishing/db/detail-questions.ts";
import { openDatabase } from "./fixture.ts";

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
