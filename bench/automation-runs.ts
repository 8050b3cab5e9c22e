/**
 * Measures pages of `GET /automations/partner-dm-runs` with every filter, while a workspace has 1,100,000 runs: 1,000,000 of one
 * rule, and 100,000 of 20 others. Prints a Markdown table. `node bench/automation-runs.ts [runs]`
 */
import postgres from "postgres";
import { percentile } from "./measure.ts";
import { startBenchSystem } from "./system.ts";

const RUNS = Number(process.argv[2] ?? 1_100_000);
const OTHER_RULES = 20;
const REQUESTS = 500;
const WARM_UP_REQUESTS = 100;

await using system = await startBenchSystem("postgres");
const { baseUrl, apiKey, workspaceId, databaseUrl } = system.local;
const [accountId] = await system.connect("instagram", 1);
const headers = { authorization: `Bearer ${apiKey}` };
const sql = postgres(databaseUrl, {
  onnotice: () => undefined,
  connection: { search_path: "delivery" },
});

const rules = await sql<{ id: string }[]>`
  insert into automation_rules (
    id, workspace_id, account_id, platform, name, keywords, match, exclude_keywords, message, status, created_at, updated_at
  )
  select gen_random_uuid(), ${workspaceId}, ${accountId ?? ""}, 'instagram', 'rule ' || number, '{link}', 'any', '{}', 'Hello',
    'paused', now(), now()
  from generate_series(0, ${OTHER_RULES}::int) as number
  returning id`;
const ruleIds = rules.map(({ id }) => id);
// Ten of 11 automation runs belong to one rule, the others to 20 rules; one run in 100 has failed, one in 100,000 waits.
await sql`
  insert into automation_runs (id, workspace_id, account_id, rule_id, comment_id, media_id, status, reason, created_at)
  select
    (lpad(to_hex((extract(epoch from made.at) * 1000)::bigint), 12, '0')
      || '7' || substr(md5(number::text), 1, 3) || '8' || substr(md5(number::text), 4, 15))::uuid,
    ${workspaceId}, ${accountId ?? ""},
    (${ruleIds}::uuid[])[1 + case when number % 11 = 0 then 1 + (number / 11) % ${OTHER_RULES} else 0 end],
    number::text, 'media',
    case when number % 100000 = 0 then 'prepared' when number % 100 = 0 then 'failed'
      when number % 10 = 0 then 'skipped' else 'sent' end,
    case when number % 100000 = 0 then null when number % 100 = 0 then 'platform_refused'
      when number % 10 = 0 then 'excluded' end,
    made.at
  from generate_series(1, ${RUNS}::int) as number
  cross join lateral (select now() - number * interval '2 seconds' as at) as made`;
await sql`analyze automation_runs, automation_rules`;
process.stderr.write(`${RUNS} runs are stored\n`);

/**
 * Reads the pages of a list in order, and starts again with the first page after the last one. Returns the duration of
 * each request in ms.
 */
async function timePages(
  filter: string,
  requests: number,
  list = "/automations/partner-dm-runs",
): Promise<readonly number[]> {
  const samples: number[] = [];
  let cursor = "";
  for (let count = 0; count < requests; count += 1) {
    const query = ["limit=50", filter, cursor].filter((part) => part !== "").join("&");
    const startedAt = performance.now();
    const answer = await fetch(`${baseUrl}/api/v1${list}?${query}`, {
      headers,
    });
    const page = (await answer.json()) as { readonly nextCursor: string | null };
    if (!answer.ok) throw new Error(`${query} answered ${answer.status}`);
    samples.push(performance.now() - startedAt);
    cursor = page.nextCursor === null ? "" : `cursor=${page.nextCursor}`;
  }
  return samples;
}

const ofRules = ["", `ruleId=${ruleIds[0]}`, `ruleId=${ruleIds[1]}`];
const names = ["every rule", "the rule with 10 of 11 runs", "a rule with 1 of 220 runs"];
const show = (name: string, samples: readonly number[]) =>
  `| ${name} | ${percentile(samples, 0.5).toFixed(1)} / ${percentile(samples, 0.99).toFixed(1)} |`;
await timePages("", WARM_UP_REQUESTS, "/webhooks");
const rows = [
  show("for comparison: `GET /webhooks` | –", await timePages("", REQUESTS, "/webhooks")),
];
for (const [index, rule] of ofRules.entries())
  for (const status of ["", "sent", "skipped", "failed", "prepared"]) {
    const filter = [rule, status === "" ? "" : `status=${status}`].filter(Boolean).join("&");
    await timePages(filter, WARM_UP_REQUESTS);
    const samples = await timePages(filter, REQUESTS);
    rows.push(
      show(`${names[index]} | ${status === "" ? "every status" : `\`${status}\``}`, samples),
    );
  }
await sql.end();
process.stdout.write(`\n| runs of | status | p50 / p99 ms |\n|---|---|---|\n${rows.join("\n")}\n`);
process.exit(0);
