import { signToken, verifyToken } from "@postrider/shared/secrets/signed-token";

/** An upload grant, with the token that the media service made. */
export interface Grant {
  readonly uploadPath: string;
  readonly uploadToken: string;
}

/**
 * The tokens that clients get. They are signed, so that every gateway knows without a call to the
 * media service that a grant was given out. The media service decides whether it is still open.
 */
export interface UploadTokens {
  sign(grant: Grant, expiresAt: Date): string;
  /** Undefined when the token is forged, damaged, expired or for another upload. */
  read(uploadPath: string, token: string): Grant | undefined;
}

const PURPOSE = "upload";
/** The clock of the gateway may be ahead of the database's, by which the grant expires. */
const TOLERANCE_MS = 60_000;

/** The first key signs, and all keys are accepted. */
export function createUploadTokens(keys: readonly [string, ...string[]]): UploadTokens {
  return {
    sign: ({ uploadPath, uploadToken }, expiresAt) => {
      const claims = { path: uploadPath, token: uploadToken };
      return signToken(keys[0], PURPOSE, claims, new Date(expiresAt.getTime() + TOLERANCE_MS));
    },
    read: (uploadPath, text) => {
      const now = new Date();
      const [claims] = keys
        .map((key) => verifyToken(key, PURPOSE, text, now))
        .filter((each) => each !== undefined);
      const { path, token: uploadToken } = claims ?? {};
      return uploadToken === undefined || path !== uploadPath
        ? undefined
        : { uploadPath, uploadToken };
    },
  };
}
