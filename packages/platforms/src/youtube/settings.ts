import { choice, flag, type TextField } from "#src/settings/field.ts";

/**
 * The category of a video. "22" is "People & Blogs", which YouTube's own upload page preselects.
 */
const categoryId: TextField<string> = {
  kind: "text",
  pattern: "^[1-9][0-9]*$",
  maxLength: 3,
  default: "22",
  description:
    "YouTube's number of the category of videos, for example `22` (People & Blogs) or `28` (Science & Technology).",
};

const playlistId: TextField<string | null> = {
  kind: "text",
  pattern: "^[A-Za-z0-9_-]+$",
  maxLength: 64,
  default: null,
  description: "Id of a playlist of the channel to which videos are added after the upload.",
};

export const SETTINGS = {
  categoryId,
  madeForKids: flag(
    false,
    "Whether videos are made for children, as the law of the United States defines it. You declare this to YouTube.",
  ),
  notifySubscribers: flag(true, "Whether subscribers are notified of videos."),
  license: choice(
    ["youtube", "creative_commons"],
    "youtube",
    "License of videos: YouTube's standard license, or Creative Commons Attribution.",
  ),
  playlistId,
};
