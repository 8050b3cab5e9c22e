import { PLATFORM_IDS, type PlatformId } from "@postrider/platforms/platform-id";
import { newId } from "@postrider/shared/ids";
import { describe, expect, test } from "vitest";
import { DEPLOYMENT } from "./fixture.ts";
import { check, database, open, platformOf, useLiveChecks } from "./live-check-fixture.ts";

await useLiveChecks();

/** The steps of a live check that do not end with `ok`, by platform. */
const EXPECTED = {
  instagram: [],
  x: [],
  facebook: [],
  youtube: ["open its permalink: skipped"],
  bluesky: [],
  telegram: [
    "find it as after a lost answer: warning",
    "find it by its content: skipped",
    "find it no longer: skipped",
  ],
  tiktok: ["find it by its content: warning", "delete it: warning"],
} satisfies Record<PlatformId, readonly string[]>;

describe.each(PLATFORM_IDS)("the live check of an account of %s", (platform) => {
  test(`an operator's live check of ${platform} publishes at most one post and reports what it could not delete`, async () => {
    const state = await check(await open(platform));
    const steps = state.steps.map(({ name, status }) => `${name}: ${status}`);

    expect(steps.filter((step) => !step.endsWith(": ok"))).toEqual(EXPECTED[platform]);
    expect(steps[0]).toBe("prepare: ok");
    // TikTok never returns the id of a private video, so the last step reports the text to search
    // for.
    const isNamed = state.steps.at(-1)?.found.includes(state.text);
    expect(isNamed).toBe(platform === "tiktok");
    expect(state.externalId).toBeUndefined();
    expect(state.calledAt === undefined).toBe(platform === "facebook");
    expect(await platformOf(platform).visible()).toEqual([]);
  });
});

test("a live check reports the post that it cannot delete", async () => {
  const opened = await open("bluesky");
  await platformOf("bluesky").addFault("delete", "status", { status: 403, times: 5 });
  const state = await check(opened);

  const [post] = await platformOf("bluesky").visible();
  expect(state.steps.at(-1)).toMatchObject({ name: "delete it", status: "failed" });
  expect(state.externalId).toBe(post?.id);
  expect(state.permalink).toContain("https://bsky.app/");
});

test("a live check refuses a post that readers would see unless the operator allows it", async () => {
  await expect(check(await open("x"), { allowPublic: false })).rejects.toMatchObject({
    reason: "invalid_request",
    violations: [{ code: "public_post" }],
  });
  expect(await platformOf("x").listRequests()).toEqual([]);
});

test("a live check that needs a file refuses to start without one", async () => {
  const { client, ref } = await open("youtube");
  await expect(client.startLiveCheck(ref)).rejects.toMatchObject({
    violations: [{ code: "video_required" }],
  });
});

test.each(["platform", "account", "workspace"] as const)(
  "a live check is refused while publishing is paused for its %s",
  async (kind) => {
    const opened = await open("x");
    const key = { platform: "x", account: opened.ref.accountId, workspace: opened.ref.workspaceId };
    await database.sql`insert into pauses (kind, key) values (${kind}, ${key[kind]})`;
    try {
      await expect(check(opened)).rejects.toMatchObject({ reason: "publishing_paused" });
    } finally {
      await database.sql`delete from pauses`;
    }
    expect(await platformOf("x").listRequests()).toEqual([]);
  },
);

test("a live check is refused while the data belongs to another deployment", async () => {
  const opened = await open("x");
  await database.sql`update deployment set deployment_id = 'other'`;
  try {
    await expect(check(opened)).rejects.toMatchObject({ reason: "publishing_held" });
  } finally {
    await database.sql`update deployment set deployment_id = ${DEPLOYMENT}`;
  }
});

test("a live check deletes its post even if the process stops", async () => {
  const opening = Promise.withResolvers<void>();
  const { client, ref, liveChecks } = await open("bluesky", {
    openPermalink: async (_permalink, signal) => {
      opening.resolve();
      return await new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("the process stops")));
      });
    },
  });
  const { id } = await client.startLiveCheck({ ...ref, allowPublic: true });
  await opening.promise;
  const { externalId } = await client.getLiveCheck({ id });
  expect(await platformOf("bluesky").visible()).toMatchObject([{ id: externalId }]);
  await liveChecks[Symbol.asyncDispose]();

  const state = await client.getLiveCheck({ id });
  expect(state.endedAt).toBeDefined();
  expect(state.externalId).toBeUndefined();
  expect(await platformOf("bluesky").visible()).toEqual([]);
});

test("the check of an account reports the granted permissions and whether the platform accepts the token, or that the account is not found", async () => {
  const { client, ref } = await open("x");
  const { findings } = await client.diagnoseAccount(ref);
  expect(findings).toMatchObject([
    { name: "connection", status: "ok" },
    { name: "permissions", status: "ok", found: "the account may be used for publishing" },
    { status: "ok", found: expect.stringMatching(/^X accepts the token/) as string },
  ]);
  const other = { ...ref, accountId: newId() };
  await expect(client.diagnoseAccount(other)).rejects.toMatchObject({ reason: "not_found" });
});
