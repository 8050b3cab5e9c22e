import { sampleJpeg, sampleMp4 } from "@postrider/local/sample-media";
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
  bytes: sampleMp4({ seconds: 4 }),
};

let system: System;
let tenant: Tenant;

beforeAll(async () => {
  system = await startSystem("postgres");
  tenant = await openTenant(system);
});
afterAll(() => system[Symbol.asyncDispose]());

test.each([
  ["an image that Instagram fetches", [IMAGE], /\/p\//],
  ["a film that is pushed", [FILM], /\/reel\//],
  ["a carousel of both", [IMAGE, FILM, OTHER], /\/p\//],
])("%s is published as it is, with its permalink", async (name, files, permalink) => {
  const account = await tenant.connect("instagram");
  const media = [];
  for (const file of files) media.push(await upload(tenant.api, file));
  const mediaIds = media.map(({ id }) => id);
  const post = await create(tenant.api, { content: name, accountIds: [account], mediaIds });
  const { targets } = await whenTargets(tenant.api, post.id, "published");
  expect(targets).toMatchObject([{ permalink: expect.stringMatching(permalink) as string }]);
  const visible = await system.simulator.visible("instagram");
  expect(visible.filter(({ text }) => text === name)).toMatchObject([
    { media: media.map(({ sha256 }) => ({ sha256 })) },
  ]);
});
