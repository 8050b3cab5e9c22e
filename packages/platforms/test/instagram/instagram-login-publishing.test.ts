import { expect, test } from "vitest";
import type { Publication } from "#src/publishing/publication.ts";
import { jpegMedia, startMediaServer } from "../media-server.ts";
import { refused, TOKEN_REFUSED } from "../results.ts";
import { mp4Media, type TestMedia } from "../test-media.ts";
import { signal, startTestPlatform } from "../test-platform.ts";
import { instagramAt } from "./instagram-at.ts";

const platform = await startTestPlatform("instagram");
const files = await startMediaServer();
const instagram = instagramAt(platform.url);

/**
 * Creates a publication of an account that was connected with Instagram Login or with Facebook
 * Login.
 */
async function createPublication(media: readonly TestMedia[], login = "instagram") {
  const publication: Publication = await platform.createPublication(
    media.map((one) => files.serve(one)),
    "Ships & sails",
    ({ instagramAccessToken }) => instagramAccessToken ?? "",
  );
  return { ...publication, attributes: { login } };
}

const VIDEO = mp4Media(300_000);

test.each([
  ["an image", [jpegMedia(1)]],
  ["a video", [VIDEO]],
  ["a carousel", [jpegMedia(1), VIDEO, jpegMedia(2)]],
])(
  "the Instagram connector publishes %s on the API host of Instagram Login and reads its permalink there",
  async (_, media) => {
    const publication = await createPublication(media);
    const outcome = await platform.publish(instagram, publication);
    expect(outcome).toMatchObject({
      kind: "published",
      permalink: expect.stringMatching(/^https:\/\/www\.instagram\.com\//) as string,
    });
    expect(await platform.visible()).toMatchObject([
      { media: media.map(({ kind, sha256 }) => ({ kind, sha256 })), createCalls: 1 },
    ]);
  },
);

test("a token of Instagram Login is refused by the API host of Facebook Login", async () => {
  const publication = await createPublication([jpegMedia(3)], "facebook");
  expect(await platform.publish(instagram, publication)).toMatchObject(TOKEN_REFUSED);
  expect(await platform.visible()).toEqual([]);
});

test("the Instagram connector refuses to delete a post of an account that was connected with Instagram Login, without calling Instagram", async () => {
  const publication = await createPublication([jpegMedia(4)]);
  const outcome = await platform.publish(instagram, publication);
  const calls = (await platform.calls()).length;
  const id = (outcome.kind === "published" ? outcome.externalId : undefined) ?? "";
  expect(await instagram.delete(publication, id, signal)).toMatchObject(
    refused("permission_missing"),
  );
  expect(await platform.calls()).toHaveLength(calls);
  expect(await platform.visible()).toHaveLength(1);
});
