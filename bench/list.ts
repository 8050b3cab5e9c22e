/**
 * Measures how fast the gateway returns pages from a list of 1,000,000 posts of one workspace: at
 * the top, in the middle and at the end of the list, without a filter and with each filter. Prints
 * a Markdown table, and for each filter the query plan of the middle page.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  deriveCursorKeys,
  encodeCursor,
  type Position,
} from "@postrider/shared/secrets/list-cursor";
import postgres from "postgres";
import { percentile } from "./measure.ts";
import { startBenchSystem } from "./system.ts";

const POSTS = 1_000_000;
const PAGES = [20, 100];
const WARM_UPS = 30;
const REQUESTS = 300;

/**
 * A filter of the post list in the REST API, and the SQL condition that the posts service uses for
 * it.
 */
const FILTERS = [
  { name: "", value: "", condition: "true" },
  { name: "status", value: "failed", condition: "post.status = 'failed'" },
  { name: "platform", value: "telegram", condition: "'telegram' = any (post.platforms)" },
  { name: "createdVia", value: "mcp", condition: "post.created_via = 'mcp'" },
  { name: "from", value: "2025-12-20", condition: "post.effective_at >= '2025-12-20T00:00:00Z'" },
  { name: "to", value: "2026-10-01", condition: "post.effective_at < '2026-10-02T00:00:00Z'" },
] as const;

type Filter = (typeof FILTERS)[number];

await using system = await startBenchSystem("postgres");
const { local } = system;
const sql = postgres(local.databaseUrl, {
  max: 1,
  onnotice: () => {},
  // Functions of triggers name each other without their schema.
  connection: { search_path: "posts" },
});
const [accountId = ""] = await system.connect("bluesky", 1);

/**
 * Inserts posts with one target each, created half a minute apart. For each filter, a tenth of the
 * posts has the rarer value.
 */
async function insertPosts(): Promise<void> {
  await sql`
    insert into posts.posts (id, workspace_id, status, content, options, media_ids, media, created_via, created_at,
      updated_at, platforms)
    select gen_random_uuid(), ${local.workspaceId}, case when n % 10 = 0 then 'failed' else 'published' end,
      'A post of ordinary length, number ' || n, '{}', '{}', '[]', case when n % 10 = 1 then 'mcp' else 'rest' end,
      timestamptz '2026-11-01 00:00:00Z' - n * interval '30 seconds', now(),
      case when n % 10 = 2 then array['telegram'] else array['bluesky'] end
    from generate_series(1, ${POSTS}::int) as n`;
  await sql`
    insert into posts.targets (id, workspace_id, post_id, ordinal, account_id, platform, username, status, generation,
      last_report_at, updated_at)
    select gen_random_uuid(), workspace_id, id, 0, ${accountId}, platforms[1], 'bench', status, 1, now(), now()
    from posts.posts
    where workspace_id = ${local.workspaceId}`;
  await sql`vacuum analyze posts.posts`;
  await sql`vacuum analyze posts.targets`;
}

/**
 * Returns the position in the post list that follows the fraction `part` of the posts that match
 * the filter. An SQL query computes the position, because reading up to 50,000 pages through the
 * gateway takes too long.
 */
async function findPosition({ condition }: Filter, part: number): Promise<Position | undefined> {
  if (part === 0) return undefined;
  const [row] = await sql.unsafe<Position[]>(`
    select post.effective_at as at, post.id
    from posts.posts as post
    where post.workspace_id = '${local.workspaceId}'
    and ${condition}
    order by post.effective_at desc, post.id desc
    offset (
      select greatest(floor(count(*) * ${part}) - 1, 0)
      from posts.posts as post
      where post.workspace_id = '${local.workspaceId}'
      and ${condition}
    )
    limit 1`);
  if (row === undefined) throw new Error("the list has no post at this position");
  return row;
}

const secrets = JSON.parse(readFileSync(join(dirname(local.logs), "secrets.json"), "utf8")) as {
  readonly identityKeys: { readonly posts: string };
};
const cursorKeys = deriveCursorKeys("posts", [secrets.identityKeys.posts]);

function toCursor({ name, value }: Filter, position: Position): string {
  const of = (filter: string): string => (filter === name ? value : "");
  const filters = ["status", "platform", "createdVia", "from", "to"].map(of);
  return encodeCursor(cursorKeys, ["posts", local.workspaceId, ...filters], position);
}

async function read(filter: Filter, limit: number, position: Position | undefined): Promise<void> {
  const query = new URLSearchParams({ limit: String(limit) });
  if (filter.name !== "") query.set(filter.name, filter.value);
  if (position !== undefined) query.set("cursor", toCursor(filter, position));
  const answer = await fetch(`${local.baseUrl}/api/v1/posts?${query.toString()}`, {
    headers: { authorization: `Bearer ${local.apiKey}` },
  });
  const { posts } = (await answer.json()) as { readonly posts?: readonly unknown[] };
  if (posts === undefined || posts.length === 0)
    throw new Error(`${query.toString()} was answered with ${answer.status} and no posts`);
}

async function time(...page: Parameters<typeof read>): Promise<string> {
  const samples: number[] = [];
  for (let index = 0; index < WARM_UPS + REQUESTS; index += 1) {
    const startedAt = performance.now();
    await read(...page);
    if (index >= WARM_UPS) samples.push(performance.now() - startedAt);
  }
  return `${percentile(samples, 0.5).toFixed(1)} / ${percentile(samples, 0.99).toFixed(1)}`;
}

async function explain(filter: Filter, position: Position | undefined): Promise<string> {
  // On every page after the first, the posts service leaves out the condition of the filter `to`,
  // because every post after the cursor is earlier than `to`.
  const condition = filter.name === "to" && position !== undefined ? "true" : filter.condition;
  const after =
    position === undefined
      ? ""
      : `and (post.effective_at, post.id) < ('${position.at.toISOString()}', '${position.id}')`;
  const rows = await sql.unsafe<{ "QUERY PLAN": string }[]>(`
    explain (analyze, buffers, costs off, timing off, summary off)
    select post.*
    from posts.posts as post
    where post.workspace_id = '${local.workspaceId}'
    and ${condition}
    ${after}
    order by post.effective_at desc, post.id desc
    limit 101`);
  return rows.map((row) => row["QUERY PLAN"]).join("\n");
}

await insertPosts();
const rows: string[] = [];
const plans: string[] = [];
for (const filter of FILTERS) {
  const positions = await Promise.all([0, 0.5, 0.9999].map((part) => findPosition(filter, part)));
  const label = filter.name === "" ? "none" : `\`${filter.name}=${filter.value}\``;
  for (const limit of PAGES) {
    const cells: string[] = [];
    for (const position of positions) cells.push(await time(filter, limit, position));
    rows.push(`| ${label} | ${limit} | ${cells.join(" | ")} |`);
  }
  plans.push(`-- ${label}, in the middle\n${await explain(filter, positions[1])}`);
}
await sql.end();
process.stdout.write(
  `\n| filter | limit | top, p50 / p99 ms | middle | end |\n|---|---|---|---|---|\n${rows.join("\n")}\n\n${plans.join("\n\n")}\n`,
);
