export type RenditionFit = "scale" | "pad" | "crop";

/**
 * An image to make from an uploaded one. Renditions of the same media with equal plans share one
 * file.
 */
export interface RenditionPlan {
  /**
   * `video/mp4`: the streams of a video in an MP4 with its index in front; the sizes of the plan do
   * not change it.
   */
  readonly contentType: "image/jpeg" | "image/png" | "video/mp4";
  /** Width and height are reduced in proportion when the file would exceed `maxBytes`. */
  readonly width: number;
  readonly height: number;
  /**
   * `scale`: the whole picture; `pad`: the whole picture on a white background; `crop`: its centre.
   */
  readonly fit: RenditionFit;
  readonly maxBytes: number;
}

export interface RenderedImage {
  readonly contentType: RenditionPlan["contentType"];
  readonly width: number;
  readonly height: number;
  readonly bytes: number;
}

/** `toRefusalSentence` explains each to users. */
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

export type RenditionOutcome =
  | ({ readonly kind: "made" } & RenderedImage)
  | { readonly kind: "refused"; readonly refusal: Refusal };

const MP4 = "video/mp4";
const TYPES: ReadonlySet<string> = new Set(["image/jpeg", "image/png", MP4]);
/** Only an upper bound, because the file of a video is as long as the upload. */
const MAX_VIDEO_BYTES = 1_000_000_000_000;
const FITS: ReadonlySet<string> = new Set(["scale", "pad", "crop"]);
const MAX_SIDE = 65_500;
const MAX_PIXELS = 100_000_000;
/** No platform needs a smaller file or allows a larger one. */
const MIN_BYTES = 10_000;
const MAX_BYTES = 100_000_000;

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

export function isRenditionType(value: unknown): value is RenditionPlan["contentType"] {
  return typeof value === "string" && TYPES.has(value);
}

export function sourceKindOf({ contentType }: RenditionPlan): "image" | "video" {
  return contentType === MP4 ? "video" : "image";
}

function isWithin(value: number, min: number, max: number): boolean {
  return Number.isSafeInteger(value) && value >= min && value <= max;
}

/** The text by which the database finds a rendition. */
export function describePlan({ contentType, width, height, fit, maxBytes }: RenditionPlan): string {
  return `${contentType} ${width}x${height} ${fit} ${maxBytes}`;
}

/**
 * The largest comes first, because smaller renditions are made of its pixels. Plans of the same
 * size follow each other.
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

export function toRefusalSentence(refusal: Refusal): string {
  return SENTENCES[refusal];
}

export function isRefusal(value: unknown): value is Refusal {
  return typeof value === "string" && Object.hasOwn(SENTENCES, value);
}

export interface RenderJob {
  readonly workspaceId?: string;
  readonly contentType: string;
  readonly plans: readonly RenditionPlan[];
  readonly open: () => AsyncIterable<Uint8Array>;
  /**
   * Called for each rendition that was made, in the order of the plans; `index` is that of its
   * plan.
   */
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
      readonly outcomes: readonly RenditionOutcome[];
    }
  | { readonly kind: "exhausted" | "unavailable" };

/** In a process of its own with limits on time and memory. The promise never rejects. */
export type RenderImages = (job: RenderJob) => Promise<RenderEnd>;

export interface MadeRendition extends RenderedImage {
  readonly kind: "made";
  readonly id: string;
  readonly objectKey: string;
  readonly sha256: string;
}

export type StoredRendition =
  | MadeRendition
  | { readonly kind: "refused"; readonly refusal: Refusal };

export interface RenditionRow {
  readonly id: string;
  readonly plan: string;
  readonly status: "making" | "made" | "refused";
  readonly objectKey: string | null;
  readonly contentType: RenditionPlan["contentType"] | null;
  readonly bytes: number | null;
  readonly sha256: string | null;
  readonly width: number | null;
  readonly height: number | null;
  readonly refusal: string | null;
}

export function toStoredRendition(row: RenditionRow): StoredRendition | undefined {
  const { status, id, objectKey, contentType, bytes, sha256, width, height, refusal } = row;
  if (status === "making") return undefined;
  // A newer release may have stored a refusal that this release does not know.
  if (status === "refused")
    return { kind: "refused", refusal: isRefusal(refusal) ? refusal : "unreadable" };
  if (objectKey === null || contentType === null || sha256 === null) return undefined;
  if (bytes === null || width === null || height === null) return undefined;
  return { kind: "made", id, objectKey, contentType, bytes, sha256, width, height };
}

/** Keys are the texts of the plans. */
export function toStoredRenditions(
  rows: readonly RenditionRow[],
): ReadonlyMap<string, StoredRendition> {
  return new Map(
    rows.flatMap((row) => {
      const stored = toStoredRendition(row);
      return stored === undefined ? [] : [[row.plan, stored]];
    }),
  );
}
