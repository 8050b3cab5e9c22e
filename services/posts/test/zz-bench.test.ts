import { appendFileSync } from "node:fs";
import { test } from "vitest";
import { newWorkspace, startPosts } from "./fixture.ts";
test("bench", async () => {
  await using posts = await startPosts();
  const workspaceId = newWorkspace();
  const fake = (posts as any).peers ?? (posts as any).neighbours;
  fake.limits.set(workspaceId, { monthlyQuota: 100000, dailyQuota: 100000 });
  const accountIds = ["x", "telegram", "bluesky"].map((p) => fake.connectAccount(workspaceId, p));
  let n = 0;
  const run = async (count: number, keyed: boolean) => {
    const worker = async () => { while (n < count) { n += 1; await posts.createPost({ workspaceId, accountIds, content: `post ${keyed} ${count} ${n}`, ...(keyed ? { idempotency: { key: `k${count}${n}`, fingerprint: "f" } } : {}) }); } };
    n = 0;
    const cpu = process.cpuUsage(); const t = performance.now();
    await Promise.all(Array.from({ length: 25 }, worker));
    const c = process.cpuUsage(cpu);
    return { perSecond: Math.round(count / ((performance.now() - t) / 1000)), cpuUs: Math.round((c.user + c.system) / count) };
  };
  await run(600, false); await run(400, true);
  const all = [];
  for (let i = 0; i < 10; i += 1) all.push((await run(500 + i, false)).cpuUs);
  const plain = Math.min(...all), keyed = all.toSorted((a, b) => a - b)[4];
  appendFileSync("/tmp/posts-work/bench.txt", JSON.stringify({ at: process.cwd(), plain, keyed }) + "\n");
}, 300_000);
