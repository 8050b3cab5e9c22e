import type { ByteSource } from "#src/http/platform-request.ts";
import type { PublicationMedia } from "./publication.ts";

export function mediaBytes(
  media: PublicationMedia,
  { start, length }: { readonly start: number; readonly length: number } = {
    start: 0,
    length: media.bytes,
  },
): ByteSource {
  return { bytes: length, read: (signal) => media.read({ start, length }, signal) };
}
