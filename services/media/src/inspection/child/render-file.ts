import { fstatSync } from "node:fs";
import type { RenderedImage, RenditionOutcome, RenditionPlan } from "#src/domain/rendition-plan.ts";
import {
  INPUT_FD,
  type RenderRequest,
  type RenderResult,
} from "#src/inspection/inspection-protocol.ts";
import { decoding } from "./decode-image.ts";
import { openImage } from "./inspect-image.ts";
import { OutputFile } from "./open-file.ts";
import { openRenderSource, type RenderSource } from "./open-render-source.ts";
import { refusing, RenderRefused } from "./refusing.ts";
import { openResized, type Size } from "./resized-image.ts";

/** `lastRatio`: about the length in the lowest quality, divided by the length in this one. */
interface Quality {
  readonly quality: number;
  readonly lastRatio: number;
}

const JPEG_QUALITIES: readonly Quality[] = [
  { quality: 93, lastRatio: 0.45 },
  { quality: 88, lastRatio: 0.65 },
  { quality: 82, lastRatio: 0.8 },
  { quality: 75, lastRatio: 1 },
];
/** PNG is lossless, so only a smaller picture makes a smaller file. */
const PNG_QUALITIES: readonly Quality[] = [{ quality: 100, lastRatio: 1 }];
/** After the last one the rendition is refused. */
const MAX_SIZES = 8;
/**
 * Makes the next size smaller than the estimate, because a file of the estimated size may still be
 * too large.
 */
const CAUTION = 0.96;

/**
 * While the file exceeds `plan.maxBytes`, the quality is lowered, and at the lowest quality the
 * size is reduced.
 *
 * @throws RenderRefused, MediaRejected
 */
async function renderImage(
  source: RenderSource,
  plan: RenditionPlan,
  output: OutputFile,
): Promise<RenderedImage> {
  if (source.refusal !== undefined) throw new RenderRefused(source.refusal);
  let size: Size = { width: plan.width, height: plan.height };
  for (let tried = 0; tried < MAX_SIZES; tried += 1) {
    const made = await decoding(() => renderInSize(source, plan, size));
    if (made.kind === "made") {
      output.append(made.file);
      return { contentType: plan.contentType, ...made.size, bytes: made.file.length };
    }
    size = scaled(made.size, Math.min(0.95, CAUTION * Math.sqrt(plan.maxBytes / made.leastBytes)));
  }
  throw new RenderRefused("too_many_bytes");
}

type Made =
  | { readonly kind: "made"; readonly file: Buffer; readonly size: Size }
  | { readonly kind: "too_large"; readonly leastBytes: number; readonly size: Size };

/** The size is smaller when the given one needs too much memory. */
async function renderInSize(source: RenderSource, plan: RenditionPlan, size: Size): Promise<Made> {
  const resized = await openResized(source, plan, size);
  const qualities = plan.contentType === "image/jpeg" ? JPEG_QUALITIES : PNG_QUALITIES;
  let leastBytes = Infinity;
  for (const { quality, lastRatio } of qualities) {
    const file = await resized.encode(quality);
    source.onProgress();
    if (file.length <= plan.maxBytes) return { kind: "made", file, size: resized.size };
    leastBytes = file.length * lastRatio;
    // The estimate is at most 50 % too high: above that, no quality makes the file small enough.
    if (leastBytes > 1.5 * plan.maxBytes) break;
  }
  return { kind: "too_large", leastBytes, size: resized.size };
}

function scaled({ width, height }: Size, factor: number): Size {
  const side = (pixels: number) => Math.max(1, Math.round(pixels * factor));
  return { width: side(width), height: side(height) };
}

/**
 * Writes the files one after the other. If the image cannot be decoded, every rendition is refused.
 * An error that the image did not cause is thrown.
 */
export async function renderFile(
  { contentType, plans, limits }: RenderRequest,
  onProgress: () => void,
): Promise<RenderResult> {
  const bytes = fstatSync(INPUT_FD).size;
  const image = openImage({ fd: INPUT_FD, bytes, contentType, limits, onProgress });
  const source = await refusing(() => openRenderSource(image));
  if (source.kind === "refused")
    return { outcomes: plans.map(() => ({ kind: "refused", refusal: source.refusal })) };
  const output = new OutputFile();
  const outcomes: RenditionOutcome[] = [];
  for (const plan of plans) {
    outcomes.push(await renderPlan(source.value, plan, output));
    onProgress();
  }
  return { outcomes };
}

async function renderPlan(
  source: RenderSource,
  plan: RenditionPlan,
  output: OutputFile,
): Promise<RenditionOutcome> {
  const made = await refusing(() => renderImage(source, plan, output));
  return made.kind === "refused" ? made : { kind: "made", ...made.value };
}
