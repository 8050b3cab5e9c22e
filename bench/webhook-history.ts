/**
 * Measures the history of webhooks: pages of `GET /webhooks/{id}/deliveries` with every filter, and manual retries, while one
 * subscription has 1,000,000 deliveries of 30 days. Prints a Markdown table. `node bench/webhook-history.ts [deliveries]`
 */
import postgres from "postgres";
import { percentile } from "./measure.ts";
import { startBenchSystem } from "./system.ts";

const DELIVERIES = Number(process.argv[2] ?? 1_000_000);
const DAYS = 30;
const REQUESTS = 1_000;
const WARM_UP_REQUESTS = 200;
const TYPES = ["post.published", "post.failed", "target.published", "target.failed"];
const STATUSES = ["failed", "succeeded", "pending", "delivering", "cancelled"];
const FILTERS = ["", ...STATUSES.map((status) => `status=${status}`)]
  .flatMap((status) => [status, [status, "eventType=post.failed"].filter(Boolean).join("&")])
  .concat("eventType=account.connected");

await using system = await startBenchSystem("postgres");
const { baseUrl, apiKey, workspaceId, databaseUrl } = system.local;
const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
const sql = postgres(databaseUrl, {
  // A temporary table exists only in the connection that created it, so the benchmark uses one connection.
  max: 1,
  onnotice: () => undefined,
  connection: { search_path: "delivery" },
});

async function call(method: string, path: string, body?: object) {
  const startedAt = performance.now();
  const answer = await fetch(`${baseUrl}/api/v1${path}`, {
    method,
    headers: body === undefined ? { authorization: headers.authorization } : headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const read: unknown = await answer.json();
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}`);
  return { body: read, ms: performance.now() - startedAt };
}

const created = await call("POST", "/webhooks", {
  url: "https://example.com/hook",
  events: ["*"],
});
const webhook = created.body as { readonly id: string };
await sql`
  select create_day_partitions(name, current_date - ${DAYS + 1}::int, current_date + 1)
  from unnest(array['webhook_events', 'webhook_deliveries', 'webhook_attempts']) as name`;
// One webhook delivery in 100 has failed, and one in 10,000 still waits.
await sql`
  create temporary table made as
  select number,
    (lpad(to_hex((extract(epoch from now() - (number / ${DELIVERIES}::float8) * interval '${sql.unsafe(String(DAYS))} days') * 1000)::bigint), 12, '0')
      || '7' || substr(md5(number::text), 1, 3) || '8' || substr(md5(number::text), 4, 15))::uuid as id,
    (${TYPES}::text[])[1 + number % ${TYPES.length}] as type,
    case when number % 10000 = 0 then 'pending' when number % 100 = 0 then 'failed' else 'succeeded' end as status
  from generate_series(1, ${DELIVERIES}::int) as number`;
await sql`
  insert into webhook_events (id, workspace_id, type, payload)
  select id, ${workspaceId}, type, json_build_object('id', id, 'text', repeat('x', 700))::text
  from made`;
await sql`
  insert into webhook_deliveries (id, subscription_id, workspace_id, event_id, event_type, status, attempt_count)
  select id, ${webhook.id}, ${workspaceId}, id, type, status, 1
  from made`;
await sql`
  insert into webhook_attempts (
    delivery_id, number, workspace_id, started_at, duration_ms, status_code, request_headers, response_headers,
    response_body
  )
  select id, 1, ${workspaceId}, now(), 10, 200, '{"webhook-id": "a"}', '{"server": "b"}', 'ok'
  from made`;
await sql`analyze webhook_deliveries, webhook_events, webhook_attempts`;
process.stderr.write(`${DELIVERIES} deliveries are stored\n`);

interface Page {
  readonly deliveries: readonly { readonly id: string }[];
  readonly nextCursor: string | null;
}

/**
 * Reads pages of the webhook history from the newest delivery on, and starts again after the last page. Returns the
 * duration of each request in ms.
 */
async function timePages(filter: string, requests: number): Promise<readonly number[]> {
  const samples: number[] = [];
  let cursor = "";
  for (let count = 0; count < requests; count += 1) {
    const query = [filter, cursor].filter((part) => part !== "").join("&");
    const { body, ms } = await call("GET", `/webhooks/${webhook.id}/deliveries?${query}`);
    samples.push(ms);
    const { nextCursor } = body as Page;
    cursor = nextCursor === null ? "" : `cursor=${nextCursor}`;
  }
  return samples;
}

const show = (name: string, samples: readonly number[]) =>
  `| ${name} | ${percentile(samples, 0.5).toFixed(1)} / ${percentile(samples, 0.99).toFixed(1)} |`;
const one: number[] = [];
for (let count = 0; count < WARM_UP_REQUESTS + REQUESTS; count += 1)
  one.push((await call("GET", "/webhooks")).ms);
const rows = [show("for comparison: `GET /webhooks`", one.slice(WARM_UP_REQUESTS))];
for (const filter of FILTERS) {
  await timePages(filter, WARM_UP_REQUESTS);
  const samples = await timePages(filter, REQUESTS);
  rows.push(show(filter === "" ? "no filter" : `\`${filter}\``, samples));
}
const failed = await call("GET", `/webhooks/${webhook.id}/deliveries?status=failed&limit=100`);
const retries: number[] = [];
for (const { id } of (failed.body as Page).deliveries)
  retries.push((await call("POST", `/webhooks/${webhook.id}/deliveries/${id}/retry`)).ms);
rows.push(show("retry of one delivery", retries));
await sql.end();
process.stdout.write(`\n| request | p50 / p99 ms |\n|---|---|\n${rows.join("\n")}\n`);
process.exit(0);
