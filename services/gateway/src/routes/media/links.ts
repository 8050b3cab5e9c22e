import { signToken, verifyToken } from "@postrider/shared/secrets/signed-token";

/** What the token of a media URL identifies: a media file, either as it was uploaded or as platforms receive it. */
export interface MediaClaims {
  readonly workspaceId: string;
  readonly mediaId: string;
  readonly rendition: string;
}

/** URLs from which media can be downloaded without an API key. */
export interface MediaLinks {
  /** Returns the URL of the media file as it was uploaded, valid for a limited time from now. */
  urlOf(workspaceId: string, mediaId: string): string;
  /**
   * Returns the media file that the token of a media URL stands for; undefined when the token is forged, damaged or
   * expired.
   */
  read(token: string): MediaClaims | undefined;
}

export interface MediaLinkOptions {
  readonly publicUrl: string;
  /**
   * Keys that sign the tokens of media URLs. The first key signs new tokens, and all keys are accepted. The delivery
   * service signs URLs for platforms with the same keys.
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
