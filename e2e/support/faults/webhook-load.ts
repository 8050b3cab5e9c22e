import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceName } from "@postrider/local/stack/services";
import { eventually } from "@postrider/shared/testing/poll";
import { create } from "../requests/posts.ts";
import type { Tenant } from "../requests/tenant.ts";
import { areReady } from "../system/rolling.ts";
import type { BusKind, System } from "../system/system.ts";
import { repeatDuring } from "./repeat-during.ts";

const POSTS = 10;
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

/** How many requests to reschedule a post were sent, and how many of them were accepted. */
interface Changes {
  readonly sent: number;
  readonly accepted: number;
}

/**
 * Reschedules posts at a constant rate, or as fast as a loaded machine can, with at most `MAX_IN_FLIGHT` open requests, until
 * `work` has ended. A change fails when its request reaches a process that is being killed.
 */
export async function rescheduleDuring(
  work: Promise<unknown>,
  { api }: Tenant,
  postIds: readonly string[],
  perSecond: number,
): Promise<Changes> {
  const startedAt = Date.now();
  const running = new Set<Promise<void>>();
  const changes = { sent: 0, accepted: 0 };
  await repeatDuring(work, async (index) => {
    await sleep(Math.max(0, startedAt + (index * 1_000) / perSecond - Date.now()));
    if (running.size >= MAX_IN_FLIGHT) return;
    const scheduledAt = new Date(startedAt + FIRST_MS + (index + 1) * STEP_MS).toISOString();
    const path = `/posts/${postIds[index % postIds.length]}`;
    changes.sent += 1;
    const run: Promise<void> = api
      .call("PATCH", path, { body: { scheduledAt }, timeoutMs: 10_000 })
      .then(({ status }) => {
        if (status === 200) changes.accepted += 1;
      })
      .catch(() => undefined)
      .then(() => void running.delete(run));
    running.add(run);
  });
  await Promise.all(running);
  return changes;
}

/** How a process is killed: when it reaches a failpoint of webhooks, or at any moment. */
type Kill = { readonly at: string } | { readonly service: ServiceName; readonly replica: number };

/** Kills of processes that read events from the message bus or write events to it. */
const BUS_KILLS: readonly Kill[] = [
  { service: "delivery", replica: 0 },
  { at: "delivery.in-webhook-consumer" },
  { service: "posts", replica: 0 },
];

/**
 * Kills of the delivery service after it has read an event from the message bus, when it makes no difference which bus is
 * used.
 */
const SENDING_KILLS: readonly Kill[] = [
  { at: "delivery.after-webhook-sent" },
  { at: "delivery.in-webhook-composition" },
  { service: "delivery", replica: 1 },
  { at: "delivery.after-webhook-claim" },
  { at: "delivery.webhook-payloads-rendered" },
];

/** For each message bus, the kills that a test makes, in this order. */
export const KILLS: Readonly<Record<BusKind, readonly Kill[]>> = {
  postgres: [...BUS_KILLS, ...SENDING_KILLS],
  kafka: BUS_KILLS,
};

/** The kills that a long test repeats, on either message bus. */
export const ALL_KILLS: readonly Kill[] = [
  ...KILLS.postgres,
  { service: "gateway", replica: 0 },
  { service: "accounts", replica: 1 },
];

/** Maximum time until a failpoint is reached (the lease of a subscription) and the killed process is replaced. */
const REPLACED_MS = 90_000;

/** Kills a process, waits until the process that replaces it is ready, and returns the service. */
async function killOne(system: System, kill: Kill): Promise<ServiceName> {
  const service = "at" in kill ? "delivery" : kill.service;
  const before = system.pids(service);
  if ("at" in kill) system.armFailpoint(kill.at, "kill");
  else process.kill(before[kill.replica] ?? 0, "SIGKILL");
  const isReplaced = () => system.pids(service).some((pid) => !before.includes(pid));
  await eventually(async () => isReplaced() && (await areReady(system, [service])), {
    timeoutMs: REPLACED_MS,
  });
  return service;
}

/**
 * Makes the kills one after the other. Each kill waits until the process that was killed before is replaced, and then
 * `pauseMs`. Repeats the kills until `seconds` have passed. Returns how many of the killed processes may have been sending
 * webhooks.
 */
export async function killOneByOne(
  system: System,
  kills: readonly Kill[],
  { seconds, pauseMs }: { readonly seconds: number; readonly pauseMs: number },
): Promise<number> {
  const endsAt = performance.now() + seconds * 1_000;
  let sending = 0;
  for (let index = 0; index < kills.length || performance.now() < endsAt; index += 1) {
    await sleep(pauseMs);
    const kill = kills[index % kills.length];
    if (kill !== undefined && (await killOne(system, kill)) === "delivery") sending += 1;
  }
  return sending;
}
