import type { DeclaredFile, InspectionResult } from "#src/domain/inspected-media.ts";
import type { RenderEnd, RenditionOutcome, RenditionPlan } from "#src/domain/rendition-plan.ts";

/** Descriptor of the file under inspection in the inspection process, which cannot open the file by a path. */
export const INPUT_FD = 4;
/**
 * Descriptor of the file to which the inspection process writes the file that platforms receive, if that is not the inspected
 * file.
 */
export const OUTPUT_FD = 5;

/** The limits of one inspection of a media file. */
export interface InspectionLimits {
  readonly maxImageBytes: number;
  readonly maxVideoBytes: number;
  /** Maximum resident memory of the inspection process in bytes. */
  readonly memoryBytes: number;
  /** Maximum processor time of the inspection process between two `progress` messages. */
  readonly timeMs: number;
}

/** Tells the inspection process to inspect its file. */
export interface InspectRequest {
  readonly declared: DeclaredFile | undefined;
  readonly limits: InspectionLimits;
}

/** Tells the inspection process to make renditions of its file, an image that an inspection has accepted. */
export interface RenderRequest {
  readonly kind: "render";
  /** The media type that the inspection found in the bytes of the file. */
  readonly contentType: string;
  readonly plans: readonly RenditionPlan[];
  readonly limits: InspectionLimits;
}

/** What an inspection process does with its file. A request without `kind` asks for an inspection. */
export type InspectionRequest = InspectRequest | RenderRequest;

/** The renditions of an image. Their files follow each other in `OUTPUT_FD`. */
export type RenderResult = Omit<Extract<RenderEnd, { kind: "rendered" }>, "kind">;

/**
 * A message of the inspection process. The message `progress` restarts the time limit; the others end the
 * inspection.
 */
export type InspectionReply =
  | { readonly kind: "progress" }
  | { readonly kind: "done"; readonly result: InspectionResult }
  | ({ readonly kind: "rendered" } & RenderResult)
  /** The inspection could not be carried out, for example because the file cannot be read. */
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

/** A media file to inspect, as a stream of bytes in and a stream of bytes out. */
export interface Inspection {
  readonly request: InspectionRequest;
  /** Opens the bytes of the media file. It is called once. */
  readonly open: () => AsyncIterable<Uint8Array>;
  /**
   * Called once with the file that platforms receive, or with the files of the renditions one after the other. It is not
   * called without such a file, or when platforms receive the inspected file itself.
   */
  readonly receive: (end: InspectionEnd, delivery: DeliveryFile) => Promise<void>;
}

/** What the inspection process wrote: the file that platforms receive, or the files of renditions. */
export interface DeliveryFile {
  readonly bytes: number;
  readonly content: AsyncIterable<Buffer>;
}

/** Runs inspections. The promise never rejects. */
export interface InspectionRunner extends AsyncDisposable {
  readonly run: (inspection: Inspection) => Promise<InspectionEnd>;
}

/** Returns the number of bytes that an inspection process wrote to `OUTPUT_FD`; undefined when it wrote no file. */
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
