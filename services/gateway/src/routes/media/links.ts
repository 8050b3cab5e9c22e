import { signToken, verifyToken } from "@postrider/shared/secrets/signed-token";

/** Which bytes of which media: as they were uploaded, or as platforms get them. */
export interface MediaClaims {
  readonly workspaceId: string;
  readonly mediaId: string;
  readonly rendition: string;
}

/** Addresses at which media can be fetched without a key. */
export interface MediaLinks {
  /** The address of what was uploaded, good for a while from now. */
  urlOf(workspaceId: string, mediaId: string): string;
  /** What the token of an address stands for; undefined when it is forged, damaged or expired. */
  read(token: string): MediaClaims | undefined;
}

export interface MediaLinkOptions {
  readonly publicUrl: string;
  /** The first signs, all are accepted. Delivery signs addresses for platforms with the same. */
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
    urlOf: (workspaceId, mediaId) => {
      const claims = { workspace: workspaceId, media: mediaId, rendition: "original" };
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
