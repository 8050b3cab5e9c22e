import type { ReceivedMedia } from "#src/world/received-media.ts";
import { AVC, HEVC, videoFault } from "#src/world/video-fault.ts";

/**
 * "Video restrictions" of TikTok's media transfer guide: H.264, H.265, VP8 or VP9, 23 to 60 frames
 * per second.
 */
const LIMITS = { video: [...AVC, ...HEVC, "vp08", "vp09"], minFps: 23, maxFps: 60 };

export function videoFailReason(received: ReceivedMedia | undefined): string | undefined {
  if (received?.kind !== "video") return "file_format_check_failed";

  const fault = videoFault(received, LIMITS);
  if (fault === undefined) return undefined;

  return fault === "frame_rate" ? "frame_rate_check_failed" : "file_format_check_failed";
}
