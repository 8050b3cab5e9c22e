import { afterAll, beforeAll, expect, test } from "vitest";
import { itemsOf, TestSimulator } from "#src/testing.ts";

let simulator: TestSimulator;

beforeAll(async () => {
  simulator = await TestSimulator.start();
});

afterAll(() => simulator[Symbol.asyncDispose]());

async function tokenWith(platform: string, permissions: readonly string[]): Promise<string> {
  const { accounts } = await simulator.control("/accounts", { platform, permissions });
  const [account] = itemsOf(accounts);
  return (account?.["credentials"] as Record<string, string> | undefined)?.["accessToken"] ?? "";
}

test.each([
  {
    call: "the comments of an Instagram post",
    platform: "instagram",
    permission: "instagram_manage_comments",
    path: "/instagram/v25.0/1/comments",
    refusal: {
      error: { code: 200, message: "(#200) Requires the instagram_manage_comments permission" },
    },
  },
  {
    call: "to answer a comment on Facebook",
    platform: "facebook",
    permission: "pages_manage_engagement",
    method: "POST",
    json: { message: "Thank you" },
    path: "/facebook/v25.0/1_1/comments",
    refusal: {
      error: { code: 200, message: "(#200) Requires the pages_manage_engagement permission" },
    },
  },
  {
    call: "to hide a reply on X",
    platform: "x",
    permission: "tweet.moderate.write",
    method: "PUT",
    json: { hidden: true },
    path: "/x/2/tweets/1/hidden",
    refusal: { type: "https://api.x.com/2/problems/not-authorized-for-resource" },
  },
  {
    call: "the comments of a YouTube video",
    platform: "youtube",
    permission: "https://www.googleapis.com/auth/youtube.force-ssl",
    path: "/youtube/youtube/v3/commentThreads?part=snippet&videoId=a",
    refusal: { error: { code: 403, errors: [{ reason: "insufficientPermissions" }] } },
  },
])(
  "a simulated platform refuses $call with the platform's own error when the token lacks the permission $permission",
  async ({ platform, permission, path, refusal, method = "GET", json }) => {
    const call = async (token: string) =>
      await simulator.call(method, path, json === undefined ? { token } : { token, json });
    const refused = await call(await tokenWith(platform, ["another"]));
    expect(refused.status).toBe(403);
    expect(refused.body).toMatchObject(refusal);
    const permitted = await call(await tokenWith(platform, [permission]));
    expect(permitted.body).not.toMatchObject(refusal);
  },
);
