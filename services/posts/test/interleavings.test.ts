import fc from "fast-check";
import { expect, test } from "vitest";
import { newWorkspace, startPostsForFile } from "./fixture.ts";

const posts = await startPostsForFile();

const ROUNDS = 250;
const AT_ONCE = 20;

/** Waits for a number of turns of the event loop. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    const { promise, resolve } = Promise.withResolvers<void>();
    setImmediate(resolve);
    await promise;
  }
}

test(`each of ${ROUNDS} random interleavings of CreatePost requests with one idempotency key creates one post`, async () => {
  const workspaceId = newWorkspace();
  posts.peers.limits.set(workspaceId, { monthlyQuota: ROUNDS });
  const delays = fc.sample(fc.array(fc.nat({ max: 12 }), { minLength: 2, maxLength: 4 }), {
    numRuns: ROUNDS,
    seed: 4,
  });
  const runRound = async (round: number, waits: readonly number[]): Promise<string[]> => {
    const request = {
      workspaceId,
      accountIds: [account],
      content: `post ${round}`,
      idempotency: { key: `key ${round}`, fingerprint: "same" },
    };
    const made = waits.map(async (wait) => {
      await turns(wait);
      return (await posts.createPost(request)).id;
    });
    return [...new Set(await Promise.all(made))];
  };
  const account = posts.peers.connectAccount(workspaceId, "x");

  const ids: string[][] = [];
  for (let first = 0; first < ROUNDS; first += AT_ONCE) {
    const batch = delays.slice(first, first + AT_ONCE);
    const rounds = batch.map((waits, index) => runRound(first + index, waits));
    ids.push(...(await Promise.all(rounds)));
  }

  expect(ids.every((round) => round.length === 1)).toBe(true);
  expect(new Set(ids.flat()).size).toBe(ROUNDS);
  const [stored] = await posts.sql<{ posts: number; events: number; reserved: number }[]>`
    select
      (select count(*) from posts where workspace_id = ${workspaceId}) as posts,
      (select count(*) from outbox) as events,
      (select reserved from quota_usage where subject = ${workspaceId}) as reserved`;
  expect(stored).toEqual({ posts: ROUNDS, events: ROUNDS, reserved: ROUNDS });
});
