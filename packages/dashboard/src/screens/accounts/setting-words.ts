import type { CHOICES, ChoiceName, SettingName } from "./account-setting.ts";

const labelsEn: Readonly<Record<SettingName, string>> = {
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

const hintsEn: Readonly<Partial<Record<SettingName, string>>> = {
  unlistedAs: "Default: only you. Choose friends or followers to let them see it.",
  categoryId: "As YouTube counts them, such as 22 for people and blogs.",
  madeForKids: "You declare this to YouTube, as the law of the United States defines it.",
  playlistId: "Its id, to which videos are added. Empty: none.",
  languages: "Up to three, such as en, ko or pt-BR. People find posts in their languages only.",
};

const choicesEn: {
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
const settingEn = {
  labels: labelsEn,
  hints: hintsEn,
  choices: choicesEn,
  settings: "Settings",
  title: (name: string) => `Settings of ${name}`,
  holds:
    "The settings hold for posts accepted from now on. Scheduled ones keep what they were accepted with.",
  readOnly: "You can read the settings here, not change them.",
  notOffered: "TikTok does not offer it to this account now.",
  longest: (time: string) => `The longest video is ${time}, as TikTok says now.`,
  reset: "Reset to defaults",
  wereReset: "The settings have their defaults again.",
  save: "Save settings",
  saved: "The settings are saved.",
};

const labelsKo: (typeof settingEn)["labels"] = {
  imageFit: "비율이 맞지 않는 사진",
  shareToFeed: "릴스를 프로필 피드에도 표시",
  replySettings: "답글을 달 수 있는 사람",
  allowComment: "댓글 허용",
  allowDuet: "듀엣 허용",
  allowStitch: "이어찍기 허용",
  disclosure: "게시물이 광고하는 것",
  autoAddMusic: "사진 게시물에 음악 추가",
  unlistedAs: "‘일부 공개’ 게시물을 볼 수 있는 사람",
  categoryId: "카테고리 번호",
  madeForKids: "아동용 동영상",
  notifySubscribers: "구독자에게 알림",
  license: "라이선스",
  playlistId: "재생목록",
  format: "텍스트 형식",
  silent: "소리 없이 보내기",
  linkPreview: "링크 미리보기 표시",
  languages: "언어",
};

const hintsKo: (typeof settingEn)["hints"] = {
  unlistedAs: "기본값은 나만 보기입니다. 친구나 팔로워를 고르면 그 사람들도 볼 수 있습니다.",
  categoryId: "YouTube의 번호입니다. 예: 22(인물/블로그)",
  madeForKids: "미국 법의 정의에 따라 YouTube에 신고하는 내용입니다.",
  playlistId: "동영상을 추가할 재생목록의 ID입니다. 비워 두면 추가하지 않습니다.",
  languages: "en, ko, pt-BR처럼 3개까지 적습니다. 사람들은 자기 언어의 게시물만 찾을 수 있습니다.",
};

const choicesKo: (typeof settingEn)["choices"] = {
  imageFit: { refuse: "게시물 거부", pad: "흰 여백 추가", crop: "가장자리 자르기" },
  replySettings: {
    everyone: "모든 사람",
    following: "이 계정이 팔로우하는 계정",
    mentioned: "게시물에서 언급한 계정",
  },
  disclosure: {
    none: "없음",
    own_brand: "내 브랜드",
    paid: "유료 파트너십(비공개로 할 수 없음)",
  },
  unlistedAs: { only_me: "나만", friends: "친구", followers: "팔로워" },
  license: { youtube: "YouTube 표준 라이선스", creative_commons: "크리에이티브 커먼즈" },
  format: { plain: "그대로", html: "Telegram의 HTML 태그" },
};

const settingKo: typeof settingEn = {
  labels: labelsKo,
  hints: hintsKo,
  choices: choicesKo,
  settings: "설정",
  title: (name) => `${name} 설정`,
  holds: "지금부터 접수하는 게시물에 적용됩니다. 예약된 게시물은 접수할 때의 설정을 유지합니다.",
  readOnly: "여기서는 설정을 볼 수만 있습니다.",
  notOffered: "지금은 TikTok이 이 계정에 제공하지 않습니다.",
  longest: (time) => `지금 TikTok에서 올릴 수 있는 동영상 길이는 최대 ${time}입니다.`,
  reset: "기본값으로 되돌리기",
  wereReset: "설정을 기본값으로 되돌렸습니다.",
  save: "설정 저장",
  saved: "설정을 저장했습니다.",
};

export const settingWords = { en: settingEn, ko: settingKo };
