import { newId } from "@postrider/shared/ids";
import { countPages } from "@postrider/shared/testing/explain";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runPage } from "#src/engagement/db/automation-runs.ts";
import { startAutomations, type Automations } from "./automation-fixture.ts";

const workspaceId = newId();
const often = newId();
const rare = newId();

let automations: Automations;
beforeAll(async () => {
  automations = await startAutomations();
  const { sql, database } = automations;
  await sql`
    insert into automation_rules (
      id, workspace_id, account_id, platform, name, keywords, match, exclude_keywords, message, status, created_at, updated_at
    )
    select id, ${workspaceId}, gen_random_uuid(), 'instagram', 'rule', '{link}', 'any', '{}', 'Hello', 'paused', now(), now()
    from unnest(${[often, rare]}::uuid[]) as id`;
  await sql`
    insert into automation_runs (id, workspace_id, account_id, rule_id, comment_id, media_id, status, reason)
    select (lpad(to_hex(number), 12, '0') || '70008' || substr(md5(number::text), 1, 15))::uuid, ${workspaceId},
      gen_random_uuid(), case when number % 200 = 0 then ${rare} else ${often} end::uuid, number::text, 'media',
      case when number % 10000 = 1 then 'prepared' when number % 100 = 1 then 'failed' else 'sent' end,
      case when number % 10000 <> 1 and number % 100 = 1 then 'platform_refused' end
    from generate_series(1, 40000) as number`;
  await database.ownerSql`analyze delivery.automation_runs`;
});
afterAll(() => automations[Symbol.asyncDispose]());

test("listing a page of runs of automation rules reads few database pages, even with filters that few or no runs match", async () => {
  const { sql } = automations;
  for (const ruleId of [undefined, often, rare])
    for (const status of [undefined, "sent", "failed", "prepared", "skipped"] as const) {
      const query = runPage(sql, workspaceId, { ruleId, status, limit: 50, before: undefined });
      const isShort = (await countPages(sql, query)) < 120;
      expect({ ruleId, status, isShort }).toEqual({ ruleId, status, isShort: true });
    }
});
