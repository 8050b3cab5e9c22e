/** How an image is brought to the exact size of a rendition. */
export type RenditionFit = "scale" | "pad" | "crop";

/**
 * Describes a rendition: an image that is made from an uploaded image. Renditions of the same media with equal plans share
 * one file.
 */
export interface RenditionPlan {
  /** `video/mp4`: the streams of a video in an MP4 with its index in front; the sizes of the plan do not change it. */
  readonly contentType: "image/jpeg" | "image/png" | "video/mp4";
  /** Width of the upright result in pixels. Width and height are reduced in proportion when the file would exceed `maxBytes`. */
  readonly width: number;
  readonly height: number;
  /**
   * How the picture is brought to the given width and height.
   * - `scale`: the whole picture in this size.
   * - `pad`: the whole picture, centred on a white background.
   * - `crop`: the centre of the picture fills the size.
   */
  readonly fit: RenditionFit;
  readonly maxBytes: number;
}

/** The file of a rendition that was made as its plan describes. */
export interface RenderedImage {
  readonly contentType: RenditionPlan["contentType"];
  readonly width: number;
  readonly height: number;
  readonly bytes: number;
}

/** Why a rendition cannot be made from an image; `toRefusalSentence` explains each to users. */
export type Refusal =
  | "not_an_image"
  | "not_a_video"
  | "container"
  | "animated"
  | "several_pages"
  | "unreadable"
  | "encoding"
  | "too_many_bytes"
  | "too_demanding";

/** The result of a rendition's plan: the file that was made, or why no file was made. */
export type RenditionOutcome =
  | ({ readonly kind: "made" } & RenderedImage)
  | { readonly kind: "refused"; readonly refusal: Refusal };

const MP4 = "video/mp4";
const TYPES: ReadonlySet<string> = new Set(["image/jpeg", "image/png", MP4]);
/** Maximum of `maxBytes` of a video's plan. It is only an upper bound, because the file of a video is as long as the upload. */
const MAX_VIDEO_BYTES = 1_000_000_000_000;
const FITS: ReadonlySet<string> = new Set(["scale", "pad", "crop"]);
/** Maximum width and height of a rendition in pixels: the limit of the JPEG library. */
const MAX_SIDE = 65_500;
const MAX_PIXELS = 100_000_000;
/** Smallest and largest `maxBytes` of a rendition's plan. No platform needs a smaller file or allows a larger one. */
const MIN_BYTES = 10_000;
const MAX_BYTES = 100_000_000;

/** Checks the fields of the plan of a rendition. @returns undefined when a field has a value that is not allowed. */
export function parseRenditionPlan(fields: {
  readonly contentType: string;
  readonly width: number;
  readonly height: number;
  readonly fit: string;
  readonly maxBytes: bigint | number;
}): RenditionPlan | undefined {
  const { contentType, width, height, fit } = fields;
  const maxBytes = Number(fields.maxBytes);
  if (!TYPES.has(contentType) || !FITS.has(fit)) return undefined;
  if (!isWithin(width, 1, MAX_SIDE) || !isWithin(height, 1, MAX_SIDE)) return undefined;
  const most = contentType === MP4 ? MAX_VIDEO_BYTES : MAX_BYTES;
  if (width * height > MAX_PIXELS || !isWithin(maxBytes, MIN_BYTES, most)) return undefined;
  const checked = { contentType, fit } as Pick<RenditionPlan, "contentType" | "fit">;
  return { ...checked, width, height, maxBytes };
}

/** Whether a value is a media type that renditions have. */
export function isRenditionType(value: unknown): value is RenditionPlan["contentType"] {
  return typeof value === "string" && TYPES.has(value);
}

/** Whether a rendition of this plan is made from an image or from a video. */
export function sourceKindOf({ contentType }: RenditionPlan): "image" | "video" {
  return contentType === MP4 ? "video" : "image";
}

function isWithin(value: number, min: number, max: number): boolean {
  return Number.isSafeInteger(value) && value >= min && value <= max;
}

/** Returns the text by which the database finds the rendition of a plan. Equal plans have the same text. */
export function describePlan({ contentType, width, height, fit, maxBytes }: RenditionPlan): string {
  return `${contentType} ${width}x${height} ${fit} ${maxBytes}`;
}

/**
 * Sorts the plans of renditions so that they are made with the least work. The largest comes first, because smaller renditions
 * are made of its pixels. Plans of the same size follow each other.
 */
export function sortForRendering(plans: readonly RenditionPlan[]): readonly RenditionPlan[] {
  const area = ({ width, height }: RenditionPlan) => width * height;
  return plans.toSorted(
    (a, b) => area(b) - area(a) || (describePlan(a) < describePlan(b) ? -1 : 1),
  );
}

const SENTENCES: Readonly<Record<Refusal, string>> = {
  not_an_image: "Videos are not converted.",
  not_a_video: "Images are not made into videos.",
  container:
    "The video cannot be moved to an MP4 without encoding it again; export it as MP4 with H.264 and AAC.",
  animated: "The image is animated, and animated images are not converted.",
  several_pages: "The TIFF has several pages; upload the page to publish as an image of its own.",
  unreadable: "The image cannot be decoded to convert it.",
  encoding: "BMPs with this compression are not converted; upload the image as PNG or JPEG.",
  too_many_bytes: "The image cannot be made as small as the platform requires.",
  too_demanding: "The image cannot be converted within the limits of time and memory.",
};

/** Returns the sentence that tells users why a rendition cannot be made. */
export function toRefusalSentence(refusal: Refusal): string {
  return SENTENCES[refusal];
}

/** Whether a value is one of the reasons for which a rendition can be refused. */
export function isRefusal(value: unknown): value is Refusal {
  return typeof value === "string" && Object.hasOwn(SENTENCES, value);
}

/** An image to make renditions of, as streams of bytes. */
export interface RenderJob {
  readonly contentType: string;
  readonly plans: readonly RenditionPlan[];
  /** Opens the bytes of the image. It is called at most once. */
  readonly open: () => AsyncIterable<Uint8Array>;
  /** Receives the file of each rendition that was made, in the order of the plans; `index` is the index of its plan. */
  readonly receive: (
    index: number,
    rendered: RenderedImage,
    content: AsyncIterable<Uint8Array>,
  ) => Promise<void>;
}

/**
 * How the making of renditions ended.
 * - `exhausted`: the image exceeded a limit of time or memory, or crashed its process.
 * - `unavailable`: it failed for a reason that is not in the image; a later attempt may succeed.
 */
export type RenderEnd =
  | {
      readonly kind: "rendered";
      /** The results of the plans: one for each plan, in the order of the plans. */
      readonly outcomes: readonly RenditionOutcome[];
    }
  | { readonly kind: "exhausted" | "unavailable" };

/** Makes renditions in a process of its own with limits on time and memory. The promise never rejects. */
export type RenderImages = (job: RenderJob) => Promise<RenderEnd>;
