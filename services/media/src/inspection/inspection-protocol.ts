import type { DeclaredFile, InspectionResult } from "#src/domain/inspected-media.ts";
import type { RenderEnd, RenditionOutcome, RenditionPlan } from "#src/domain/rendition-plan.ts";

/** The file under inspection; the process cannot open it by a path. */
export const INPUT_FD = 4;
/** What the process writes: the file that platforms receive, or renditions one after the other. */
export const OUTPUT_FD = 5;

export interface InspectionLimits {
  readonly maxImageBytes: number;
  readonly maxVideoBytes: number;
  readonly memoryBytes: number;
  /** Maximum processor time between two `progress` messages. */
  readonly timeMs: number;
}

/** Files of one owner do not keep those of others waiting. */
interface OwnedFile {
  readonly owner?: string | undefined;
}

export interface InspectRequest extends OwnedFile {
  readonly declared: DeclaredFile | undefined;
  readonly limits: InspectionLimits;
}

/** The file is an image that an inspection has accepted. */
export interface RenderRequest extends OwnedFile {
  readonly kind: "render";
  readonly contentType: string;
  readonly plans: readonly RenditionPlan[];
  readonly limits: InspectionLimits;
}

/** A request without `kind` asks for an inspection. */
export type InspectionRequest = InspectRequest | RenderRequest;

/** The files follow each other in `OUTPUT_FD`. */
export type RenderResult = Omit<Extract<RenderEnd, { kind: "rendered" }>, "kind">;

/** `progress` restarts the time limit; the others end the inspection. */
export type InspectionReply =
  | { readonly kind: "progress" }
  | { readonly kind: "done"; readonly result: InspectionResult }
  | ({ readonly kind: "rendered" } & RenderResult)
  /** For example, the file cannot be read. */
  | { readonly kind: "failed"; readonly message: string };

/**
 * How an inspection ended.
 * - `exhausted`: the file exceeded a limit or crashed the inspection process.
 * - `gone`: the inspection process was killed or lost for a reason that is not in the file.
 * - `full`: the inspection did not start, because too many files wait or the inspector stops.
 */
export type InspectionEnd =
  | Extract<InspectionReply, { kind: "done" | "rendered" | "failed" }>
  | { readonly kind: "exhausted"; readonly what: "time" | "memory" | "crash" }
  | { readonly kind: "gone" }
  | { readonly kind: "full" };

export interface Inspection {
  readonly request: InspectionRequest;
  readonly open: () => AsyncIterable<Uint8Array>;
  /**
   * Called once with the file that platforms receive, or the files of the renditions one after the
   * other; not when there is none, or when platforms receive the inspected file itself.
   */
  readonly receive: (end: InspectionEnd, delivery: DeliveryFile) => Promise<void>;
}

export interface DeliveryFile {
  readonly bytes: number;
  readonly content: AsyncIterable<Buffer>;
}

/** The promise never rejects. */
export interface InspectionRunner extends AsyncDisposable {
  readonly run: (inspection: Inspection) => Promise<InspectionEnd>;
}

/** What the process wrote to `OUTPUT_FD`; undefined when it wrote no file. */
export function deliveryBytesOf(end: InspectionEnd): number | undefined {
  if (end.kind === "rendered") return sumBytes(end.outcomes);
  if (end.kind !== "done" || end.result.kind !== "accepted") return undefined;
  const { delivery } = end.result.media;
  return delivery.kind === "rewritten" ? delivery.bytes : undefined;
}

function sumBytes(outcomes: readonly RenditionOutcome[]): number | undefined {
  const lengths = outcomes.flatMap((outcome) => (outcome.kind === "made" ? [outcome.bytes] : []));
  return lengths.length === 0 ? undefined : lengths.reduce((sum, bytes) => sum + bytes, 0);
}
