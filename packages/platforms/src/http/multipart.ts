import { randomUUID } from "node:crypto";
import type { ByteSource, RequestBody } from "#src/http/platform-request.ts";

export type FormPart =
  | { readonly name: string; readonly value: string }
  | {
      readonly name: string;
      readonly fileName: string;
      readonly contentType: string;
      readonly source: ByteSource;
    };

/**
 * Escapes the name of a form field or file as browsers do (HTML, "multipart/form-data encoding
 * algorithm"), so that the name cannot end the header line.
 */
function escapeName(name: string): string {
  return name.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22");
}

function toHead(boundary: string, part: FormPart): Uint8Array {
  const disposition = `content-disposition: form-data; name="${escapeName(part.name)}"`;
  const head =
    "value" in part
      ? disposition
      : `${disposition}; filename="${escapeName(part.fileName)}"\r\ncontent-type: ${part.contentType}`;
  return Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`);
}

function toContent(part: FormPart): Uint8Array | ByteSource {
  return "value" in part ? Buffer.from(part.value) : part.source;
}

const LINE_END = Buffer.from("\r\n");

function sizeOf(piece: Uint8Array | ByteSource): number {
  return piece instanceof Uint8Array ? piece.length : piece.bytes;
}

async function* readAll(
  pieces: readonly (Uint8Array | ByteSource)[],
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for (const piece of pieces)
    if (piece instanceof Uint8Array) yield piece;
    else yield* await piece.read(signal);
}

/** The exact length is known, so it needs no chunked encoding. */
export function multipartBody(parts: readonly FormPart[]): RequestBody {
  const boundary = `postrider-${randomUUID()}`;
  const pieces = [
    ...parts.flatMap((part) => [toHead(boundary, part), toContent(part), LINE_END]),
    Buffer.from(`--${boundary}--\r\n`),
  ];
  const bytes = pieces.reduce((sum, piece) => sum + sizeOf(piece), 0);
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    content: { bytes, read: (signal) => readAll(pieces, signal) },
  };
}
