import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { type Plan, planFor } from "#src/faults/rule.ts";
import { answering, type Call, type Reply } from "#src/http/call.ts";
import { fetchMedia, NOTHING_FETCHED } from "#src/http/fetch-media.ts";
import type { Platform, Route } from "#src/platform.ts";
import type { Store, Table } from "#src/store/store.ts";
import { storingFiles } from "#src/world/received-media.ts";
import type { LoggedRequest, World } from "#src/world/world.ts";

interface HeldCall {
  readonly platform: string;
  readonly routePath: string;
  readonly dueAt: number;
  readonly method: string;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly baseUrl: string;
}

/** They survive a restart of the simulator; a reset deletes them. */
export class HeldCalls {
  readonly #rows: Table<HeldCall>;

  constructor(store: Store) {
    this.#rows = store.table<HeldCall>("held_calls");
  }

  hold(id: string, call: Call, about: Pick<HeldCall, "platform" | "routePath" | "dueAt">): void {
    const { method, path, params, headers, baseUrl } = call;
    const query = call.query.toString();
    const body = call.body.toString("base64");
    this.#rows.put(id, { ...about, method, path, params, query, headers, body, baseUrl });
  }

  take(id: string): Call | undefined {
    const held = this.#rows.get(id);
    this.#rows.delete(id);
    return held === undefined ? undefined : toCall(held);
  }

  all(): [id: string, held: HeldCall][] {
    return [...this.#rows.entries()];
  }
}

function toCall(held: HeldCall): Call {
  const { method, path, params, headers, baseUrl } = held;
  const query = new URLSearchParams(held.query);
  return { method, path, params, query, headers, body: Buffer.from(held.body, "base64"), baseUrl };
}

/** Operations that see older state while a `stale_reads` fault rule applies. */
const READS: ReadonlySet<string> = new Set(["status", "metrics", "comments"]);

const HTML = { "content-type": "text/html" };

function proxyPage(status: number): Reply {
  const page = `<html>\r\n<head><title>${status} Bad Gateway</title></head>\r\n<body>\r\n<center><h1>${status} Bad Gateway</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n`;
  return { status, headers: HTML, body: page };
}

const GARBAGE_PAGE: Reply = {
  status: 200,
  headers: HTML,
  body: "<!DOCTYPE html><html><body>Please wait while we check your browser",
};

export interface ServeDeps {
  readonly world: World;
  readonly held: HeldCalls;
  /** Aborted when the simulator stops, so that no delay of a response continues. */
  readonly stopping: AbortSignal;
  readonly onCall?: ((platformId: string, call: Call) => void) | undefined;
}

interface Arrival {
  readonly platform: Platform;
  readonly route: Route;
  readonly call: Call;
  readonly logged: LoggedRequest;
}

/**
 * The changes of the call are in the journal before the answer is sent. `close` closes the
 * connection without an answer; so does the caller when the result is undefined.
 */
export async function serve(
  deps: ServeDeps,
  platform: Platform,
  route: Route,
  call: Call,
  close: () => void,
): Promise<Reply | undefined> {
  const { world } = deps;
  deps.onCall?.(platform.id, call);
  const account = platform.accountOf(call);
  const operations = route.operations(call);
  const { method, path } = call;
  const logged = world.log.open({
    platform: platform.id,
    method,
    path: platform.loggedPath?.(path) ?? path,
    operation: operations[0],
    time: world.clock.now(),
    account: account?.externalId ?? null,
  });
  const request = { platform: platform.id, operations, method, path, account };
  const plan = planFor(world.faults.match(request));
  const arrival: Arrival = { platform, route, call, logged };
  if (plan.acts === "late") {
    close();
    await actLate(deps, arrival, plan.holdMs);
    return undefined;
  }
  const own = plan.acts === "now" ? await act(deps, platform, route, call) : undefined;
  world.store.commit();
  await hold(deps, plan);
  logged.outcome = outcomeOf(plan, own);
  return answerOf(plan, own, arrival, world.clock.now());
}

async function act(deps: ServeDeps, platform: Platform, route: Route, call: Call): Promise<Reply> {
  const { clock, faults } = deps.world;
  const fetched =
    route.fetches === undefined
      ? NOTHING_FETCHED
      : await fetchMedia(route.fetches(call), deps.stopping);
  const now = clock.now();
  const isRead = READS.has(route.operations(call)[0]);
  const lagMs = isRead ? faults.readLagMs(platform.id, platform.accountOf(call)) : 0;
  const moment = { now, asOf: now - lagMs, fetched };
  return storingFiles(deps.world.files, () => answering(() => route.handle(call, moment)));
}

async function actLate(deps: ServeDeps, arrival: Arrival, holdMs: number): Promise<void> {
  const id = randomUUID();
  const { platform, route, call, logged } = arrival;
  const dueAt = Date.now() + holdMs;
  deps.held.hold(id, call, { platform: platform.id, routePath: route.path, dueAt });
  deps.world.store.commit();
  const reply = await runHeldCall(deps, id, platform, route, dueAt);
  logged.outcome = reply === undefined ? "dropped" : outcomeFrom(reply);
}

/** Undefined when a reset of the simulator has deleted the call. */
export async function runHeldCall(
  deps: ServeDeps,
  id: string,
  platform: Platform,
  route: Route,
  dueAt: number,
): Promise<Reply | undefined> {
  await wait(Math.max(0, dueAt - Date.now()), undefined, { signal: deps.stopping });
  const call = deps.held.take(id);
  if (call === undefined) return undefined;
  const reply = await act(deps, platform, route, call);
  deps.world.store.commit();
  return reply;
}

async function hold({ world, stopping }: ServeDeps, plan: Plan): Promise<void> {
  const latencyMs = plan.answer === "close" ? 0 : world.settings.values.latencyMs;
  const holdMs = plan.holdMs + latencyMs;
  if (holdMs > 0) await wait(holdMs, undefined, { signal: stopping });
}

function outcomeOf(plan: Plan, own: Reply | undefined): LoggedRequest["outcome"] {
  if (own !== undefined) return outcomeFrom(own);
  return plan.answer === "close" ? "dropped" : "refused";
}

function outcomeFrom(reply: Reply): LoggedRequest["outcome"] {
  return reply.status < 400 ? "done" : "refused";
}

function answerOf(
  plan: Plan,
  own: Reply | undefined,
  { platform, call, logged }: Arrival,
  now: number,
): Reply | undefined {
  switch (plan.answer) {
    case "own":
      return own;
    case "proxy":
      return proxyPage(plan.status);
    case "garbage":
      return GARBAGE_PAGE;
    case "error":
      return platform.errorReply(plan.status, call, now);
    case "refusal":
      return platform.refusal(logged.operation, call);
    case "close":
      return undefined;
  }
}
