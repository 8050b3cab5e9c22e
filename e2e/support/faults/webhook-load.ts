import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceName } from "@postrider/local/services";
import { create } from "../posts.ts";
import { isAlive } from "../process-state.ts";
import type { System } from "../system.ts";
import type { Tenant } from "../tenant.ts";

const POSTS = 20;
/**
 * The first date to which a post is rescheduled, and the step to its next date. All dates differ, so each request changes the
 * post.
 */
const FIRST_MS = 10 * 86_400_000;
const STEP_MS = 1_000;

const MAX_IN_FLIGHT = 100;

/** Creates scheduled posts, each of which causes an event when it is rescheduled. Returns their ids. */
export async function schedulePosts(tenant: Tenant, accountId: string): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let index = 0; index < POSTS; index += 1) {
    const scheduledAt = new Date(Date.now() + FIRST_MS).toISOString();
    const body = { content: `post ${index}`, accountIds: [accountId], scheduledAt };
    ids.push((await create(tenant.api, body)).id);
  }
  return ids;
}

/**
 * Reschedules posts for `seconds` at a constant rate, or as fast as a loaded machine can, with at most `MAX_IN_FLIGHT` open
 * requests. Returns how many changes were accepted. A change fails when its request reaches a process that is being killed.
 */
export async function reschedule(
  { api }: Tenant,
  postIds: readonly string[],
  { seconds, perSecond }: { readonly seconds: number; readonly perSecond: number },
): Promise<number> {
  const startedAt = Date.now();
  const running = new Set<Promise<void>>();
  let accepted = 0;
  for (let index = 0; Date.now() < startedAt + seconds * 1_000; index += 1) {
    await sleep(Math.max(0, startedAt + (index * 1_000) / perSecond - Date.now()));
    if (running.size >= MAX_IN_FLIGHT) continue;
    const scheduledAt = new Date(startedAt + FIRST_MS + (index + 1) * STEP_MS).toISOString();
    const path = `/posts/${postIds[index % postIds.length]}`;
    const run: Promise<void> = api
      .call("PATCH", path, { body: { scheduledAt }, timeoutMs: 10_000 })
      .then(({ status }) => {
        if (status === 200) accepted += 1;
      })
      .catch(() => undefined)
      .then(() => void running.delete(run));
    running.add(run);
  }
  await Promise.all(running);
  return accepted;
}

/** How a process is killed: when it reaches a failpoint of webhooks, or at any moment. */
type Kill = { readonly at: string } | { readonly service: ServiceName; readonly replica: number };

/** The kills that a test repeats in this order, most of them of the delivery service. */
const KILLS: readonly Kill[] = [
  { service: "delivery", replica: 0 },
  { at: "delivery.after-webhook-sent" },
  { service: "posts", replica: 0 },
  { at: "delivery.in-webhook-composition" },
  { service: "delivery", replica: 1 },
  { at: "delivery.in-webhook-consumer" },
  { service: "gateway", replica: 0 },
  { at: "delivery.after-webhook-claim" },
  { at: "delivery.webhook-payloads-rendered" },
  { service: "accounts", replica: 1 },
];

/** Kills the process, unless it is just starting again, and returns whether it may have been sending webhooks. */
function order(system: System, kill: Kill): boolean {
  if ("at" in kill) {
    system.armFailpoint(kill.at, "kill");
    return true;
  }
  const pid = system.pids(kill.service)[kill.replica];
  if (pid === undefined || !isAlive(pid)) return false;
  process.kill(pid, "SIGKILL");
  return kill.service === "delivery";
}

/** Kills one process after another at constant intervals. Returns how many of them may have been sending webhooks. */
export async function killRepeatedly(
  system: System,
  { seconds, everySeconds }: { readonly seconds: number; readonly everySeconds: number },
): Promise<number> {
  let sending = 0;
  for (let index = 0; (index + 1) * everySeconds <= seconds; index += 1) {
    await sleep(everySeconds * 1_000);
    const kill = KILLS[index % KILLS.length];
    if (kill !== undefined && order(system, kill)) sending += 1;
  }
  return sending;
}
