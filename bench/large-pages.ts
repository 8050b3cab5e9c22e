/**
 * Measures how much memory one workspace with large posts makes the services use: 24 clients that read pages of 100
 * drafts of 261 kB at once, and 30 clients that request such pages and never read them. Prints a Markdown table of the
 * resident memory of the gateway and of the posts service.
 */
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { startBenchSystem } from "./system.ts";

const DRAFTS = 100;
/** Length of a draft's text in characters. The text and the options of a post may have at most 256 KiB together. */
const TEXT_LENGTH = 261_000;
const READERS = 24;
const IDLE_CLIENTS = 30;
const IDLE_MS = 15_000;
const SAMPLE_MS = 20;
const SERVICES = ["gateway", "posts"] as const;

await using system = await startBenchSystem("postgres");
const { local } = system;
const [accountId = ""] = await system.connect("bluesky", 1);
const headers = { authorization: `Bearer ${local.apiKey}` };

function residentMegabytes(service: (typeof SERVICES)[number]): number {
  const pid = local.services[service][0]?.pid ?? 0;
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Math.round((Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024) / 1e6);
}

/** Waits for `work` and returns the highest resident memory of each service during this time, in MB. */
async function peakOf(work: Promise<unknown>): Promise<readonly number[]> {
  const peaks = SERVICES.map(() => 0);
  const done = work.then(() => true);
  do {
    SERVICES.forEach((service, index) => {
      peaks[index] = Math.max(peaks[index] ?? 0, residentMegabytes(service));
    });
  } while (!(await Promise.race([done, sleep(SAMPLE_MS, false)])));
  return peaks;
}

async function createDrafts(): Promise<void> {
  const options = { method: "POST", headers: { ...headers, "content-type": "application/json" } };
  for (let number = 0; number < DRAFTS; number += 1) {
    const content = `${number} `.padEnd(TEXT_LENGTH, "large draft ");
    const body = JSON.stringify({ content, accountIds: [accountId], isDraft: true });
    const answer = await fetch(`${local.baseUrl}/api/v1/posts`, { ...options, body });
    if (answer.status !== 202) throw new Error(`a draft was answered with ${answer.status}`);
    await answer.arrayBuffer();
  }
}

const counts = { posts: 0, pages: 0, refused: 0, largestPage: 0 };

/** Reads the whole list of posts page by page, and repeats the request for a page that the service refuses. */
async function readList(): Promise<void> {
  let cursor: string | null = "";
  while (cursor !== null) {
    const query = `limit=100${cursor === "" ? "" : `&cursor=${cursor}`}`;
    const answer: Response = await fetch(`${local.baseUrl}/api/v1/posts?${query}`, { headers });
    const text = await answer.text();
    if (answer.status === 429) {
      counts.refused += 1;
      await sleep(Number(answer.headers.get("retry-after")) * 1000);
      continue;
    }
    if (answer.status !== 200) throw new Error(`a page was answered with ${answer.status}`);
    const page = JSON.parse(text) as { posts: unknown[]; nextCursor: string | null };
    counts.pages += 1;
    counts.posts += page.posts.length;
    counts.largestPage = Math.max(counts.largestPage, text.length);
    cursor = page.nextCursor;
  }
}

function requestWithoutReading(): Socket {
  const { hostname, port } = new URL(local.baseUrl);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  socket.pause();
  socket.write(
    `GET /api/v1/posts?limit=100 HTTP/1.1\r\nHost: bench\r\nAuthorization: ${headers.authorization}\r\n\r\n`,
  );
  return socket;
}

async function idle(): Promise<void> {
  const sockets = Array.from({ length: IDLE_CLIENTS }, requestWithoutReading);
  await sleep(IDLE_MS);
  for (const socket of sockets) socket.destroy();
}

await createDrafts();
const before = SERVICES.map(residentMegabytes);
const startedAt = performance.now();
const reading = await peakOf(Promise.all(Array.from({ length: READERS }, readList)));
const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
const idling = await peakOf(idle());
if (counts.posts !== DRAFTS * READERS) throw new Error(`read ${counts.posts} posts`);
const rows = [
  ["before", before],
  [`${READERS} clients read all ${DRAFTS} drafts`, reading],
  [`${IDLE_CLIENTS} clients do not read`, idling],
] as const;
process.stdout.write(
  `\n| resident memory, MB | ${SERVICES.join(" | ")} |\n|---|---|---|\n${rows
    .map(([name, values]) => `| ${name} | ${values.join(" | ")} |`)
    .join(
      "\n",
    )}\n\n${counts.pages} pages in ${seconds} s, the largest ${(counts.largestPage / 1e6).toFixed(1)} MB; ${counts.refused} refused\n`,
);
