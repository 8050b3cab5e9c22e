import type { Media } from "@postrider/contracts/media/v1/media_pb";
import type { PlatformId } from "@postrider/platforms/platform-id";
import { PLATFORM_FACTS } from "@postrider/platforms/registry";
import type { Rendition } from "@postrider/platforms/renditions/image-plan";
import { planImage, readImageFit } from "@postrider/platforms/renditions/plan-image";
import { planVideo, remuxRendition } from "@postrider/platforms/renditions/plan-video";

/**
 * Returns the rendition that a platform receives for media; undefined if it receives the media
 * unchanged. A file that only the current rules refuse was accepted under earlier rules, so it is
 * sent, and the platform decides.
 */
export function planRendition(
  media: Media,
  platform: PlatformId,
  settings: Readonly<Record<string, unknown>>,
): Rendition | undefined {
  const rules = PLATFORM_FACTS[platform].rules;
  if (media.kind === "video") {
    const { deliveryContentType: contentType, video, width, height } = media;
    const { kind } = planVideo({ contentType, video }, rules.video);
    return kind === "remux" ? remuxRendition({ width, height }) : undefined;
  }
  const image = {
    contentType: media.deliveryContentType,
    bytes: Number(media.deliveryBytes),
    width: media.width === 0 ? null : media.width,
    height: media.height === 0 ? null : media.height,
    frames: media.frames,
  };
  const plan = planImage(image, rules.image, readImageFit(settings));
  return plan.kind === "rendition" ? plan.rendition : undefined;
}
