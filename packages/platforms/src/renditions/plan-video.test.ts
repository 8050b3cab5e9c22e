import { expect, test } from "vitest";
import type { PlatformId } from "#src/platform-id.ts";
import { PLATFORM_FACTS } from "#src/registry.ts";
import { planVideo, type VideoEncoding } from "#src/renditions/plan-video.ts";

const PLAIN: VideoEncoding = {
  codec: "h264",
  pixelFormat: "yuv420p",
  fps: 30,
  audioCodec: "aac",
  fastStart: true,
  fragmented: false,
};

const plan = (platform: PlatformId, video: Partial<VideoEncoding>, contentType = "video/mp4") =>
  planVideo({ contentType, video: { ...PLAIN, ...video } }, PLATFORM_FACTS[platform].rules.video);

const codes = (...args: Parameters<typeof plan>) => {
  const made = plan(...args);
  return made.kind === "refused" ? made.faults.map(({ code }) => code) : [made.kind];
};

test.each<[PlatformId, Partial<VideoEncoding>, string[]]>([
  ["instagram", { fps: 12 }, ["media_frame_rate"]],
  ["instagram", { fps: 120 }, ["media_frame_rate"]],
  ["instagram", { fps: 23.976 }, ["original"]],
  ["instagram", { fps: 60.2 }, ["original"]],
  ["instagram", { pixelFormat: "yuv420p10" }, ["media_codec"]],
  ["instagram", { codec: "hevc", pixelFormat: "yuv420p10" }, ["original"]],
  ["instagram", { audioCodec: "mp3" }, ["media_codec"]],
  ["instagram", { audioCodec: undefined }, ["original"]],
  ["instagram", { codec: "mpeg4", fps: 12 }, ["media_codec", "media_frame_rate"]],
  ["tiktok", { fps: 12 }, ["media_frame_rate"]],
  ["tiktok", { fps: 120 }, ["media_frame_rate"]],
  ["tiktok", { codec: "mpeg4" }, ["media_codec"]],
  ["x", { codec: "hevc" }, ["media_codec"]],
  ["x", { pixelFormat: "yuv422p" }, ["media_codec"]],
  ["x", { fps: 12 }, ["original"]],
  ["x", { fps: 120 }, ["media_frame_rate"]],
  ["youtube", { codec: "mpeg4", audioCodec: "mp3", fps: 120 }, ["original"]],
])(
  "planVideo decides for %s about a video with the encoding %j",
  (platform, encoding, expected) => {
    expect(codes(platform, encoding)).toEqual(expected);
  },
);

test("the refusal of a frame rate states the rate and the limits", () => {
  expect(plan("tiktok", { fps: 12 })).toEqual({
    kind: "refused",
    faults: [{ code: "media_frame_rate", actual: 12, limit: 23, fits: "23–60 fps" }],
  });
});

test.each([
  [{ audioCodec: "opus" }, "opus"],
  [{ pixelFormat: "yuv444p" }, "h264 (yuv444p)"],
  [{ codec: "av1", pixelFormat: null, audioCodec: "flac" }, "av1, flac"],
])("the refusal of the encoding %j by X names %s and not what X takes", (encoding, found) => {
  expect(plan("x", encoding)).toMatchObject({ faults: [{ code: "media_codec", found }] });
});

test("a video whose encoding is not known is judged by its type only", () => {
  const { video } = PLATFORM_FACTS.x.rules;
  expect(planVideo({ contentType: "video/mp4" }, video)).toEqual({ kind: "original" });
});

test.each<PlatformId>(["telegram", "bluesky"])(
  "planVideo for %s turns a MOV with H.264 and AAC into an MP4, and refuses one whose streams an MP4 cannot have",
  (platform) => {
    expect(codes(platform, {}, "video/quicktime")).toEqual(["remux"]);
    expect(codes(platform, { codec: "prores" }, "video/quicktime")).toEqual([
      "media_type_unsupported",
    ]);
    expect(codes(platform, { audioCodec: "pcm" }, "video/quicktime")).toEqual([
      "media_type_unsupported",
    ]);
    expect(codes(platform, { fragmented: true }, "video/quicktime")).toEqual([
      "media_type_unsupported",
    ]);
  },
);

test("instagram receives a file whose index is last as an MP4 with its index in front", () => {
  expect(codes("instagram", { fastStart: false })).toEqual(["remux"]);
  expect(codes("instagram", { fastStart: false }, "video/quicktime")).toEqual(["remux"]);
  expect(codes("youtube", { fastStart: false })).toEqual(["original"]);
});
