import { newId } from "@postrider/shared/ids";
import { afterAll, expect, test } from "vitest";
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
const released = Promise.withResolvers<void>();
let workspaceId = WORKSPACE_ID;
const app = await createTestServer(
  {
    posts: {
      batchGetPosts: async ({ refs }) => {
        reading.push(refs[0]?.workspaceId ?? "");
        await released.promise;
        return { posts: [postOf(POST_RECORD)] };
      },
    },
  },
  () => admitted({ keyId: undefined, sessionId: newId(), workspaceId }),
);
afterAll(() => app.close());

const ask = () =>
  app.inject({ url: `/app/api/posts/words?ids=${POST_ID}`, headers: SESSION_HEADERS });

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
