import type { PlatformId } from "@postrider/platforms/platform-id";
import { jpegMedia } from "@postrider/platforms/test/media-server";
import { mp4Media, pngMedia, type TestMedia } from "@postrider/platforms/test/test-media";

/** A platform call that creates something on a platform or makes it visible. */
export interface Step {
  readonly name: string;
  /** Name of the platform call in the rules of the simulator. */
  readonly operation: string;
  /**
   * A post can cause several platform calls with the same name in the rules of the simulator. This
   * is the number of them that come before this step.
   */
  readonly after?: number;
  readonly isVisible?: true;
  /**
   * Media files that make the publishing of this kind of post include this step. Absent if the
   * usual files of the kind include it.
   */
  readonly media?: readonly TestMedia[];
}

/** One kind of post on one platform, with every platform call that creates something for it. */
export interface Kind {
  readonly platform: PlatformId;
  readonly name: string;
  readonly media: readonly TestMedia[];
  readonly steps: readonly Step[];
  /**
   * Set if there are cases in which the outcome of a publishing call cannot be determined
   * (docs/guarantees.md).
   */
  readonly mayStayUnknown?: true;
}

const VIDEO = mp4Media(100_000);
/**
 * A video that is uploaded in more than one part to YouTube and in more than one chunk to TikTok.
 */
const LARGE_VIDEO = mp4Media(9_000_000, 1);
const LARGER_VIDEO = mp4Media(22_000_000, 3);
const REEL = Object.assign(mp4Media(100_000, 2), { width: 720, height: 1280, durationMs: 10_000 });
const PNG = pngMedia(1);
const JPEG = jpegMedia(1);
const OTHER_JPEG = jpegMedia(2);

const publish: Step = { name: "publish", operation: "publish", isVisible: true };

export const KINDS: readonly Kind[] = [
  {
    platform: "instagram",
    name: "image",
    media: [JPEG],
    steps: [{ name: "container", operation: "create" }, publish],
  },
  {
    platform: "instagram",
    name: "reel",
    media: [VIDEO],
    steps: [
      { name: "container", operation: "create" },
      { name: "upload", operation: "upload" },
      publish,
    ],
  },
  {
    platform: "instagram",
    name: "carousel",
    media: [JPEG, OTHER_JPEG],
    steps: [
      { name: "part", operation: "create" },
      { name: "carousel", operation: "create", after: 2 },
      publish,
    ],
  },
  { platform: "x", name: "text", media: [], steps: [publish] },
  {
    platform: "x",
    name: "image",
    media: [PNG],
    steps: [{ name: "upload", operation: "upload" }, publish],
  },
  {
    platform: "x",
    name: "video",
    media: [VIDEO],
    steps: [
      { name: "initialize", operation: "POST /2/media/upload/initialize" },
      { name: "append", operation: "POST /2/media/upload/*/append" },
      { name: "finalize", operation: "POST /2/media/upload/*/finalize" },
      publish,
    ],
  },
  {
    platform: "facebook",
    name: "text",
    media: [],
    steps: [{ name: "post", operation: "create" }, publish],
  },
  {
    platform: "facebook",
    name: "photo",
    media: [PNG],
    steps: [
      { name: "photo", operation: "upload" },
      { name: "post", operation: "POST /*/feed" },
      publish,
    ],
  },
  {
    platform: "facebook",
    name: "video",
    media: [VIDEO],
    steps: [
      { name: "start", operation: "create" },
      { name: "transfer", operation: "upload" },
      { name: "finish", operation: "create", after: 1 },
      publish,
    ],
  },
  {
    platform: "facebook",
    name: "reel",
    media: [REEL],
    steps: [
      { name: "start", operation: "create" },
      { name: "upload", operation: "upload" },
      { ...publish, name: "finish" },
    ],
  },
  {
    platform: "tiktok",
    name: "video",
    media: [VIDEO],
    steps: [
      { name: "init", operation: "create" },
      { name: "chunk", operation: "upload", media: [LARGER_VIDEO] },
      { ...publish, name: "last chunk" },
    ],
  },
  {
    platform: "tiktok",
    name: "photos",
    media: [JPEG, OTHER_JPEG],
    steps: [{ ...publish, name: "init" }],
    mayStayUnknown: true,
  },
  {
    platform: "youtube",
    name: "video",
    media: [VIDEO],
    steps: [
      { name: "session", operation: "create" },
      { name: "part", operation: "upload", media: [LARGE_VIDEO] },
      { ...publish, name: "last part" },
    ],
  },
  { platform: "telegram", name: "text", media: [], steps: [publish], mayStayUnknown: true },
  { platform: "telegram", name: "photo", media: [PNG], steps: [publish], mayStayUnknown: true },
  { platform: "telegram", name: "video", media: [VIDEO], steps: [publish], mayStayUnknown: true },
  { platform: "bluesky", name: "text", media: [], steps: [publish] },
  {
    platform: "bluesky",
    name: "image",
    media: [PNG],
    steps: [{ name: "blob", operation: "upload" }, publish],
  },
  {
    platform: "bluesky",
    name: "video",
    media: [VIDEO],
    steps: [{ name: "upload", operation: "upload" }, publish],
  },
];

/** The media files of all kinds of posts in the fault matrix. */
export const LIBRARY: readonly TestMedia[] = [
  VIDEO,
  LARGE_VIDEO,
  LARGER_VIDEO,
  REEL,
  PNG,
  JPEG,
  OTHER_JPEG,
];

/** One row of the table in docs/guarantees.md: a step of a kind of post. */
export interface Row {
  readonly kind: Kind;
  readonly step: Step;
}

export const ROWS: readonly Row[] = KINDS.flatMap((kind) =>
  kind.steps.map((step) => ({ kind, step })),
);

export function nameRow({ kind, step }: Row): string {
  return `${kind.platform} | ${kind.name} | ${step.name}${step.isVisible === true ? " (visible)" : ""}`;
}
