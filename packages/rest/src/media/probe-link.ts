import { signToken } from "@postrider/shared/secrets/signed-token";
import type { MediaClaims } from "./links.ts";

const PROBE = "probe";
/** How long a URL of `createProbeUrl` is valid, in milliseconds. */
const VALID_MS = 5 * 60_000;

/**
 * Returns a signed media URL that leads to no media. A gateway with the same media key answers it with 204, so the answer
 * shows that the gateway at `publicUrl` belongs to this installation.
 */
export function createProbeUrl(publicUrl: string, mediaKey: string): string {
  const claims = { workspace: "", media: "", rendition: PROBE };
  const expiresAt = new Date(Date.now() + VALID_MS);
  return `${publicUrl}/media/${signToken(mediaKey, "media", claims, expiresAt)}`;
}

/** Whether the token of a media URL has the contents that `createProbeUrl` signs. */
export function isProbe({ mediaId, rendition }: MediaClaims): boolean {
  return mediaId === "" && rendition === PROBE;
}
