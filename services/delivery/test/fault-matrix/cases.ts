import type { PlatformId } from "@postrider/platforms/registry";
import { jpegMedia } from "@postrider/platforms/test/media-server";
import { mp4Media, pngMedia, type TestMedia } from "@postrider/platforms/test/test-media";

/** A call of a platform that makes something, or makes it visible. */
export interface Step {
  readonly name: string;
  /** What the simulator calls it. */
  readonly operation: string;
  /** Calls of that name that come before it. */
  readonly after?: number;
  readonly isVisible?: true;
  /** Instead of the kind's own files, where those would not reach this step. */
  readonly media?: readonly TestMedia[];
}

/** One kind of post on one platform, with every step of it that creates something. */
export interface Kind {
  readonly platform: PlatformId;
  readonly name: string;
  readonly media: readonly TestMedia[];
  readonly steps: readonly Step[];
  /** Its outcome cannot always be found out (architecture, "The honest guarantee"). */
  readonly mayStayUnknown?: true;
}

const FILM = mp4Media(100_000);
/** More than one part of youtube, more than one chunk of tiktok. */
const LONG_FILM = mp4Media(9_000_000, 1);
const LONGER_FILM = mp4Media(17_000_000, 3);
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
    media: [FILM],
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
    media: [FILM],
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
    media: [FILM],
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
    media: [FILM],
    steps: [
      { name: "init", operation: "create" },
      { name: "chunk", operation: "upload", media: [LONGER_FILM] },
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
    media: [FILM],
    steps: [
      { name: "session", operation: "create" },
      { name: "part", operation: "upload", media: [LONG_FILM] },
      { ...publish, name: "last part" },
    ],
  },
  { platform: "telegram", name: "text", media: [], steps: [publish], mayStayUnknown: true },
  { platform: "telegram", name: "photo", media: [PNG], steps: [publish], mayStayUnknown: true },
  { platform: "telegram", name: "video", media: [FILM], steps: [publish], mayStayUnknown: true },
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
    media: [FILM],
    steps: [{ name: "upload", operation: "upload" }, publish],
  },
];

/** Every file that a post of the matrix has. */
export const LIBRARY: readonly TestMedia[] = [
  FILM,
  LONG_FILM,
  LONGER_FILM,
  REEL,
  PNG,
  JPEG,
  OTHER_JPEG,
];

/** A row of the table. */
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
