import type { faultsEn } from "./fault-words-en.ts";

export const faultsKo: typeof faultsEn = {
  no_accounts: () => ["선택한 계정이 없습니다.", "보낼 계정을 선택해 주세요."],
  content_required: (name) => [`${name}에는 본문이나 사진이 필요합니다.`, ""],
  content_too_long: (_name, limit, actual) => [
    "본문이 너무 깁니다.",
    actual === "" ? `최대 ${limit}입니다.` : `현재 ${actual}, 최대 ${limit}입니다.`,
  ],
  too_many_hashtags: (name, limit) => [
    "해시태그가 너무 많습니다.",
    `${name}에는 최대 ${limit}개까지 쓸 수 있습니다.`,
  ],
  too_many_mentions: (name, limit) => [
    "멘션이 너무 많습니다.",
    `${name}에는 최대 ${limit}개까지 쓸 수 있습니다.`,
  ],
  forbidden_characters: (name, _limit, _actual, found) => [
    `${name}에서 쓸 수 없는 문자가 있습니다.`,
    found,
  ],
  media_required: (name) => [
    `${name}에는 사진이나 동영상이 필요합니다.`,
    "이 게시물에는 없습니다.",
  ],
  needs_video: (name) => [`${name}에는 동영상 하나만 올릴 수 있습니다.`, ""],
  too_few_media: (name, limit) => [`${name}에는 파일이 ${limit}개 이상 필요합니다.`, ""],
  too_many_media: (name, limit, actual) => [
    `${name}에는 파일을 최대 ${limit}개까지 올릴 수 있습니다.`,
    actual === "" ? "" : `이 게시물에는 ${actual}개가 있습니다.`,
  ],
  media_mix_unsupported: (name) => [`${name}에는 사진과 동영상을 함께 올릴 수 없습니다.`, ""],
  media_type_unsupported: (name) => [`${name}에는 이 형식의 파일을 올릴 수 없습니다.`, ""],
  media_too_large: (name) => [`${name}에 올리기에는 파일이 너무 큽니다.`, ""],
  media_dimensions: (name) => [`${name}에는 이 비율이나 크기의 사진을 올릴 수 없습니다.`, ""],
  media_duration: (name) => [`${name}에는 이 길이의 동영상을 올릴 수 없습니다.`, ""],
  title_required: (name) => [`${name}에는 제목이 필요합니다.`, ""],
  title_too_long: (_name, limit, actual) => [
    "제목이 너무 깁니다.",
    actual === "" ? `최대 ${limit}입니다.` : `현재 ${actual}, 최대 ${limit}입니다.`,
  ],
  title_unsupported: (name) => [`이 게시물의 제목은 ${name}에 쓸 수 없습니다.`, ""],
  privacy_required: (name) => [`${name}에는 공개 범위를 정해야 합니다.`, ""],
  privacy_unsupported: (name) => [`이 ${name} 계정에서는 선택할 수 없는 공개 범위입니다.`, ""],
  tags_too_long: (_name, limit, actual) => [
    "태그가 너무 깁니다.",
    actual === "" ? `최대 ${limit}입니다.` : `현재 ${actual}, 최대 ${limit}입니다.`,
  ],
  tag_blank: () => ["비어 있는 태그가 있습니다.", ""],
  tags_unsupported: (name) => [
    `${name}에는 태그를 따로 쓸 수 없습니다.`,
    "본문에 해시태그로 써 주세요.",
  ],
  account_reconnect_required: (name) => [
    `${name} 계정의 연결이 끊어졌습니다.`,
    "계정 화면에서 다시 연결해 주세요.",
  ],
  platform_unavailable: (name) => [`이 서버에는 ${name} 연동이 설정되어 있지 않습니다.`, ""],
  unknown_media: () => ["파일이 더 이상 없습니다.", ""],
  media_not_ready: () => ["파일이 아직 준비되지 않았습니다.", ""],
  schedule_in_past: () => ["이미 지난 시간입니다.", ""],
  schedule_too_far: () => ["예약은 최대 366일 뒤까지 할 수 있습니다.", ""],
};
