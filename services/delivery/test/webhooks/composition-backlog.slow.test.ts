import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, expect, test } from "vitest";
import { startComposer } from "#src/webhooks/jobs/compose-payloads/compose-payloads.ts";
import { startEvents } from "./compose-fixture.ts";

const BACKLOG = 20_000;

const events = await startEvents();
afterAll(() => events[Symbol.asyncDispose]());

test(
  "the payloads of a backlog of 20,000 webhook events are written in pages",
  { timeout: 120_000 },
  async () => {
    const { sql, deps } = events;
    const { workspaceId } = await events.subscribe();
    await sql`
    insert into webhook_compositions (event_id, workspace_id, type, occurred_at, sequence, source, cause, subscription_ids)
    select
      (lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') || '70008' || lpad(to_hex(number), 15, '0'))::uuid,
      ${workspaceId}, 'webhook.test', now(), 1, '{"kind": "test", "webhookId": "w"}', '{}', '{}'
    from generate_series(1, ${BACKLOG}::int) as number`;
    let nudges = 0;
    await using _composer = startComposer({ ...deps, nudgeDispatcher: () => (nudges += 1) });
    await eventually(async () => {
      const left = await sql<{ event_id: string }[]>`
        select event_id from webhook_compositions limit 1`;
      expect(left).toHaveLength(0);
    });
    const [row] = await sql<{ count: number }[]>`select count(*) as count from webhook_events`;
    expect(row?.count).toBe(BACKLOG);
    expect(nudges).toBeGreaterThanOrEqual(BACKLOG / 200);
  },
);
