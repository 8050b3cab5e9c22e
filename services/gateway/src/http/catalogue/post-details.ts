import { detail } from "./entry.ts";
import { VIDEO_DETAILS } from "./video-details.ts";

export const POST_DETAILS = {
  content_required: detail(
    ["The post has neither text nor media.", "Add one of them."],
    ["본문도 미디어도 없습니다.", "둘 중 하나를 추가해 주세요."],
  ),
  content_too_long: detail(
    [
      "The text is too long[: it counts {actual}][, at most {limit} {unit} are allowed].",
      "Shorten it.",
    ],
    ["본문이 너무 깁니다[. 현재 {actual}][, 최대 {limit} {unit}].", "줄여 주세요."],
    "characters",
  ),
  too_many_hashtags: detail(
    ["The text has too many hashtags[: {actual}][, at most {limit} are allowed].", "Remove some."],
    ["해시태그가 너무 많습니다[. 현재 {actual}개][, 최대 {limit}개].", "줄여 주세요."],
    "hashtags",
  ),
  too_many_mentions: detail(
    ["The text has too many mentions[: {actual}][, at most {limit} are allowed].", "Remove some."],
    ["멘션이 너무 많습니다[. 현재 {actual}개][, 최대 {limit}개].", "줄여 주세요."],
    "mentions",
  ),
  too_many_cashtags: detail(
    ["The text has too many cashtags[: {actual}, at most {limit} is allowed].", "Remove some."],
    ["캐시태그가 너무 많습니다[({actual}개, 최대 {limit}개)].", "줄여 주세요."],
    "cashtags",
  ),
  media_required: detail(
    [
      "This platform does not accept a post without media.",
      "Add to mediaIds the id of an image or video that POST /media/presign or /media/from-url returned.",
    ],
    [
      "이 플랫폼에는 미디어가 필요합니다.",
      "POST /media/presign이나 /media/from-url 응답에 있는 이미지나 동영상의 id를 mediaIds에 추가해 주세요.",
    ],
  ),
  too_few_media: detail(
    ["There are too few media[: {actual}, the minimum is {limit}].", "Add more to mediaIds."],
    ["미디어가 너무 적습니다[({actual}개, 최소 {limit}개)].", "mediaIds에 더 추가해 주세요."],
    "media",
  ),
  too_many_media: detail(
    ["There are too many media[: {actual}, at most {limit} are allowed].", "Remove some."],
    ["미디어가 너무 많습니다[({actual}개, 최대 {limit}개)].", "줄여 주세요."],
    "media",
  ),
  media_mix_unsupported: detail(
    ["This platform does not accept these kinds of media in one post.", "Send one kind only."],
    ["이 플랫폼은 이런 종류의 미디어를 한 게시물에 함께 받지 않습니다.", "한 종류만 보내 주세요."],
  ),
  media_type_unsupported: detail(
    [
      "This type of file is not accepted here[: {found}][ (accepted: {allowed})].",
      "Use another format.",
    ],
    ["받지 않는 파일 형식입니다[: {found}][(허용: {allowed})].", "다른 형식을 사용해 주세요."],
  ),
  media_too_large: detail(
    ["The file is too large[: {actual} bytes, at most {limit} are allowed].", "Use a smaller one."],
    ["파일이 너무 큽니다[({actual}바이트, 최대 {limit}바이트)].", "더 작은 파일을 사용해 주세요."],
    "bytes",
  ),
  media_dimensions: detail(
    [
      "The width, height or aspect ratio of this media is not accepted[: {actual}, the limit is {limit}][ (accepted: {allowed})].",
      "Resize or crop it.",
    ],
    [
      "미디어의 너비, 높이 또는 비율이 허용되지 않습니다[({actual}, 한도 {limit})][(허용: {allowed})].",
      "크기를 바꾸거나 잘라 주세요.",
    ],
  ),
  media_duration: detail(
    [
      "The length of this video is not accepted[: {actual} s, the limit is {limit} s][ (accepted: {allowed})].",
      "Cut it to fit.",
    ],
    [
      "동영상의 길이가 허용되지 않습니다[({actual}초, 한도 {limit}초)][(허용: {allowed})].",
      "길이를 맞춰 주세요.",
    ],
    "seconds",
  ),
  ...VIDEO_DETAILS,
  alt_text_too_long: detail(
    [
      "The description of this media is too long for the platform[: it counts {actual}, at most {limit} {unit} are allowed].",
      "Shorten it.",
    ],
    [
      "이 플랫폼에는 미디어 설명이 너무 깁니다[. 현재 {actual}, 최대 {limit} {unit}].",
      "줄여 주세요.",
    ],
    "characters",
  ),
  title_required: detail(
    ["This platform needs a title.", "Set title in the options of the platform or account."],
    ["이 플랫폼에는 제목이 필요합니다.", "플랫폼이나 계정 옵션의 title을 설정해 주세요."],
  ),
  title_too_long: detail(
    [
      "The title is too long[: it counts {actual}][, at most {limit} {unit} are allowed].",
      "Shorten it.",
    ],
    ["제목이 너무 깁니다[. 현재 {actual}][, 최대 {limit} {unit}].", "줄여 주세요."],
    "characters",
  ),
  title_unsupported: detail(
    ["This platform has no titles.", "Remove the title."],
    ["이 플랫폼에는 제목이 없습니다.", "제목을 빼 주세요."],
  ),
  privacy_required: detail(
    [
      "This platform needs a choice of privacy.",
      "Set privacy in the options of the platform or account to {choice|one that GET /platforms lists}.",
    ],
    [
      "이 플랫폼에서는 공개 범위를 골라야 합니다.",
      "플랫폼이나 계정 옵션의 privacy를 {choice|GET /platforms에 있는 값}(으)로 설정해 주세요.",
    ],
  ),
  markup_invalid: detail(
    [
      "Telegram cannot read the HTML of this text.",
      "Close each tag, use only Telegram's tags, and write < > & as &lt; &gt; &amp;, or set the account's format to plain.",
    ],
    [
      "텔레그램이 이 글의 HTML을 읽을 수 없습니다.",
      "모든 태그를 닫고 텔레그램 태그만 쓰며 < > &는 &lt; &gt; &amp;로 적거나, 계정의 format 설정을 plain으로 바꿔 주세요.",
    ],
  ),
  disclosure_not_private: detail(
    [
      "TikTok does not allow paid advertising that only you can see.",
      "Choose another privacy, or change the account's setting disclosure.",
    ],
    [
      "TikTok에서는 유료 광고를 나만 볼 수 있게 올릴 수 없습니다.",
      "다른 공개 범위를 고르거나 계정의 disclosure 설정을 바꿔 주세요.",
    ],
  ),
  privacy_unsupported: detail(
    [
      "The platform does not offer this privacy for this account.",
      "Choose {choice|one that GET /platforms lists}, or leave it out.",
    ],
    [
      "플랫폼이 이 계정에 제공하지 않는 공개 범위입니다.",
      "{choice|GET /platforms에 있는 값}(을)를 고르거나 빼 주세요.",
    ],
  ),
  tags_unsupported: detail(
    ["This platform has no field for tags.", "Remove them, or write hashtags into the text."],
    ["이 플랫폼에는 태그 항목이 없습니다.", "태그를 빼거나 본문에 해시태그로 적어 주세요."],
  ),
  tags_too_long: detail(
    [
      "The tags are too long[: they count {actual}, at most {limit} {unit} are allowed].",
      "Remove some.",
    ],
    ["태그가 너무 깁니다[. 현재 {actual}, 최대 {limit} {unit}].", "줄여 주세요."],
    "characters",
  ),
  tag_blank: detail(["This tag is empty.", "Remove it."], ["비어 있는 태그입니다.", "빼 주세요."]),
  forbidden_characters: detail(
    [
      "The text has characters that are refused[: {actual} combining marks in a row, at most {limit} are allowed][: {found}; each number is the position of a character in the text].",
      "Remove them.",
    ],
    [
      "받을 수 없는 문자가 있습니다[: 결합 문자가 {actual}개 이어져 있고 최대 {limit}개까지 허용됩니다][: {found}. 숫자는 텍스트에서 문자의 위치입니다].",
      "해당 문자를 빼 주세요.",
    ],
    "characters",
  ),
  unknown_account: detail(
    ["This workspace has no such connected account.", "Take the id from GET /accounts."],
    ["이 워크스페이스에 연결된 계정이 아닙니다.", "GET /accounts에 있는 id를 보내 주세요."],
  ),
  platform_unavailable: detail(
    ["This platform is not available here.", "The operator has not set it up."],
    ["여기서는 사용할 수 없는 플랫폼입니다.", "운영자가 설정하지 않았습니다."],
  ),
  unknown_media: detail(
    [
      "This workspace has no such media.",
      "Take the id from the answer to POST /media/presign or /media/from-url.",
    ],
    [
      "이 워크스페이스에 없는 미디어입니다.",
      "POST /media/presign이나 /media/from-url 응답에 있는 id를 보내 주세요.",
    ],
  ),
  media_not_ready: detail(
    ["The media is not ready yet.", "Complete its upload first: POST /media/ID/complete."],
    ["아직 준비되지 않은 미디어입니다.", "먼저 POST /media/ID/complete로 업로드를 완료해 주세요."],
  ),
  media_type_mismatch: detail(
    [
      "The type of the file differs from the declared one[: the file is {found}].",
      "Upload it again with POST /media/presign and {found|its real type} as the contentType.",
    ],
    [
      "선언한 형식과 다른 파일입니다[(실제 형식: {found})].",
      "POST /media/presign에서 contentType을 {found|실제 형식}(으)로 선언하고 다시 올려 주세요.",
    ],
  ),
  media_length_mismatch: detail(
    [
      "The length of the file differs from the declared one[: {actual} bytes instead of {limit}].",
      "Send all of it.",
    ],
    ["선언한 길이와 다른 파일입니다[({actual}바이트, 선언 {limit}바이트)].", "전체를 보내 주세요."],
    "bytes",
  ),
  media_unreadable: detail(
    ["The file is damaged or cut off.", "Upload a complete one."],
    ["손상되었거나 잘린 파일입니다.", "온전한 파일을 올려 주세요."],
  ),
  unknown_option_key: detail(
    [
      "This option belongs to no target of the post.",
      "Use a platform of the post, such as x, or the id of one of its accounts as the key.",
    ],
    [
      "이 게시물의 어떤 대상에도 해당하지 않는 옵션입니다.",
      "플랫폼이나 대상 계정의 id를 사용해 주세요.",
    ],
  ),
  schedule_in_past: detail(
    ["The time is in the past.", "Choose a later one, or omit it to publish now."],
    ["이미 지난 시각입니다.", "이후 시각을 고르거나, 지금 게시하려면 빼 주세요."],
  ),
  schedule_too_far: detail(
    ["The time is too far in the future[: at most {limit} days ahead].", "Choose an earlier one."],
    ["시각이 너무 멉니다[(최대 {limit}일 뒤)].", "더 이른 시각을 골라 주세요."],
    "days",
  ),
};
