/** The sentence of a fault: a lead that stands out, and the rest. */
export type FaultSentence = (
  name: string,
  limit: string,
  actual: string,
  found: string,
) => readonly string[];

export const faultsEn: Readonly<Record<string, FaultSentence>> = {
  no_accounts: () => ["No account is chosen.", "Choose where this goes."],
  content_required: (name: string) => [`${name} needs a text or a picture.`, ""],
  content_too_long: (_name: string, limit: string, actual: string) => [
    "The text is too long:",
    actual === "" ? `at most ${limit}.` : `${actual} of ${limit}.`,
  ],
  too_many_hashtags: (name: string, limit: string) => [
    "Too many hashtags.",
    `${name} takes at most ${limit}.`,
  ],
  too_many_mentions: (name: string, limit: string) => [
    "Too many mentions.",
    `${name} takes at most ${limit}.`,
  ],
  forbidden_characters: (name: string, _limit: string, _actual: string, found: string) => [
    `${name} does not take these characters:`,
    found,
  ],
  media_required: (name: string) => [
    `${name} takes no post without a picture or a video.`,
    "This post has none.",
  ],
  needs_video: (name) => [`${name} takes exactly one video, and nothing else.`, ""],
  too_few_media: (name: string, limit: string) => [`${name} needs at least ${limit} files.`, ""],
  too_many_media: (name: string, limit: string, actual: string) => [
    `${name} takes at most ${limit} files.`,
    actual === "" ? "" : `This post has ${actual}.`,
  ],
  media_mix_unsupported: (name: string) => [
    `${name} does not take pictures and videos in one post.`,
    "",
  ],
  media_type_unsupported: (name: string) => [`${name} does not take a file of this kind.`, ""],
  media_too_large: (name: string) => [`A file is too large for ${name}.`, ""],
  media_dimensions: (name: string) => [`${name} does not take a picture of this shape.`, ""],
  media_duration: (name: string) => [`${name} does not take a video of this length.`, ""],
  title_required: (name: string) => [`${name} needs a title.`, ""],
  title_too_long: (_name: string, limit: string, actual: string) => [
    "The title is too long:",
    actual === "" ? `at most ${limit}.` : `${actual} of ${limit}.`,
  ],
  title_unsupported: (name: string) => [`${name} takes no title for this post.`, ""],
  privacy_required: (name: string) => [`${name} wants to know who sees it.`, ""],
  privacy_unsupported: (name: string) => [`The account on ${name} does not offer this choice.`, ""],
  tags_too_long: (_name: string, limit: string, actual: string) => [
    "The tags are too long:",
    actual === "" ? `at most ${limit}.` : `${actual} of ${limit}.`,
  ],
  tag_blank: () => ["A tag is empty.", ""],
  tags_unsupported: (name: string) => [
    `${name} takes no tags of their own.`,
    "Write them as hashtags.",
  ],
  account_reconnect_required: (name: string) => [
    `The account’s access to ${name} has ended.`,
    "Connect it again under Accounts.",
  ],
  platform_unavailable: (name: string) => [`${name} is not set up on this installation.`, ""],
  unknown_media: () => ["A file is not there any more.", ""],
  media_not_ready: () => ["A file is not ready yet.", ""],
  schedule_in_past: () => ["This time is over.", ""],
  schedule_too_far: () => ["Posts can be planned for 366 days at most.", ""],
};
