import { sampleJpeg, sampleMp4 } from "@postrider/local/sample-media";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, expect, test } from "vitest";
import { upload, type File } from "./support/media.ts";
import { create, whenTargets } from "./support/posts.ts";
import { startSystem, type System } from "./support/system.ts";
import { openTenant, type Tenant } from "./support/tenant.ts";

const IMAGE: File = { fileName: "one.jpg", contentType: "image/jpeg", bytes: sampleJpeg() };
const OTHER: File = {
  fileName: "two.jpg",
  contentType: "image/jpeg",
  bytes: sampleJpeg({ width: 700, height: 600 }),
};
const FILM: File = {
  fileName: "film.mp4",
  contentType: "video/mp4",
  // Two chunks.
  bytes: sampleMp4({ seconds: 4, width: 368, height: 640 }),
};

let system: System;
let tenant: Tenant;

beforeAll(async () => {
  system = await startSystem("postgres");
  tenant = await openTenant(system);
});
afterAll(() => system[Symbol.asyncDispose]());

test.each([
  ["a film that is pushed", [FILM], "video"],
  ["photos that TikTok fetches", [IMAGE, OTHER], "photo"],
])("%s is published as it is, and shows its permalink when TikTok gives it", async (...given) => {
  const [content, files, kind] = given;
  const account = await tenant.connect("tiktok");
  const media = [];
  for (const file of files) media.push(await upload(tenant.api, file));
  const post = await create(tenant.api, {
    content,
    accountIds: [account],
    mediaIds: media.map(({ id }) => id),
    options: { tiktok: { privacy: "public" } },
  });
  await whenTargets(tenant.api, post.id, "published");
  const [entry, ...others] = (await system.simulator.visible("tiktok")).filter(
    ({ text }) => text === content,
  );
  expect(others).toEqual([]);
  expect(entry).toMatchObject({ media: media.map(({ sha256 }) => ({ sha256 })) });
  const target = await eventually(async () => {
    const [found] = (await tenant.api.getPost(post.id)).targets;
    return found !== undefined && found.externalId !== null && found;
  });
  expect(target).toMatchObject({
    status: "published",
    externalId: entry?.id,
    permalink: expect.stringMatching(
      new RegExp(`^https://www\\.tiktok\\.com/@[^/]+/${kind}/${entry?.id}$`),
    ) as string,
  });
});

test("a post that only its author sees is published without an id", async () => {
  const account = await tenant.connect("tiktok");
  const { id: mediaId } = await upload(tenant.api, FILM);
  const post = await create(tenant.api, {
    content: "To myself",
    accountIds: [account],
    mediaIds: [mediaId],
    options: { tiktok: { privacy: "private" } },
  });
  const { targets } = await whenTargets(tenant.api, post.id, "published");
  expect(targets).toMatchObject([{ externalId: null, permalink: null, error: null }]);
  const visible = await system.simulator.visible("tiktok");
  expect(visible.filter(({ text }) => text === "To myself")).toEqual([]);
});
