/**
 * Measures how much slow readers and large imports of one workspace hinder the media of another workspace. With a disk
 * store and with an S3 store, 256 clients read a video by its signed address at one byte per second; beside them the
 * benchmark reads media as publishing and platforms do, and uploads a file. Then 40 imports download large videos at once,
 * while the size of the temporary folder is measured. Prints two Markdown tables.
 */
import { once } from "node:events";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sampleMp4, samplePng } from "@postrider/local/sample-media";
import { startTestS3 } from "@postrider/local/test-s3";
import { percentile } from "./measure.ts";
import { startBenchSystem, type BenchSystem } from "./system.ts";

const READERS = 256;
const TRIES = 20;
const TRY_TIMEOUT_MS = 5_000;
/** Time in milliseconds after which the remaining connections of the slow readers are counted. */
const COUNT_AFTER_MS = 90_000;
const IMPORTING_WORKSPACES = 10;
const IMPORTS_PER_WORKSPACE = 4;
const IMPORT_BYTES = 50_000_000;
const IMPORT_PIECES = 50;

interface Tenant {
  readonly workspaceId: string;
  readonly key: string;
}

interface ReadyMedia {
  readonly id: string;
  readonly url: string;
}

async function createTenant(system: BenchSystem, name: string): Promise<Tenant> {
  const { id } = (await system.operate("workspace", "create", "--name", name, "--verified")) as {
    id: string;
  };
  const create = ["key", "create", "--name", name, "--workspace", id, "--scopes", "all"];
  const { key } = (await system.operate(...create)) as { key: string };
  return { workspaceId: id, key };
}

async function call(
  system: BenchSystem,
  { key }: Tenant,
  path: string,
  body?: object,
): Promise<unknown> {
  const answer = await fetch(`${system.local.baseUrl}/api/v1${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
    signal: AbortSignal.timeout(120_000),
  });
  if (!answer.ok) throw new Error(`POST ${path} answered ${answer.status}`);
  return await answer.json();
}

async function uploadFile(
  system: BenchSystem,
  tenant: Tenant,
  contentType: string,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<ReadyMedia> {
  const declared = { fileName: "file", contentType, bytes: bytes.length };
  const grant = (await call(system, tenant, "/media/presign", declared)) as {
    id: string;
    uploadPath: string;
    uploadToken: string;
  };
  // Uploads through the gateway and the media service, even if the object store offers an upload address of its own.
  const put = await fetch(`${system.local.baseUrl}/uploads/${grant.uploadPath}`, {
    method: "PUT",
    headers: { authorization: `Bearer ${grant.uploadToken}` },
    body: bytes,
  });
  if (put.status !== 204) throw new Error(`PUT answered ${put.status}`);
  return (await call(system, tenant, `/media/${grant.id}/complete`)) as ReadyMedia;
}

/** Opens a connection that requests a file and reads one byte per second. */
async function startReader(url: string): Promise<{ socket: Socket; status: string }> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  socket.write(`GET ${pathname} HTTP/1.1\r\nHost: a\r\n\r\n`);
  await Promise.race([once(socket, "readable"), sleep(10_000)]);
  const status = (socket.read(12) as Buffer | null)?.toString().slice(9) ?? "no answer";
  const timer = setInterval(() => socket.read(1), 1_000);
  socket.once("close", () => clearInterval(timer));
  return { socket, status };
}

/**
 * Makes the same call several times in sequence. Returns a table cell with the number of successes and the durations of the
 * calls.
 */
async function tryCalls(work: (signal: AbortSignal) => Promise<boolean>): Promise<string> {
  const times: number[] = [];
  let successes = 0;
  for (let count = 0; count < TRIES; count += 1) {
    const startedAt = performance.now();
    const isGood = await work(AbortSignal.timeout(TRY_TIMEOUT_MS)).catch(() => false);
    successes += Number(isGood);
    times.push(performance.now() - startedAt);
  }
  const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)];
  return `${successes} of ${TRIES}, ${p50.toFixed(0)} / ${p99.toFixed(0)}`;
}

async function readAll(url: string, headers: Record<string, string>, signal: AbortSignal) {
  const answer = await fetch(url, { headers, signal });
  await answer.arrayBuffer();
  return answer.ok;
}

/** Code of the state of an established TCP connection in `/proc/net/tcp`. */
const ESTABLISHED = "01";

/**
 * Counts the connections that the gateway still serves. A client that does not read learns late that its connection was
 * closed, so the gateway's side is counted.
 */
function countServed(sockets: readonly Socket[]): number {
  const ports = new Set(sockets.map(({ localPort }) => localPort));
  const lines = readFileSync("/proc/net/tcp", "utf8").split("\n").slice(1);
  const remotePorts = lines.flatMap((line) => {
    const [, , remote, state] = line.trim().split(/\s+/);
    return state === ESTABLISHED ? [Number.parseInt(remote?.split(":")[1] ?? "", 16)] : [];
  });
  return remotePorts.filter((port) => ports.has(port)).length;
}

async function measureReaders(store: string, settings: Readonly<Record<string, string>>) {
  await using system = await startBenchSystem("postgres", settings);
  const [slow, other] = [
    await createTenant(system, "slow readers"),
    await createTenant(system, "another workspace"),
  ];
  const video = sampleMp4({ width: 2048, height: 1024 });
  const read = await uploadFile(system, slow, "video/mp4", video);
  const sameWorkspace = await uploadFile(system, slow, "image/png", samplePng());
  const foreign = await uploadFile(system, other, "image/png", samplePng());
  const mediaUrl = system.local.services.media[0]?.url ?? "";
  const headers = { ...(await system.headersOf("delivery", "media")) };
  const publishing = (tenant: Tenant, { id }: ReadyMedia) => {
    const url = `${mediaUrl}/objects/${tenant.workspaceId}/${id}?rendition=delivery`;
    return tryCalls((signal) => readAll(url, headers, signal));
  };
  const startedAt = performance.now();
  const readers = await Promise.all(Array.from({ length: READERS }, () => startReader(read.url)));
  const cells = [
    readers.filter(({ status }) => status === "200").length,
    await publishing(other, foreign),
    await publishing(slow, sameWorkspace),
    await tryCalls((signal) => readAll(foreign.url, {}, signal)),
    await tryCalls(async (signal) => {
      const work = uploadFile(system, other, "image/png", samplePng());
      const late = once(signal, "abort").then(() => Promise.reject(new Error("too late")));
      return await Promise.race([work.then(() => true), late]);
    }),
  ];
  await sleep(Math.max(0, COUNT_AFTER_MS - (performance.now() - startedAt)));
  cells.push(countServed(readers.map(({ socket }) => socket)));
  for (const { socket } of readers) socket.destroy();
  return `| ${store} | ${cells.join(" | ")} |`;
}

/** Starts an HTTP server that sends a video of 50 MB over about 5 s, and counts the most downloads that were open at once. */
async function startVideoServer() {
  let [open, mostOpen] = [0, 0];
  const piece = Buffer.alloc(IMPORT_BYTES / IMPORT_PIECES);
  piece.write("\0\0\0\x18ftypmp42", "latin1");
  const send = async (response: ServerResponse): Promise<void> => {
    response.on("error", () => undefined);
    open += 1;
    mostOpen = Math.max(mostOpen, open);
    response.once("close", () => (open -= 1));
    response.writeHead(200, { "content-length": IMPORT_BYTES });
    for (let sent = 0; sent < IMPORT_PIECES && !response.destroyed; sent += 1) {
      if (!response.write(piece)) await Promise.race([once(response, "drain"), sleep(60_000)]);
      await sleep(100);
    }
    response.end();
  };
  const server = createServer((_request, response) => void send(response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, port: (server.address() as AddressInfo).port, mostOpen: () => mostOpen };
}

/** Returns the names of the files in a folder; an empty list when the folder was deleted meanwhile. */
function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function folderBytes(folder: string): number {
  const files = listNames(folder).flatMap((name) =>
    listNames(join(folder, name)).map((file) => join(folder, name, file)),
  );
  const sizes = files.map((file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0);
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function measureImports(): Promise<string> {
  const { server, port, mostOpen } = await startVideoServer();
  await using system = await startBenchSystem("postgres", {
    OUTBOUND_ALLOW: `127.0.0.1:${port}`,
    MEDIA_MAX_VIDEO_BYTES: String(IMPORT_BYTES),
  });
  const tenants: Tenant[] = [];
  for (let count = 0; count < IMPORTING_WORKSPACES; count += 1)
    tenants.push(await createTenant(system, `imports ${count}`));
  let peak = 0;
  const timer = setInterval(() => {
    peak = Math.max(peak, folderBytes(system.mediaTempDir));
  }, 50);
  const url = `http://127.0.0.1:${port}/video.mp4`;
  const imports = tenants.flatMap((tenant) =>
    Array.from({ length: IMPORTS_PER_WORKSPACE }, () =>
      call(system, tenant, "/media/from-url", { url }).catch(() => undefined),
    ),
  );
  const accepted = (await Promise.all(imports)).filter((media) => media !== undefined).length;
  clearInterval(timer);
  server.closeAllConnections();
  server.close();
  return `| ${imports.length} | ${IMPORT_BYTES / 1e6} | ${accepted} | ${mostOpen()} | ${(peak / 1e6).toFixed(0)} |`;
}

process.stdout.write(
  `\n| store | slow readers with status 200 | publishing reads a file of another workspace | publishing reads another file of their workspace | a platform downloads a file of another workspace | another workspace uploads and completes a file | slow readers served after ${COUNT_AFTER_MS / 1000} s |\n|---|---|---|---|---|---|---|\n`,
);
process.stdout.write(`${await measureReaders("disk", {})}\n`);
await using s3 = await startTestS3();
process.stdout.write(`${await measureReaders("S3", s3.settings)}\n`);
process.stdout.write(
  `\n| imports requested at once | MB each | successful | most downloads at once | largest use of temporary files, MB |\n|---|---|---|---|---|\n${await measureImports()}\n`,
);
process.exit(0);
