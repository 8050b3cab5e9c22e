import { setTimeout } from "node:timers/promises";
import { newId } from "@postrider/shared/ids";
import { afterAll, beforeEach, expect, test } from "vitest";
import { SESSION_HEADERS } from "./dashboard-fixture.ts";
import {
  createTestServer,
  postOf,
  POST_ID,
  POST_RECORD,
  WORKSPACE_ID,
  admitted,
} from "./fixture.ts";

/** The workspaces whose posts are being read. */
const reading: string[] = [];
let released = Promise.withResolvers<void>();
let workspaceId = WORKSPACE_ID;
beforeEach(() => {
  reading.length = 0;
  released = Promise.withResolvers<void>();
  workspaceId = WORKSPACE_ID;
});
const app = await createTestServer(
  {
    posts: {
      batchGetPosts: async ({ refs }) => {
        reading.push(refs[0]?.workspaceId ?? "");
        await released.promise;
        return {
          posts: refs.map((ref) => ({ ...postOf(POST_RECORD), workspaceId: ref.workspaceId })),
        };
      },
    },
    metrics: { listMetricsHistory: () => ({ json: '{"targets":[]}' }) },
  },
  () => admitted({ keyId: undefined, sessionId: newId(), workspaceId }),
);
afterAll(() => app.close());

const send = (path: string) =>
  app.inject({ url: `/app/api/posts/${path}`, headers: SESSION_HEADERS });
const ask = () => send(`words?ids=${POST_ID}`);

test("the words of a workspace's posts are read for one request at a time, and those of another workspace at once", async () => {
  const first = [ask(), ask(), ask()];
  await expect.poll(() => reading).toEqual([WORKSPACE_ID]);
  workspaceId = newId();
  const other = ask();
  await expect.poll(() => reading).toEqual([WORKSPACE_ID, workspaceId]);

  released.resolve();
  const answers = await Promise.all([...first, other]);
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
});

test("one post is read for the dashboard with at most four calls of a workspace at a time, whatever asks", async () => {
  const paths = [`${POST_ID}/targets`, `${POST_ID}/metrics/history`];
  const answers = [];
  for (let at = 0; at < 12; at += 1) {
    answers.push(send(paths[at % 2] ?? ""));
    await setTimeout(5);
  }
  await expect.poll(() => reading.length).toBe(4);
  workspaceId = newId();
  answers.push(send(paths[0] ?? ""));
  await expect.poll(() => reading).toEqual([...Array(4).fill(WORKSPACE_ID), workspaceId]);

  released.resolve();
  const codes = (await Promise.all(answers)).map(({ statusCode }) => statusCode);
  expect(new Set(codes)).toEqual(new Set([200]));
  expect(reading.length).toBeLessThan(10);
});
