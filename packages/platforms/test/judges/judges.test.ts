import { describe, expect, test } from "vitest";
import type { PlatformId } from "#src/platform-id.ts";
import { judgeRequests } from "./judge-requests.ts";
import { FILE, type RecordedRequest } from "./recorded-request.ts";

type Query = RecordedRequest["query"];

const json = (method: string, path: string, body: unknown): RecordedRequest => ({
  method,
  path,
  query: [],
  body,
  isForm: false,
});
const form = (path: string, body: Readonly<Record<string, string>>): RecordedRequest => ({
  ...json("POST", path, body),
  isForm: true,
});
const read = (path: string, query: Query): RecordedRequest => ({
  ...json("GET", path, undefined),
  query,
});
const blueskyPost = (record: object): RecordedRequest =>
  json("POST", "/xrpc/com.atproto.repo.putRecord", {
    repo: "did:plc:y5x24lxyslrkqzyhvwwj2nz4",
    collection: "app.bsky.feed.post",
    rkey: "3n2y3cyofymzx",
    record: {
      $type: "app.bsky.feed.post",
      text: "Ahoy",
      createdAt: "2026-11-20T10:00:00.000Z",
      ...record,
    },
    swapRecord: null,
  });
const tiktokVideo = (postInfo: object): RecordedRequest =>
  json("POST", "/v2/post/publish/video/init/", {
    post_info: { privacy_level: "SELF_ONLY", ...postInfo },
    source_info: {
      source: "FILE_UPLOAD",
      video_size: 10,
      chunk_size: 10,
      total_chunk_count: 1,
    },
  });
const album = (item: object): RecordedRequest =>
  form("/bot1/sendMediaGroup", {
    chat_id: "1",
    media: JSON.stringify([{ type: "photo", media: "attach://file0", ...item }]),
    file0: FILE,
  });
const youtubeVideo = (video: object): RecordedRequest => ({
  ...json("POST", "/upload/youtube/v3/videos", video),
  query: [
    ["uploadType", "resumable"],
    ["part", "snippet,status"],
  ],
});

/**
 * For each platform: requests that agree with its client library, and requests that each break one
 * rule.
 */
const CASES: Readonly<
  Record<
    PlatformId,
    { good: RecordedRequest[]; bad: readonly (readonly [string, RecordedRequest])[] }
  >
> = {
  instagram: {
    good: [form("/v25.0/17/media", { image_url: "https://a.example/1.jpg", alt_text: "A ship" })],
    bad: [
      ["an unknown parameter", form("/v25.0/17/media", { image: "https://a.example/1.jpg" })],
      ["a parameter of Facebook", form("/login/v25.0/17", { is_hidden: "true" })],
      [
        "an unknown metric",
        read("/v25.0/17", [["fields", "id,insights.metric(views,impressions_total)"]]),
      ],
      ["an unknown field", read("/v25.0/17/media", [["fields", "id,permalink_url"]])],
    ],
  },
  facebook: {
    good: [
      form("/v25.0/17/feed", { message: "Ahoy" }),
      read("/v25.0/17/published_posts", [
        ["fields", "id,attachments{type,target,subattachments{type,target}}"],
      ]),
    ],
    bad: [
      ["an unknown parameter", form("/v25.0/17/feed", { text: "Ahoy" })],
      ["an unknown edge", form("/v25.0/17/pictures", { message: "Ahoy" })],
      [
        "parameters of two kinds of objects",
        form("/v25.0/17", { is_published: "true", embeddable: "true" }),
      ],
      [
        "fields that no object has together",
        read("/v25.0/17", [["fields", "is_hidden,permalink"]]),
      ],
    ],
  },
  x: {
    good: [json("POST", "/2/tweets", { text: "Ahoy", media: { media_ids: ["1"] } })],
    bad: [
      ["an unknown property", json("POST", "/2/tweets", { text: "Ahoy", media: { ids: ["1"] } })],
      [
        "a value outside an enumeration",
        json("POST", "/2/tweets", { text: "a", reply_settings: "all" }),
      ],
      ["an unknown field", read("/2/tweets/17", [["tweet.fields", "created"]])],
      ["an unknown call", read("/2/statuses/17", [])],
    ],
  },
  tiktok: {
    good: [tiktokVideo({ title: "Ahoy", disable_duet: true })],
    bad: [
      ["an unknown property", tiktokVideo({ caption: "Ahoy" })],
      ["a value outside an enumeration", tiktokVideo({ privacy_level: "PRIVATE" })],
      ["an unknown field", read("/v2/user/info/", [["fields", "open_id,email"]])],
    ],
  },
  youtube: {
    good: [
      youtubeVideo({ snippet: { title: "Ahoy" }, status: { selfDeclaredMadeForKids: false } }),
    ],
    bad: [
      ["an unknown property", youtubeVideo({ snippet: { name: "Ahoy" } })],
      ["a value of another type", youtubeVideo({ status: { selfDeclaredMadeForKids: "false" } })],
      ["an unknown parameter", read("/youtube/v3/videos", [["ids", "1"]])],
    ],
  },
  telegram: {
    good: [
      json("POST", "/bot1/sendMessage", { chat_id: 1, text: "Ahoy" }),
      album({ caption: "Ahoy" }),
    ],
    bad: [
      ["an unknown parameter", json("POST", "/bot1/sendMessage", { chat_id: 1, message: "Ahoy" })],
      ["an unknown property of an album's item", album({ alt: "Ahoy" })],
      [
        "a number that is not one",
        form("/bot1/sendVideo", { chat_id: "1", video: FILE, width: "wide" }),
      ],
      ["an unknown method", json("POST", "/bot1/sendPicture", { chat_id: 1 })],
    ],
  },
  bluesky: {
    good: [blueskyPost({ langs: ["en"] })],
    bad: [
      ["an unknown property of a record", blueskyPost({ languages: ["en"] })],
      ["a text that is too long", blueskyPost({ text: "a".repeat(301) })],
      [
        "an unknown property of an embed",
        blueskyPost({
          embed: {
            $type: "app.bsky.embed.external",
            external: { uri: "https://a.example", title: "", description: "", image: "" },
          },
        }),
      ],
      ["an unknown parameter", read("/xrpc/app.bsky.feed.getPosts", [["uri", "at://a/b/c"]])],
    ],
  },
};

for (const [platform, { good, bad }] of Object.entries(CASES))
  describe(`the check of recorded requests to ${platform}`, () => {
    test(`the check accepts requests that agree with the client library of ${platform}`, async () => {
      expect(await judgeRequests(platform as PlatformId, good)).toEqual([]);
    });

    test(`the check reports each request that does not agree with the client library of ${platform}, and quotes it`, async () => {
      const found = await judgeRequests(
        platform as PlatformId,
        bad.map(([, request]) => request),
      );
      for (const [fault, { path }] of bad) {
        const end = path.split("/").at(-1) ?? "";
        expect(
          found.some((message) => message.includes(end)),
          fault,
        ).toBe(true);
      }
      expect(found.length).toBeGreaterThanOrEqual(bad.length);
    });
  });
