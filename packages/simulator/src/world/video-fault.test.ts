import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { videoError } from "#src/instagram/containers.ts";
import { videoFailReason } from "#src/tiktok/pull.ts";
import { receive, type ReceivedMedia } from "#src/world/received-media.ts";
import { mediaFault } from "#src/x/media.ts";

function received(name: string): ReceivedMedia {
  const url = new URL(`../../../../services/media/test/videos/${name}`, import.meta.url);
  const found = receive([readFileSync(url)]);
  if (found === undefined) throw new Error(`${name} is not media`);
  return found;
}

const REFUSED = { subcode: 2_207_026, message: "Unsupported video format" };

test.each<[string, object | null, string | undefined, string | undefined]>([
  ["h264-12fps.mp4", REFUSED, "frame_rate_check_failed", undefined],
  ["h264-120fps.mp4", REFUSED, "frame_rate_check_failed", "file is currently unsupported"],
  ["h264-10-bit.mp4", REFUSED, undefined, "file is currently unsupported"],
  ["h264-422.mp4", REFUSED, undefined, "file is currently unsupported"],
  ["h264-mp3.mp4", REFUSED, undefined, "file is currently unsupported"],
  ["mpeg4-mp3.mp4", REFUSED, "file_format_check_failed", "file is currently unsupported"],
  ["hevc-10-bit.mp4", null, undefined, "file is currently unsupported"],
  ["h264-aac-index-last.mp4", REFUSED, undefined, undefined],
  ["h264-aac.mov", REFUSED, undefined, undefined],
])(
  "the simulated instagram, tiktok and x judge the video %s by how it is encoded",
  (name, instagram, tiktok, x) => {
    const video = received(name);

    expect(videoError(video)).toEqual(instagram);
    expect(videoFailReason(video)).toBe(tiktok);
    expect(mediaFault(video)).toBe(x);
  },
);
