import { flag } from "#src/settings/field.ts";
import { imageFit } from "#src/settings/image-fit.ts";

export const SETTINGS = {
  imageFit,
  shareToFeed: flag(true, "Whether reels also appear in the feed of the profile."),
};
