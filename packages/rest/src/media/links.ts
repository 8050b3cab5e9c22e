import { signToken, verifyToken } from "@postrider/shared/secrets/signed-token";

/** What the token of a media URL identifies: one of the files of media. */
export interface MediaClaims {
  readonly workspaceId: string;
  readonly mediaId: string;
  /**
   * `original`: the file as it was uploaded. `delivery`: the file as platforms receive it.
   * Otherwise the id of a rendition that the media service has made for a platform.
   */
  readonly rendition: string;
}

/** URLs from which media can be downloaded without an API key. */
export interface MediaLinks {
  /**
   * Returns the URL of a file of media (see `MediaClaims.rendition`), by default the uploaded file.
   * The URL is valid for a limited time from now.
   */
  urlOf(workspaceId: string, mediaId: string, rendition?: string): string;
  /**
   * Returns the media file that the token of a media URL stands for; undefined when the token is
   * forged, damaged or expired.
   */
  read(token: string): MediaClaims | undefined;
}

interface MediaLinkOptions {
  readonly publicUrl: string;
  /**
   * Keys that sign the tokens of media URLs. The first key signs new tokens, and all keys are
   * accepted. The gateway and the delivery service have the same keys.
   */
  readonly mediaKeys: readonly [string, ...string[]];
  readonly mediaUrlMs: number;
}

const PURPOSE = "media";

export function createMediaLinks({
  publicUrl,
  mediaKeys,
  mediaUrlMs,
}: MediaLinkOptions): MediaLinks {
  return {
    urlOf: (workspaceId, mediaId, rendition = "original") => {
      const claims = { workspace: workspaceId, media: mediaId, rendition };
      const expiresAt = new Date(Date.now() + mediaUrlMs);
      return `${publicUrl}/media/${signToken(mediaKeys[0], PURPOSE, claims, expiresAt)}`;
    },
    read: (token) => {
      const now = new Date();
      const [claims] = mediaKeys
        .map((key) => verifyToken(key, PURPOSE, token, now))
        .filter((each) => each !== undefined);
      if (claims === undefined) return undefined;
      const { workspace = "", media = "", rendition = "" } = claims;
      return { workspaceId: workspace, mediaId: media, rendition };
    },
  };
}

const PROBE = "probe";
/** How long a URL of `createProbeUrl` is valid, in milliseconds. */
const VALID_MS = 5 * 60_000;

/**
 * Returns a signed media URL that leads to no media. A gateway with the same media key answers it
 * with 204, so the answer shows that the gateway at `publicUrl` belongs to this installation.
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
