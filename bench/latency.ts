/**
 * Measures the time from a client's request until readers of the platform see the post, one post at
 * a time, with a simulator that answers at once. The end of this time is the creation time that the
 * simulator stores with the post; simulator and client use the same clock. Prints a Markdown table.
 */
import { percentile } from "./measure.ts";
import { startBenchSystem } from "./system.ts";

const POSTS = 200;

interface Entry {
  readonly text: string;
  readonly createdAt: string;
}

async function measureBus(bus: "postgres" | "kafka"): Promise<string> {
  await using system = await startBenchSystem(bus);
  const { local } = system;
  const headers = { authorization: `Bearer ${local.apiKey}`, "content-type": "application/json" };
  const accountIds = await system.connect("bluesky", 5);
  const started = new Map<string, number>();
  const accepted: number[] = [];
  for (let index = 0; index < POSTS; index += 1) {
    const content = `latency ${bus} ${index}`;
    const startedAt = Date.now();
    const body = JSON.stringify({ content, accountIds: [accountIds[index % accountIds.length]] });
    const answer = await fetch(`${local.baseUrl}/api/v1/posts`, { method: "POST", headers, body });
    if (answer.status !== 202) throw new Error(`POST /posts answered ${answer.status}`);
    started.set(content, startedAt);
    accepted.push(Date.now() - startedAt);
    const { id } = (await answer.json()) as { id: string };
    for (let status = ""; status !== "published";) {
      const post = (await (
        await fetch(`${local.baseUrl}/api/v1/posts/${id}`, { headers })
      ).json()) as { status: string };
      status = post.status;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
  const entries = (await (
    await fetch(`${local.simulatorUrl}/_control/visible?platform=bluesky&limit=100000`)
  ).json()) as readonly Entry[];
  const visible = entries.flatMap(({ text, createdAt }) => {
    const startedAt = started.get(text);
    return startedAt === undefined ? [] : [Date.parse(createdAt) - startedAt];
  });
  if (visible.length !== POSTS) throw new Error(`${visible.length} of ${POSTS} posts are visible`);
  const show = (samples: readonly number[]) =>
    `${percentile(samples, 0.5)} / ${percentile(samples, 0.99)}`;
  return `| ${bus} | ${show(accepted)} | ${show(visible)} |`;
}

const rows = [await measureBus("postgres"), await measureBus("kafka")];
process.stdout.write(
  `\n| bus | request to 202, p50 / p99 ms | request to visible, p50 / p99 ms |\n|---|---|---|\n${rows.join("\n")}\n`,
);
process.exit(0);
