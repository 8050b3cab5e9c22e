import type { DeclaredFile, InspectionResult } from "#src/domain/inspected-media.ts";

/** Descriptor of the file under inspection in the inspection process. The file has no name there. */
export const INPUT_FD = 4;
/** Descriptor of the file to which the inspection process writes the file that platforms receive, if it differs. */
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
export interface InspectionRequest {
  readonly declared: DeclaredFile | undefined;
  readonly limits: InspectionLimits;
}

/**
 * A message of the inspection process. The message `progress` restarts the time limit; the other two end the
 * inspection.
 */
export type InspectionReply =
  | { readonly kind: "progress" }
  | { readonly kind: "done"; readonly result: InspectionResult }
  /** The inspection could not be carried out, for example because the file cannot be read. */
  | { readonly kind: "failed"; readonly message: string };

/**
 * How an inspection ended.
 * - `exhausted`: the file exceeded a limit or crashed the inspection process.
 * - `gone`: the inspection process was killed or lost for a reason that is not in the file.
 * - `full`: the inspection did not start, because too many files wait or the inspector stops.
 */
export type InspectionEnd =
  | Extract<InspectionReply, { kind: "done" | "failed" }>
  | { readonly kind: "exhausted"; readonly what: "time" | "memory" | "crash" }
  | { readonly kind: "gone" }
  | { readonly kind: "full" };

/** A media file to inspect, as a stream of bytes in and a stream of bytes out. */
export interface Inspection {
  readonly request: InspectionRequest;
  /** Opens the bytes of the media file. It is called once. */
  readonly open: () => AsyncIterable<Buffer>;
  /** Receives the file that platforms receive. It is called once if that file differs from the inspected file. */
  readonly receive: (end: InspectionEnd, delivery: DeliveryFile) => Promise<void>;
}

/** The file that platforms receive, as the inspection process wrote it. */
export interface DeliveryFile {
  readonly bytes: number;
  readonly content: AsyncIterable<Buffer>;
}

/** Runs inspections. The promise never rejects. */
export interface InspectionRunner extends AsyncDisposable {
  readonly run: (inspection: Inspection) => Promise<InspectionEnd>;
}

/** Returns the bytes of the file that platforms receive; undefined when it does not differ from the inspected file. */
export function deliveryBytesOf(end: InspectionEnd): number | undefined {
  if (end.kind !== "done" || end.result.kind !== "accepted") return undefined;
  const { delivery } = end.result.media;
  return delivery.kind === "rewritten" ? delivery.bytes : undefined;
}
