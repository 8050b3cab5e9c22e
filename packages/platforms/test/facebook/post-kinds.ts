import type { PublicationMedia } from "#src/publishing/publication.ts";
import { gifMedia, mp4Media, pngMedia, toReel } from "../test-media.ts";

const MB = 1024 * 1024;

export const VIDEO = mp4Media(9 * MB);

/** Each type of Facebook post that the tests publish, with its media. */
export const KINDS: readonly (readonly [string, readonly PublicationMedia[]])[] = [
  ["a text", []],
  ["a photo", [pngMedia(1)]],
  ["several photos", [pngMedia(1), gifMedia(), pngMedia(2)]],
  ["a video", [VIDEO]],
  ["a reel", [toReel(mp4Media(300_000))]],
];
