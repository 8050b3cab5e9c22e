import type { Logger } from "@postrider/shared/telemetry/logger";
import type { RenderedImage, RenderEnd, RenderJob } from "#src/domain/rendition-plan.ts";
import type { InspectionEnd, InspectionLimits, InspectionRunner } from "./inspection-protocol.ts";
import { splitFiles } from "./split-files.ts";

/** Makes renditions of an image in a process of their own, in the inspector or on this machine. The promise never rejects. */
export async function renderImages(
  runner: InspectionRunner,
  { contentType, plans, open, receive }: RenderJob,
  { limits, logger }: { readonly limits: InspectionLimits; readonly logger: Logger },
): Promise<RenderEnd> {
  const end = await runner.run({
    request: { kind: "render", contentType, plans, limits },
    open,
    receive: async (found, { content }) => {
      if (!answers(found, plans.length))
        throw new Error("the answer is not one for each rendition");
      const made = listMade(found);
      const files = splitFiles(
        content,
        made.map(({ rendered }) => rendered.bytes),
      );
      for (const { index, rendered } of made) await receive(index, rendered, files.next());
    },
  });
  if (end.kind === "full") return { kind: "unavailable" };
  if (end.kind === "exhausted") {
    logger.warn(
      { reason: end.what, step: "render" },
      "the process that makes renditions of an image exceeded its limit of time or memory, or crashed",
    );
    return { kind: "exhausted" };
  }
  if (answers(end, plans.length)) return end;
  const reason = end.kind === "failed" ? end.message : "the process ended without an answer";
  logger.warn(
    { reason, step: "render" },
    "renditions of an image could not be made; the caller tries again",
  );
  return { kind: "unavailable" };
}

type Rendered = Extract<InspectionEnd, { kind: "rendered" }>;

function answers(end: InspectionEnd, count: number): end is Rendered {
  return end.kind === "rendered" && end.outcomes.length === count;
}

function listMade({ outcomes }: Rendered): { index: number; rendered: RenderedImage }[] {
  return outcomes.flatMap((outcome, index) => {
    if (outcome.kind === "refused") return [];
    const { kind: _kind, ...rendered } = outcome;
    return [{ index, rendered }];
  });
}
