import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Answer } from "./support/api.ts";
import { create, HOUR_MS, inMs, whenPost, whenTargets, type PostDetail } from "./support/posts.ts";
import { startSystem, type System } from "./support/system.ts";

const EACH = 5;

let system: System;
let accounts: readonly string[];

beforeAll(async () => {
  system = await startSystem("postgres");
  accounts = await system.connect("bluesky", EACH);
});
afterAll(() => system[Symbol.asyncDispose]());

/** Sends a request that may be repeated until it is answered by something other than a process that is down. */
async function persist<T>(method: string, path: string, body?: unknown): Promise<Answer<T>> {
  return await eventually(
    async () => {
      const answer = await system.api.call<T>(method, path, body === undefined ? {} : { body });
      return answer.status < 500 && answer;
    },
    { timeoutMs: 20_000 },
  );
}

/** One post on each account, all in the state that `body` and `status` say. */
async function prepare(
  label: string,
  body: object,
  status: string,
): Promise<readonly PostDetail[]> {
  const made = await Promise.all(
    accounts.map((account, index) =>
      create(system.api, { content: `${label} ${index}`, accountIds: [account], ...body }),
    ),
  );
  return await Promise.all(made.map(({ id }) => whenPost(system.api, id, status)));
}

const servicePids = () => [...system.pids("posts"), ...system.pids("delivery")];

test.each([
  "posts.in-scheduler",
  "posts.scheduler-committed",
  "relay.locked",
  "relay.published",
  "delivery.in-consumer",
  "posts.in-consumer",
])(
  "kill -9 at %s: what was scheduled, edited, retried and deleted ends as it was asked",
  async (point) => {
    const fault = { platform: "bluesky", operation: "publish", mode: "refuse", times: EACH };
    await system.simulator.addFault(fault);
    const retried = await prepare(`${point} retried`, {}, "failed");
    const deleted = await prepare(`${point} deleted`, {}, "published");
    const far = { scheduledAt: inMs(HOUR_MS) };
    const edited = await prepare(`${point} before`, far, "scheduled");
    const dropped = await prepare(`${point} dropped`, { scheduledAt: inMs(3000) }, "scheduled");
    const soon = inMs(1000);
    const scheduled = await prepare(`${point} scheduled`, { scheduledAt: soon }, "scheduled");
    await Promise.all(dropped.map(({ id }) => system.api.call("DELETE", `/posts/${id}`)));
    const pids = servicePids();
    system.armFailpoint(point, "kill");

    const texts = edited.map((_, index) => `${point} after ${index}`);
    await Promise.all([
      ...edited.map(({ id }, index) =>
        persist("PATCH", `/posts/${id}`, { content: texts[index], scheduledAt: soon }),
      ),
      ...retried.map(({ id }) => persist("POST", `/posts/${id}/retry`)),
      ...deleted.map(({ id }) => persist("DELETE", `/posts/${id}`)),
    ]);
    for (const { id } of [...scheduled, ...edited, ...retried])
      await whenPost(system.api, id, "published", 30_000);
    for (const { id } of deleted) await whenTargets(system.api, id, "deleted");
    for (const { id } of dropped) expect((await persist("GET", `/posts/${id}`)).status).toBe(404);
    expect(servicePids()).not.toEqual(pids);

    const visible = (await system.simulator.visible("bluesky"))
      .map(({ text }) => text)
      .filter((text) => text.startsWith(`${point} `));
    const expected = [...scheduled, ...retried].map(({ content }) => content);
    expect(visible.toSorted()).toEqual([...expected, ...texts].toSorted());
  },
);
