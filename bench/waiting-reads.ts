/**
 * Measures the cost of clients that wait for posts (`GET /posts/{id}?waitFor=final`): the CPU time of each process and the
 * database statements with 1,000 waiting clients and without any, and how long after the publication of its post a waiting
 * client gets the answer. Prints Markdown tables. `node bench/waiting-reads.ts [clients]`
 */
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { Agent, request } from "undici";
import { get, readCounters, type Counters } from "./cost-counters.ts";
import { percentile } from "./measure.ts";
import { startBenchSystem } from "./system.ts";

const CLIENTS = Number(process.argv[2] ?? 1_000);
const MEASURED_MS = 20_000;
const WAIT_SECONDS = 30;
const SETTLE_MS = 3_000;
const PUBLISHED_POSTS = 100;
const PROCESSES = ["gateway", "accounts", "posts", "postgres"] as const;

await using system = await startBenchSystem("postgres");
const { baseUrl, apiKey, databaseUrl } = system.local;
const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
const sql = postgres(databaseUrl, { max: 1, onnotice: () => undefined });
const [accountId = ""] = await system.connect("bluesky", 1);
const agent = new Agent({ connections: CLIENTS });

async function create(body: object): Promise<string> {
  const answer = await request(`${baseUrl}/api/v1/posts`, {
    method: "POST",
    headers,
    body: JSON.stringify({ accountIds: [accountId], ...body }),
  });
  const post = (await answer.body.json()) as { readonly id: string };
  if (answer.statusCode >= 300) throw new Error(`POST /posts answered ${answer.statusCode}`);
  return post.id;
}

async function wait(id: string): Promise<{ readonly status: string }> {
  const url = `${baseUrl}/api/v1/posts/${id}?waitFor=final&timeoutSeconds=${WAIT_SECONDS}`;
  const answer = await request(url, { headers, dispatcher: agent });
  if (answer.statusCode !== 200) throw new Error(`GET /posts/{id} answered ${answer.statusCode}`);
  return (await answer.body.json()) as { readonly status: string };
}

/** Returns by how much each measured value, such as CPU time, grows per second while the posts do not change. */
async function measure(): Promise<Counters> {
  const before = await readCounters(system.local, sql);
  await sleep(MEASURED_MS);
  const after = await readCounters(system.local, sql);
  const seconds = (get(after, "at") - get(before, "at")) / 1000;
  return new Map([...after].map(([name, value]) => [name, (value - get(before, name)) / seconds]));
}

const drafts: string[] = [];
while (drafts.length < CLIENTS)
  drafts.push(await create({ content: `draft ${drafts.length}`, isDraft: true }));
await sleep(SETTLE_MS);
const idle = await measure();
const waits = drafts.map((id) => wait(id));
await sleep(SETTLE_MS);
const waiting = await measure();
await Promise.all(waits);

const delays: number[] = [];
for (let number = 0; number < PUBLISHED_POSTS; number += 1) {
  const id = await create({ content: `post ${number}` });
  const { status } = await wait(id);
  const answeredAt = Date.now();
  if (status !== "published") throw new Error(`the post is ${status}`);
  const [row] = await sql<[{ at: Date }]>`
    select published_at as at
    from posts.posts
    where id = ${id}`;
  delays.push(answeredAt - row.at.getTime());
}
await sql.end();

const cells = (counters: Counters) =>
  [...PROCESSES.map((name) => get(counters, `cpu/${name}`)), get(counters, "transactions")]
    .map((value) => value.toFixed(1))
    .join(" | ");
const added = new Map(
  [...waiting].map(([name, value]) => [name, value - get(idle, name)] as const),
);
const share = PROCESSES.reduce((sum, name) => sum + get(added, `cpu/${name}`), 0) / 10;
process.stdout.write(`
| clients that wait | CPU ms per s: ${PROCESSES.join(" | ")} | transactions per s |
|---|${"---|".repeat(PROCESSES.length + 1)}
| 0 | ${cells(idle)} |
| ${CLIENTS} | ${cells(waiting)} |
| added | ${cells(added)} |

Together they add ${share.toFixed(1)} % of a core.

A client that waits has the answer ${percentile(delays, 0.5)} ms (p50) and ${percentile(delays, 0.99)} ms (p99) after the post is published.
`);
process.exit(0);
