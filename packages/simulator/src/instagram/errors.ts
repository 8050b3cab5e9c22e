import { refuseGraph } from "#src/graph/errors.ts";

function refusal(code: number, subcode: number, message: string, status?: number) {
  return (): never => refuseGraph({ code, subcode, message, userMessage: message }, status);
}

export const refuseNotReady = refusal(
  9007,
  2_207_027,
  "The media is not ready for publishing, please wait for a moment",
);
export const refuseMissingContainer = refusal(
  24,
  2_207_008,
  "The requested resource does not exist: the media container is not found or has expired",
);
export const refuseDailyLimit = refusal(
  9,
  2_207_042,
  "You reached maximum number of posts that is allowed to be published by Content Publishing API",
);
export const refuseCaption = refusal(36_004, 2_207_010, "The submitted caption was too long");
export const refuseTagCount = refusal(
  100,
  2_207_040,
  "Cannot use more than 20 tags or 30 hashtags",
);
export const refuseChildCount = refusal(
  100,
  2_207_028,
  "Your post won't work as a carousel: it needs at least 2 photos or videos and no more than 10",
);
export const refuseType = refusal(100, 2_207_023, "The media type is unknown");
export const refuseFetch = refusal(
  9004,
  2_207_052,
  "The media could not be fetched from this uri, or is not a photo or video",
);
export const refuseImageSize = refusal(36_000, 2_207_004, "The image is too large to download");
export const refuseImageFormat = refusal(36_001, 2_207_005, "The image format is not supported");
export const refuseRatio = refusal(36_003, 2_207_009, "The aspect ratio is not supported");
