import { eventually } from "@postrider/shared/testing/poll";
import { expect } from "vitest";
import type { Answer, Api } from "../requests/api.ts";
import {
  create,
  HOUR_MS,
  inMs,
  whenPost,
  whenTargets,
  type PostDetail,
} from "../requests/posts.ts";
import type { System } from "./system.ts";

/**
 * Maximum time for every post to reach its final status. It is longer than any lease, transaction
 * or call of a suspended process lasts.
 */
const SETTLE_MS = 120_000;

/** Maximum wait for the answer to a request, in milliseconds, before the request is repeated. */
const REQUEST_TIMEOUT_MS = 2000;

/** Posts that are scheduled, edited, retried and deleted at the same moment. */
export interface MixedPosts {
  /**
   * Sends all requests that schedule, edit, retry or delete the posts, and repeats each request
   * until it is answered.
   */
  command(): Promise<void>;
  /**
   * Waits until each post has the final status that its request (schedule, edit, retry or delete)
   * leads to.
   */
  settle(): Promise<void>;
  /**
   * Checks that each post that must be published is visible on the platform once with its last
   * text, and that no other post is visible.
   */
  expectOnce(): Promise<void>;
}

/**
 * Prepares `count` posts to schedule, `count` to edit, `count` to retry and `count` to delete, on
 * `count` new accounts.
 */
export async function prepareMixedPosts(
  system: System,
  label: string,
  count: number,
): Promise<MixedPosts> {
  const { simulator } = system;
  // A request may reach a suspended process, so each request has a time limit, after which it is
  // repeated.
  const api: Api = {
    ...system.api,
    call: (method, path, options) =>
      system.api.call(method, path, { ...options, timeoutMs: REQUEST_TIMEOUT_MS }),
  };
  const accounts = await system.connect("bluesky", count);

  /** Repeats an idempotent request until a running process answers it. */
  const persist = async <T>(
    method: string,
    path: string,
    bodyOf?: () => unknown,
  ): Promise<Answer<T>> =>
    await eventually(
      async () => {
        const options = bodyOf === undefined ? {} : { body: bodyOf() };
        const answer = await api.call<T>(method, path, options);
        return answer.status < 500 && answer;
      },
      { timeoutMs: SETTLE_MS },
    );
  const prepare = async (name: string, body: object, status: string): Promise<PostDetail[]> => {
    const made = await Promise.all(
      accounts.map((account, index) =>
        create(system.api, {
          content: `${label} ${name} ${index}`,
          accountIds: [account],
          ...body,
        }),
      ),
    );
    return await Promise.all(made.map(({ id }) => whenPost(api, id, status)));
  };

  const refuse = { platform: "bluesky", operation: "publish", mode: "refuse", times: count };
  await simulator.addFault(refuse);
  const retried = await prepare("retried", {}, "failed");
  const deleted = await prepare("deleted", {}, "published");
  const edited = await prepare("before", { scheduledAt: inMs(HOUR_MS) }, "scheduled");
  const dropped = await prepare("dropped", { scheduledAt: inMs(HOUR_MS) }, "scheduled");
  const scheduled = await prepare("scheduled", { scheduledAt: inMs(2000) }, "scheduled");
  const texts = edited.map((_, index) => `${label} after ${index}`);

  return {
    command: async () => {
      await Promise.all([
        ...edited.map(({ id }, index) =>
          persist("PATCH", `/posts/${id}`, () => ({
            content: texts[index],
            scheduledAt: inMs(1000),
          })),
        ),
        ...retried.map(({ id }) => persist("POST", `/posts/${id}/retry`)),
        ...deleted.map(({ id }) => persist("DELETE", `/posts/${id}`)),
        ...dropped.map(({ id }) => persist("DELETE", `/posts/${id}`)),
      ]);
    },
    settle: async () => {
      for (const { id } of [...scheduled, ...edited, ...retried])
        await whenPost(api, id, "published", SETTLE_MS);
      for (const { id } of deleted) await whenTargets(api, id, "deleted", SETTLE_MS);
      for (const { id } of dropped) expect((await persist("GET", `/posts/${id}`)).status).toBe(404);
    },
    expectOnce: async () => {
      const visible = (await simulator.visible("bluesky"))
        .map(({ text }) => text)
        .filter((text) => text.startsWith(`${label} `));
      const expected = [...scheduled, ...retried].map(({ content }) => content);
      expect(visible.toSorted()).toEqual([...expected, ...texts].toSorted());
    },
  };
}
