import { eventually } from "@postrider/shared/testing/poll";
import { describe, expect, test } from "vitest";
import { createConnectors } from "#src/platforms.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";
import type { DeletionOutcome, Outcome } from "#src/publishing/outcome.ts";
import type { Publication } from "#src/publishing/publication.ts";
import {
  CANNOT_TELL,
  INCOMPLETE_LOOK,
  LOOK_AGAIN,
  retryable,
  TOKEN_REFUSED,
  UNKNOWN,
} from "./results.ts";
import { guard, signal, startTestPlatform, type Visible } from "./test-platform.ts";
import { unknownCall } from "./unknown-call.ts";

const PLATFORMS = ["x", "telegram", "bluesky"] as const;
type Platform = (typeof PLATFORMS)[number];

const platforms = {
  x: await startTestPlatform("x"),
  telegram: await startTestPlatform("telegram"),
  bluesky: await startTestPlatform("bluesky"),
};

/** Creates the publishing connector of a platform whose API is at this URL. */
function connectorAt(platform: Platform, baseUrl: string): PublishingConnector {
  const at = { baseUrl };
  const graph = { ...at, uploadBaseUrl: baseUrl, version: "v25.0" };
  return createConnectors("publishing", {
    instagram: { ...graph, loginBaseUrl: baseUrl },
    x: { ...at, mayResend: true },
    facebook: graph,
    tiktok: at,
    youtube: at,
    telegram: at,
    bluesky: { ...at, videoBaseUrl: baseUrl },
  })[platform];
}

function connector(platform: Platform): PublishingConnector {
  return connectorAt(platform, platforms[platform].url);
}

function createPublication(platform: Platform, text: string): Promise<Publication> {
  return platforms[platform].createPublication([], text);
}

function publish(platform: Platform, publication: Publication): Promise<Outcome> {
  return platforms[platform].publish(connector(platform), publication);
}

function visible(platform: Platform): Promise<readonly Visible[]> {
  return platforms[platform].visible();
}

async function addFault(
  platform: Platform,
  mode: string,
  { operation = "publish", ...extra }: { operation?: string } & Record<string, unknown> = {},
): Promise<void> {
  await platforms[platform].addFault(operation, mode, extra);
}

describe.each(PLATFORMS)("publishing on %s", (platform) => {
  test(`the ${platform} connector publishes the text unchanged and returns the id and the permalink that readers see`, async () => {
    const publication = await createPublication(
      platform,
      "Hello 🎉 https://example.com/a?b=1 #tag & more",
    );
    const outcome = await publish(platform, publication);
    expect(outcome).toMatchObject({
      kind: "published",
      permalink: expect.stringMatching(/^https:\/\//) as string,
    });
    const [entry] = await visible(platform);
    expect(entry?.text).toBe(publication.text);
    expect(outcome).toMatchObject({ externalId: entry?.id });
  });

  test(`a refused connection to ${platform} is a retryable failure, because nothing was sent`, async () => {
    const unreachable = connectorAt(platform, "http://127.0.0.1:1");
    const publication = await createPublication(platform, "not sent");
    const outcome = await unreachable.publish(
      publication,
      { rkey: "3aaaaaaaaaaaa", record: "{}" },
      guard,
    );
    expect(outcome).toMatchObject(retryable("platform_unavailable"));
  });

  test.each(["drop_before", "drop_after_commit", "garbage_body"])(
    `the outcome of a publishing call to ${platform} is unknown after the simulated fault %s`,
    async (mode) => {
      await addFault(platform, mode);
      expect(
        await publish(platform, await createPublication(platform, `fault ${mode}`)),
      ).toMatchObject(UNKNOWN);
    },
  );

  test.each([500, 502])(
    `the outcome of a publishing call to ${platform} is unknown after HTTP %i from a proxy`,
    async (status) => {
      await addFault(platform, "status_after_commit", { status });
      expect(
        await publish(platform, await createPublication(platform, `status ${status}`)),
      ).toMatchObject(UNKNOWN);
    },
  );

  test(`a post that ${platform} definitely refuses fails with the message of ${platform}`, async () => {
    await addFault(platform, "refuse");
    const outcome = await publish(platform, await createPublication(platform, "refuse me"));
    expect(outcome).toMatchObject({
      kind: "refused",
      message: expect.stringMatching(/\S/) as string,
    });
    expect(await visible(platform)).toEqual([]);
  });

  test(`an access token that ${platform} refuses is reported as token_refused`, async () => {
    const publication = await createPublication(platform, "dead token");
    const outcome = await publish(platform, { ...publication, accessToken: "123:wrong" });
    expect(outcome).toMatchObject(TOKEN_REFUSED);
  });

  test(`the ${platform} connector sends no publishing call when too much time has passed since the intent to publish was recorded`, async () => {
    const of = connector(platform);
    const publication = await createPublication(platform, "too late");
    const { handles } = await platforms[platform].prepare(of, publication);
    expect(await of.publish(publication, handles, { ...guard, mayStillSend: () => false })).toEqual(
      { kind: "not_sent" },
    );
    expect(await visible(platform)).toEqual([]);
  });
});

describe("an unknown outcome on X", () => {
  const text = "Is it there? https://Example.com/Path/ & <more>";

  test("the X connector takes a matching post in the timeline as the published post", async () => {
    await addFault("x", "drop_after_commit");
    const publication = await createPublication("x", text);
    await publish("x", publication);
    const [entry] = await visible("x");
    expect(await connector("x").reconcile(publication, {}, unknownCall(), signal)).toMatchObject({
      kind: "present",
      externalId: entry?.id,
    });
  });

  test("the X connector ignores a matching post that belongs to another Postrider post", async () => {
    const publication = await createPublication("x", text);
    const earlier = await publish("x", publication);
    const owned = new Set(
      earlier.kind === "published" && earlier.externalId !== null ? [earlier.externalId] : [],
    );
    const verdict = await connector("x").reconcile(
      publication,
      {},
      unknownCall({ isOwned: () => Promise.resolve(owned) }),
      signal,
    );
    expect(verdict).toMatchObject(LOOK_AGAIN);
  });

  test("the X connector reports a post as absent only after complete timeline reads at all three scheduled times", async () => {
    const publication = await createPublication("x", text);
    const callUntil = new Date(Date.now() - 60_000);
    const look = (looks: number, now: Date) =>
      connector("x").reconcile(publication, {}, unknownCall({ looks, now, callUntil }), signal);
    const late = new Date(callUntil.getTime() + 1000);
    expect(await look(0, callUntil)).toMatchObject({ kind: "look_again", afterMs: 60 });
    expect(await look(1, late)).toMatchObject(LOOK_AGAIN);
    expect(await look(2, late)).toMatchObject(LOOK_AGAIN);
    expect(await look(3, new Date(callUntil.getTime() + 500))).toMatchObject(LOOK_AGAIN);
    expect(await look(3, late)).toEqual({ kind: "absent" });
  });

  test("the X connector reports that it cannot tell the outcome when a post on X has the same text but other links", async () => {
    const publication = await createPublication("x", "Look at https://example.com/one");
    await publish("x", publication);
    const other = { ...publication, text: "Look at https://example.com/two" };
    expect(await connector("x").reconcile(other, {}, unknownCall(), signal)).toMatchObject(
      CANNOT_TELL,
    );
  });

  test("an unreadable timeline of X leaves the outcome of the publishing call unknown", async () => {
    const publication = await createPublication("x", text);
    await addFault("x", "status", { operation: "GET /2/users/*/tweets", status: 503 });
    const verdict = await connector("x").reconcile(
      publication,
      {},
      unknownCall({ looks: 3 }),
      signal,
    );
    expect(verdict).toMatchObject(INCOMPLETE_LOOK);
  });

  test("a rate limit of X leaves the outcome of a publishing call unknown, and the outcome says how long to wait", async () => {
    await addFault("x", "status", { status: 429 });
    const outcome = await publish("x", await createPublication("x", "limited"));
    expect(outcome).toMatchObject({ kind: "unknown", limitedForMs: expect.any(Number) as number });
  });
});

test("the Bluesky connector resolves the unknown outcome of a publishing call by reading the record or writing it again", async () => {
  const of = connector("bluesky");
  const publication = await createPublication("bluesky", "once and only once");
  const { handles } = await platforms.bluesky.prepare(of, publication);
  await addFault("bluesky", "drop_after_commit");
  expect(await of.publish(publication, handles, guard)).toMatchObject(UNKNOWN);
  expect(await of.reconcile(publication, handles, unknownCall(), signal)).toMatchObject({
    kind: "present",
    externalId: handles.rkey,
  });
  const unwritten = { ...handles, rkey: "3aaaaaaaaaaaa" };
  expect(await of.reconcile(publication, unwritten, unknownCall(), signal)).toEqual({
    kind: "absent",
  });
  await addFault("bluesky", "status", {
    operation: "GET /xrpc/com.atproto.repo.getRecord",
    status: 503,
  });
  expect(await of.reconcile(publication, handles, unknownCall(), signal)).toEqual({
    kind: "repeat",
  });
  expect(await of.publish(publication, handles, guard)).toMatchObject({
    kind: "published",
    externalId: handles.rkey,
  });
  expect(await visible("bluesky")).toHaveLength(1);
});

test("the Telegram connector reports that it cannot resolve the unknown outcome of a publishing call", async () => {
  const publication = await createPublication("telegram", "gone");
  expect(
    await connector("telegram").reconcile(publication, {}, unknownCall(), signal),
  ).toMatchObject(CANNOT_TELL);
});

test("a rate limit of Telegram delays the post for the stated time and does not use an attempt", async () => {
  await addFault("telegram", "status", { status: 429 });
  const outcome = await publish("telegram", await createPublication("telegram", "slow down"));
  expect(outcome).toMatchObject({
    kind: "retryable",
    code: "rate_limited",
    isLimit: true,
    retryAfterMs: expect.any(Number) as number,
  });
});

async function remove(
  platform: Platform,
  publication: Publication,
  externalId: string,
): Promise<DeletionOutcome> {
  return await connector(platform).delete(publication, externalId, signal);
}

async function publishOne(platform: Platform) {
  const publication = await createPublication(platform, "to be deleted");
  const outcome = await publish(platform, publication);
  if (outcome.kind !== "published" || outcome.externalId === null) throw new Error("not published");
  return { publication, externalId: outcome.externalId };
}

describe.each(PLATFORMS)("deleting on %s", (platform) => {
  test(`the ${platform} connector deletes a post, and reports the same outcome when the post is already gone`, async () => {
    const { publication, externalId } = await publishOne(platform);
    expect(connector(platform).canDelete).toBe(true);
    expect(await remove(platform, publication, externalId)).toEqual({ kind: "deleted" });
    expect(await visible(platform)).toEqual([]);
    expect(await remove(platform, publication, externalId)).toEqual({ kind: "deleted" });
  });

  test.each([
    ["drop_before", undefined],
    ["drop_after_commit", undefined],
    ["garbage_body", undefined],
    ["status_after_commit", 502],
    ["status", 500],
    ["status", 503],
  ])(
    `the outcome of a deletion on ${platform} is unknown after the simulated fault %s, and the next attempt completes the deletion`,
    async (mode, status) => {
      const { publication, externalId } = await publishOne(platform);
      await addFault(platform, mode, {
        operation: "delete",
        times: 1,
        ...(status === undefined ? {} : { status }),
      });
      expect(await remove(platform, publication, externalId)).toMatchObject(UNKNOWN);
      expect(await remove(platform, publication, externalId)).toEqual({ kind: "deleted" });
      expect(await visible(platform)).toEqual([]);
    },
  );

  test(`a deletion that ${platform} refuses fails with the message of ${platform} and leaves the post published`, async () => {
    const { publication, externalId } = await publishOne(platform);
    await addFault(platform, "refuse", { operation: "delete" });
    expect(await remove(platform, publication, externalId)).toMatchObject({
      kind: "refused",
      message: expect.stringMatching(/\S/) as string,
    });
    expect(await visible(platform)).toHaveLength(1);
  });

  test(`a deletion of a post on ${platform} that meets a rate limit waits and is repeated`, async () => {
    const { publication, externalId } = await publishOne(platform);
    await addFault(platform, "status", { operation: "delete", status: 429 });
    expect(await remove(platform, publication, externalId)).toMatchObject({
      kind: "retryable",
      code: "rate_limited",
      isLimit: true,
      retryAfterMs: expect.any(Number) as number,
    });
  });

  test(`a deletion on ${platform} with an invalid access token is reported as token_refused`, async () => {
    const { publication, externalId } = await publishOne(platform);
    const dead = { ...publication, accessToken: "123:wrong" };
    expect(await remove(platform, dead, externalId)).toMatchObject(TOKEN_REFUSED);
  });

  test(`an account on ${platform} cannot delete a post of another account`, async () => {
    const { externalId } = await publishOne(platform);
    const other = await createPublication(platform, "another account");
    await remove(platform, other, externalId);
    expect(await visible(platform)).toHaveLength(1);
  });
});

test("the Bluesky connector repeats a deletion when the deleted record can still be read afterwards", async () => {
  const { publication, externalId } = await publishOne("bluesky");
  await platforms.bluesky.control("POST", "faults", {
    platform: "bluesky",
    mode: "stale_reads",
    delayMs: 500,
  });
  const query = `repo=${publication.externalId}&collection=app.bsky.feed.post&rkey=${externalId}`;
  const url = `${platforms.bluesky.url}/xrpc/com.atproto.repo.getRecord?${query}`;
  await eventually(async () => (await fetch(url)).status === 200);
  expect(await remove("bluesky", publication, externalId)).toEqual({ kind: "deleted" });
  const calls = await platforms.bluesky.listRequests();
  expect(calls.filter(({ path }) => path.includes("deleteRecord"))).toHaveLength(2);
});
