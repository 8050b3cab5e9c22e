import { expect, test } from "vitest";
import { createTiktokPublishingConnector } from "#src/tiktok/publishing/connector.ts";
import { createYoutubePublishingConnector } from "#src/youtube/publishing/connector.ts";
import { instagramAt } from "./instagram/instagram-at.ts";
import { startJsonServer } from "./json-server.ts";
import { PUBLICATION } from "./publication.ts";
import { mp4Media, pngMedia } from "./test-media.ts";
import { signal } from "./test-platform.ts";
import { unknownCall } from "./unknown-call.ts";

/**
 * Answers of platforms that list one post whose time has a form that the connectors do not know.
 */
const ANSWERS: readonly (readonly [string, unknown])[] = [
  [
    "/me/media",
    { data: [{ id: "7", caption: "hello", media_type: "IMAGE", timestamp: "yesterday" }] },
  ],
  [
    "video/list/",
    {
      data: { videos: [{ id: "7", title: "hello", share_url: "https://t/photo/7" }] },
      error: { code: "ok" },
    },
  ],
  ["/channels", { items: [{ contentDetails: { relatedPlaylists: { uploads: "list" } } }] }],
  [
    "/playlistItems",
    {
      items: [
        {
          snippet: { title: "hello", publishedAt: "yesterday" },
          contentDetails: { videoId: "7" },
        },
      ],
    },
  ],
];

const baseUrl = await startJsonServer(({ url }) => {
  const [, body] = ANSWERS.find(([path]) => url?.includes(path) === true) ?? [];
  return body === undefined ? { status: 404, body: {} } : { body };
});
const connectors = {
  instagram: instagramAt(baseUrl),
  tiktok: createTiktokPublishingConnector({ baseUrl }),
  youtube: createYoutubePublishingConnector({ baseUrl }),
};

const POST = { ...PUBLICATION, privacy: "public", media: [pngMedia(1)] } as const;
const VIDEO = { text: "", title: "hello", media: [mp4Media(1000)] };

test.each(["instagram", "tiktok", "youtube"] as const)(
  "the %s connector's search for a published post accepts a matching post whose publication time is unreadable",
  async (name) => {
    const publication = name === "youtube" ? { ...POST, ...VIDEO } : POST;
    const find = connectors[name].findMatchingPost;
    expect(await find?.(publication, {}, unknownCall({ looks: 3 }), signal)).toMatchObject({
      kind: "present",
      externalId: "7",
    });
  },
);
