import { expect, test } from "vitest";
import { measureActions } from "#src/engagement/jobs/count-backlogs.ts";
import { openDatabase } from "../publishing/fixture.ts";
import { readSeries } from "../publishing/metric-values.ts";
import { CommentWorld, request } from "./fixture.ts";

test("the metrics show the open comment actions by state, and for how long the oldest one has been due", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const world = new CommentWorld();
  const paused = world.addAccount();
  const limited = world.addAccount();
  await request(sql, world.addAccount());
  const unknown = await request(sql, world.addAccount());
  await request(sql, paused);
  await request(sql, limited);
  await sql`update comment_actions set wake_at = now() - interval '1 hour' where status = 'queued'`;
  await sql`update comment_actions set status = 'unknown' where id = ${unknown}`;
  await sql`insert into pauses (kind, key) values ('account', ${paused.id})`;
  await sql`
    update comment_action_queues
    set not_before = now() + interval '1 hour'
    where account_id = ${limited.id}`;

  await measureActions(sql);

  const valueOf = await readSeries();
  for (const state of ["due", "paused", "limited", "unknown"])
    expect(valueOf(`delivery_comment_actions{type="reply",state="${state}"}`)).toBe(1);
  const ageSeconds = valueOf('delivery_oldest_due_comment_action_seconds{type="reply"}');
  expect(ageSeconds).toBeGreaterThanOrEqual(3_590);
});
