import type { CHOICES, ChoiceName, SettingName } from "./account-setting.ts";

const labels: Readonly<Record<SettingName, string>> = {
  imageFit: "Pictures with other proportions",
  shareToFeed: "Show reels in the feed of the profile too",
  replySettings: "Who may reply",
  allowComment: "People may comment",
  allowDuet: "People may make duets",
  allowStitch: "People may stitch",
  disclosure: "What posts advertise",
  autoAddMusic: "Add music to photo posts",
  unlistedAs: "Who sees “unlisted” posts",
  categoryId: "Number of the category",
  madeForKids: "Videos are made for children",
  notifySubscribers: "Notify subscribers",
  license: "License",
  playlistId: "Playlist",
  format: "How texts are read",
  silent: "Members get posts without a sound",
  linkPreview: "Show a preview of links",
  languages: "Languages",
};

const hints: Readonly<Partial<Record<SettingName, string>>> = {
  unlistedAs: "Default: only you. Choose friends or followers to let them see it.",
  categoryId: "As YouTube counts them, such as 22 for people and blogs.",
  madeForKids: "You declare this to YouTube, as the law of the United States defines it.",
  playlistId: "Its id, to which videos are added. Empty: none.",
  languages: "Up to three, such as en, ko or pt-BR. People find posts in their languages only.",
};

const choices: {
  readonly [N in ChoiceName]: Readonly<Record<(typeof CHOICES)[N][number], string>>;
} = {
  imageFit: { refuse: "Refuse the post", pad: "Add white borders", crop: "Cut off the edges" },
  replySettings: {
    everyone: "Everyone",
    following: "Accounts that this one follows",
    mentioned: "Accounts that the post mentions",
  },
  disclosure: {
    none: "Nothing",
    own_brand: "Your own brand",
    paid: "A paid partnership, which cannot be private",
  },
  unlistedAs: { only_me: "Only you", friends: "Friends", followers: "Followers" },
  license: { youtube: "YouTube's standard license", creative_commons: "Creative Commons" },
  format: { plain: "As they are", html: "With Telegram's HTML tags" },
};

/** Words of the settings of an account. */
export const settingEn = {
  labels,
  hints,
  choices,
  settings: "Settings",
  title: (name: string) => `Settings of ${name}`,
  holds:
    "They hold for posts accepted from now on. Scheduled ones keep what they were accepted with.",
  readOnly: "You can read the settings here, not change them.",
  notOffered: "TikTok does not offer it to this account now.",
  longest: (minutes: string) => `The longest video is ${minutes} min, as TikTok says now.`,
  reset: "Reset to defaults",
  wereReset: "The settings have their defaults again.",
  save: "Save settings",
  saved: "The settings are saved.",
};
