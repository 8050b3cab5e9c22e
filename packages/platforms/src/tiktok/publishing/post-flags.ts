import type { Publication } from "#src/publishing/publication.ts";
import { readSettings } from "#src/settings/read-settings.ts";
import { SETTINGS } from "../settings.ts";
import type { CreatorInfo } from "./creator-info.ts";

/**
 * An interaction is off if the settings do not allow it, or if the creator has turned it off on
 * TikTok.
 */
function toCommonFlags({ settings }: Publication, { isCommentDisabled }: CreatorInfo) {
  const { allowComment, disclosure } = readSettings(SETTINGS, settings);
  return {
    disable_comment: isCommentDisabled || !allowComment,
    brand_content_toggle: disclosure === "paid",
    brand_organic_toggle: disclosure === "own_brand",
  };
}

export function toVideoFlags(publication: Publication, creator: CreatorInfo) {
  const { allowDuet, allowStitch } = readSettings(SETTINGS, publication.settings);
  return {
    ...toCommonFlags(publication, creator),
    disable_duet: creator.isDuetDisabled || !allowDuet,
    disable_stitch: creator.isStitchDisabled || !allowStitch,
  };
}

export function toPhotoFlags(publication: Publication, creator: CreatorInfo) {
  const { autoAddMusic } = readSettings(SETTINGS, publication.settings);
  return { ...toCommonFlags(publication, creator), auto_add_music: autoAddMusic };
}
