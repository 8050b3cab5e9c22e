import {
  deliveryBytesOf,
  type InspectionEnd,
  type InspectionRequest,
} from "./inspection-protocol.ts";

/**
 * Media sends `POST /inspections` with the request in a header and the file as the body. The answer
 * is a line of JSON with the end of the inspection, then the bytes of the file that platforms
 * receive, if it is another one.
 */
export const INSPECTIONS_PATH = "/inspections";
export const REQUEST_HEADER = "x-inspection";
/** The line contains at most 256 KiB of patches in base64. */
const MAX_LINE_BYTES = 1_000_000;
const LINE_FEED = 10;

export function encodeRequest(request: InspectionRequest): string {
  return Buffer.from(JSON.stringify(request)).toString("base64url");
}

/** @throws SyntaxError */
export function decodeRequest(header: string): InspectionRequest {
  return JSON.parse(Buffer.from(header, "base64url").toString()) as InspectionRequest;
}

/** `bytes`: of the whole answer. */
export function encodeEnd(end: InspectionEnd): { readonly line: string; readonly bytes: number } {
  const line = `${JSON.stringify(end)}\n`;
  return { line, bytes: Buffer.byteLength(line) + (deliveryBytesOf(end) ?? 0) };
}

/**
 * The caller must still validate `said`.
 *
 * @throws Error when the line is too long, incomplete or not JSON.
 */
export async function splitAnswer(
  answer: AsyncIterable<Buffer>,
): Promise<{ readonly said: unknown; readonly rest: AsyncIterable<Buffer> }> {
  const chunks = answer[Symbol.asyncIterator]();
  const parts: Buffer[] = [];
  for (let bytes = 0; bytes <= MAX_LINE_BYTES;) {
    const next = await chunks.next();
    if (next.done === true) throw new Error("the answer of the inspector is incomplete");
    const chunk = next.value;
    const end = chunk.indexOf(LINE_FEED);
    parts.push(end === -1 ? chunk : chunk.subarray(0, end));
    bytes += chunk.length;
    if (end === -1) continue;
    const said: unknown = JSON.parse(Buffer.concat(parts).toString());
    return { said, rest: continueWith(chunk.subarray(end + 1), chunks) };
  }
  throw new Error("the first line of the inspector's answer is too long");
}

async function* continueWith(
  first: Buffer,
  chunks: AsyncIterator<Buffer>,
): AsyncGenerator<Buffer, void> {
  if (first.length > 0) yield first;
  for (;;) {
    const next = await chunks.next();
    if (next.done === true) return;
    yield next.value;
  }
}
