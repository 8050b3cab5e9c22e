import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type postgres from "postgres";
import type { BenchSystem } from "./system.ts";

const NO_LIMIT = "100000000";
const FAR_MS = Date.now() + 60 * 86_400_000;
let dates = 0;

/**
 * Returns a date after the end of the benchmark, so that no post becomes due. Each call returns a
 * later date.
 */
function nextDate(): string {
  dates += 1;
  return new Date(FAR_MS + dates * 1_000).toISOString();
}

/** Webhook endpoints that run in a separate process and record when each event arrives. */
export interface Sink {
  readonly url: string;
  /**
   * Returns when each event arrived since the last call, by path and sequence number of the event.
   */
  takeArrivals(): Promise<ReadonlyMap<string, number>>;
  /** Makes the given endpoints, and no others, leave requests without an answer. */
  hang(paths: readonly string[]): Promise<void>;
  stop(): void;
}

export async function startSink(): Promise<Sink> {
  const child = fork(fileURLToPath(new URL("webhook-sink.ts", import.meta.url)), {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  if (child.stdout === null) throw new Error("the sink has no output");
  const [printed] = (await once(child.stdout, "data")) as [Buffer];
  const url = `http://127.0.0.1:${printed.toString().trim()}`;
  return {
    url,
    takeArrivals: async () => {
      const answer = await fetch(`${url}/arrivals`);
      return new Map((await answer.json()) as [string, number][]);
    },
    hang: async (paths) => {
      await fetch(`${url}/hang`, { method: "POST", body: JSON.stringify(paths) });
    },
    stop: () => child.kill(),
  };
}

/** A workspace with one scheduled post and several endpoints. */
export interface EventSource {
  readonly workspaceId: string;
  readonly key: string;
  readonly postId: string;
  /** The endpoints that receive `post.scheduled`. */
  readonly paths: readonly string[];
}

async function call(
  { local }: BenchSystem,
  key: string,
  [method, path]: readonly [string, string],
  body: object,
) {
  const answer = await fetch(`${local.baseUrl}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!answer.ok && answer.status !== 503)
    throw new Error(`${method} ${path} answered ${answer.status}`);
  return {
    isAccepted: answer.ok,
    etag: answer.headers.get("etag"),
    body: (await answer.json()) as { id: string },
  };
}

/** Subscribes an endpoint of the benchmark's webhook receiver to events. */
export async function subscribe(
  system: BenchSystem,
  { key }: EventSource,
  url: string,
  event: string,
): Promise<void> {
  await call(system, key, ["POST", "/webhooks"], { url, events: [event] });
}

/**
 * Opens a workspace with one scheduled post whose events reach `endpoints` endpoints of the
 * benchmark's webhook receiver.
 */
export async function openSource(
  system: BenchSystem,
  sink: Sink,
  { name, endpoints }: { readonly name: string; readonly endpoints: number },
): Promise<EventSource> {
  const named = ["--name", name];
  const opened = await system.operate("workspace", "create", ...named, "--verified");
  const { id: workspaceId } = opened as { id: string };
  const limits = ["--requests-per-minute", NO_LIMIT, "--monthly-quota", NO_LIMIT];
  await system.operate("workspace", "set-limits", workspaceId, ...limits);
  const scope = ["--workspace", workspaceId, "--scopes", "all"];
  const { key } = (await system.operate("key", "create", ...named, ...scope)) as { key: string };
  const account = ["bluesky", "--workspace", workspaceId, "--simulated"];
  const { id } = (await system.operate("account", "connect", ...account)) as { id: string };
  const content = { content: `for ${name}`, accountIds: [id], scheduledAt: nextDate() };
  const post = await call(system, key, ["POST", "/posts"], content);
  const paths = Array.from({ length: endpoints }, (_, index) => `/${name}-${index}`);
  const source = { workspaceId, key, postId: post.body.id, paths };
  for (const path of paths) await subscribe(system, source, sink.url + path, "post.scheduled");
  return source;
}

/**
 * Reschedules the post of an `EventSource`, and returns the sequence number of the event and when
 * the change was accepted; undefined when an overloaded system refused the change.
 */
export async function reschedule(
  system: BenchSystem,
  { key, postId }: EventSource,
): Promise<{ readonly sequence: number; readonly at: number } | undefined> {
  const body = { scheduledAt: nextDate() };
  const { etag, isAccepted } = await call(system, key, ["PATCH", `/posts/${postId}`], body);
  if (!isAccepted) return undefined;
  return { sequence: Number(etag?.replaceAll('"', "")), at: Date.now() };
}

/**
 * Appends events about the posts of the benchmark to the outbox of the posts service, without a
 * change of the posts.
 */
export async function appendEvents(
  sql: postgres.Sql,
  sources: readonly EventSource[],
  events: { readonly type: string; readonly firstSequence: number; readonly perSource: number },
): Promise<void> {
  const { type, firstSequence, perSource } = events;
  const rows = sources.map(({ workspaceId, postId }) => ({ workspaceId, postId }));
  await sql`
    insert into posts.outbox (event_id, type, key, payload, headers)
    select gen_random_uuid(), ${type}, post."postId", jsonb_build_object(
        'workspaceId', post."workspaceId", 'postId', post."postId", 'version', number::text,
        'occurredAt', to_jsonb(now())
      )::text, '{}'
    from generate_series(${firstSequence}::int, ${firstSequence + perSource - 1}::int) as number
    cross join jsonb_to_recordset(${sql.json(rows)}) as post ("workspaceId" text, "postId" text)`;
}
