import { fstatSync } from "node:fs";
import type { RenditionOutcome, RenditionPlan } from "#src/domain/rendition-plan.ts";
import {
  INPUT_FD,
  type RenderRequest,
  type RenderResult,
} from "#src/inspection/inspection-protocol.ts";
import { openImage } from "./inspect-image.ts";
import { openRenderSource, type RenderSource } from "./open-render-source.ts";
import { OutputFile } from "./output-file.ts";
import { refusing } from "./refusing.ts";
import { renderImage } from "./render-image.ts";

/**
 * Makes the renditions of the image that this process was given, and writes their files one after the other to `OUTPUT_FD`.
 * If the image cannot be decoded, every rendition is refused. An error that the image did not cause, such as a failed read,
 * is thrown.
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
