/**
 * Measures how much memory unfinished request bodies of one API key take in the gateway:
 * `node bench/unfinished-bodies.ts [bodies]`. Sends the heads and all bytes but the last of bodies
 * of 1 MiB on as many connections. Prints a Markdown table.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { startBenchSystem } from "./system.ts";

const BODIES = Number(process.argv[2] ?? 400);
const BYTES = 1024 * 1024;
/**
 * How long the bodies are sent and held before the memory is read for the last time, in
 * milliseconds.
 */
const HOLD_MS = 8_000;
const SAMPLE_MS = 250;

await using system = await startBenchSystem("postgres");
const { baseUrl, apiKey, services } = system.local;
const pid = services.gateway[0]?.pid ?? 0;
const residentMb = () => {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Math.round((Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024) / 1e6);
};

const { hostname, port } = new URL(baseUrl);
const head = [
  "POST /api/v1/posts/validate HTTP/1.1",
  `host: ${hostname}`,
  `authorization: Bearer ${apiKey}`,
  "content-type: application/json",
  `content-length: ${BYTES}`,
  "",
  "",
].join("\r\n");
const body = Buffer.alloc(BYTES - 1, " ");

async function send(): Promise<Socket> {
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  await once(socket, "connect");
  socket.write(head);
  socket.write(body);
  return socket;
}

const before = residentMb();
const sockets = await Promise.all(Array.from({ length: BODIES }, send));
let highest = before;
for (const until = performance.now() + HOLD_MS; performance.now() < until;) {
  await sleep(SAMPLE_MS);
  highest = Math.max(highest, residentMb());
}
for (const socket of sockets) socket.destroy();
console.log(
  [
    "| gateway | resident MB |",
    "|---|---|",
    `| before | ${before} |`,
    `| highest with ${BODIES} unfinished bodies of 1 MiB | ${highest} |`,
  ].join("\n"),
);
