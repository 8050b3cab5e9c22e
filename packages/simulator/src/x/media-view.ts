import { type Processing, processingOf, type XMedia } from "#src/x/media.ts";

const CHECK_AFTER_SECONDS = 1;

function errorOf(fault: string | undefined) {
  return fault === undefined
    ? { code: 1, name: "InvalidMedia", message: "Unsupported media format" }
    : { code: 3, name: "UnsupportedMedia", message: fault };
}

function processingView(processing: Processing, fault: string | undefined) {
  switch (processing.state) {
    case "none":
      return undefined;
    case "succeeded":
      return { state: "succeeded", progress_percent: 100 };
    case "failed":
      return { state: "failed", error: errorOf(fault) };
    case "pending":
    case "in_progress": {
      const { state, percent } = processing;
      return { state, check_after_secs: CHECK_AFTER_SECONDS, progress_percent: percent };
    }
  }
}

export function mediaView(media: XMedia, now: number) {
  const { id, key, totalBytes, received, mediaType } = media;
  const image = { w: received?.width ?? 0, h: received?.height ?? 0, image_type: mediaType };
  return {
    id,
    media_key: key,
    size: totalBytes,
    expires_after_secs: Math.floor((media.expiresAt - now) / 1000),
    image: media.category === "tweet_image" ? image : undefined,
    processing_info: processingView(processingOf(media, now), media.fault),
  };
}
