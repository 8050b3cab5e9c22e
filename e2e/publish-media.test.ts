import { sampleMp4, samplePng } from "@postrider/local/sample-media";
import { afterAll, beforeAll, expect, test } from "vitest";
import { upload, type File } from "./support/media.ts";
import { create, whenTargets } from "./support/posts.ts";
import { startSystem, type System } from "./support/system.ts";
import { openTenant, type Tenant } from "./support/tenant.ts";

const PNG: File = { fileName: "picture.png", contentType: "image/png", bytes: samplePng() };
const FILM: File = { fileName: "film.mp4", contentType: "video/mp4", bytes: sampleMp4() };

let system: System;
let tenant: Tenant;

beforeAll(async () => {
  system = await startSystem("postgres");
  tenant = await openTenant(system);
});
afterAll(() => system[Symbol.asyncDispose]());

test.each([
  ["a picture", PNG, "image"],
  ["a film", FILM, "video"],
])("%s arrives on x byte for byte", async (name, file, kind) => {
  const account = await tenant.connect("x");
  const media = await upload(tenant.api, file);
  const content = `With ${name}`;
  const post = await create(tenant.api, { content, accountIds: [account], mediaIds: [media.id] });
  await whenTargets(tenant.api, post.id, "published");
  const visible = await system.simulator.visible("x");
  expect(visible.filter(({ text }) => text === content)).toMatchObject([
    { media: [{ kind, sha256: media.sha256 }] },
  ]);
});
