import type { TargetErrorCode } from "@postrider/platforms/publishing/outcome";
import { entry, type PlatformTexts, type TargetErrorEntry, text } from "./entry.ts";

const FETCHED_BY_PLATFORM = text(
  "{name} fetches the files from this installation. Ask the operator whether its PUBLIC_URL can be reached from the internet (`postrider doctor config`), then {repeat}.",
  "{name}에서 이 서버의 파일을 직접 내려받습니다. PUBLIC_URL을 인터넷에서 열 수 있는지 운영자에게 확인을 요청한(`postrider doctor config`) 뒤 {repeat}.",
);
const ROLLING_DAY = text(
  "{name} counts the posts of the last 24 hours. Wait until the oldest of them no longer counts, then {repeat}.",
  "{name}에서는 최근 24시간의 게시물 수를 셉니다. 가장 오래된 게시물이 빠질 때까지 기다린 뒤 {repeat}.",
);

/** Advice for the platforms where it differs from the general one, here and below. */
const CONTENT_REMEDIES: PlatformTexts = {
  tiktok: text(
    "Change what the message names and publish a new post to this account; a retry would send the same content. GET /accounts/{id}/settings lists in `available` what TikTok offers this account.",
    "메시지가 알리는 부분을 고쳐 이 계정에 새로 게시해 주세요. 다시 시도하면 같은 내용이 전송됩니다. 이 계정에서 쓸 수 있는 값은 GET /accounts/{id}/settings의 `available`에 있습니다.",
  ),
};

const FETCH_REMEDIES: PlatformTexts = {
  instagram: FETCHED_BY_PLATFORM,
  tiktok: FETCHED_BY_PLATFORM,
};

const PERMISSION_REMEDIES: PlatformTexts = {
  telegram: text(
    "In Telegram, make the bot an administrator of the chat with the right to post messages, then {repeat}.",
    "텔레그램에서 봇을 메시지를 올릴 수 있는 관리자로 지정한 뒤 {repeat}.",
  ),
};

const OWNER_REMEDIES: PlatformTexts = {
  x: text(
    "Have the account's owner log in at x.com, where X asks to unlock or confirm the account, then {repeat}. If X asks for nothing, change the post as the message says and publish it anew.",
    "계정 소유자가 x.com에 로그인해 계정 잠금을 풀거나 본인 확인을 마친 뒤 {repeat}. X에서 요구하는 것이 없다면 메시지대로 내용을 고쳐 새로 게시해 주세요.",
  ),
  instagram: text(
    "Have the account's owner open the Instagram app and do what it asks (Settings, Account Status shows restrictions), then {repeat}.",
    "계정 소유자가 Instagram 앱을 열어 안내를 따른(제한 사항은 설정의 계정 상태에 있습니다) 뒤 {repeat}.",
  ),
  tiktok: text(
    "Have the account's owner open TikTok's inbox, which says whether the account may post, and do what it asks; then {repeat}.",
    "계정 소유자가 TikTok 알림에서 게시가 제한되었는지 확인하고 안내를 따른 뒤 {repeat}.",
  ),
  youtube: text(
    "Have the owner open studio.youtube.com: the Google account must have a channel that is not closed or suspended. Then {repeat}.",
    "소유자가 studio.youtube.com을 열어 채널이 있고 정지되지 않았는지 확인한 뒤 {repeat}.",
  ),
  telegram: text(
    "Check that the chat and its topic still exist and are open, then {repeat}. To post to another chat or topic, connect it: {connect}. Then publish the post anew.",
    "채팅방과 주제가 아직 있고 열려 있는지 확인한 뒤 {repeat}. 다른 채팅방이나 주제에 올리려면 {connect} 뒤 새로 게시해 주세요.",
  ),
  bluesky: text(
    "Have the owner log in to Bluesky: the account must be active, and videos need a confirmed email address. Then {repeat}.",
    "소유자가 Bluesky에 로그인해 계정이 활성 상태인지, 동영상이라면 이메일이 인증되었는지 확인한 뒤 {repeat}.",
  ),
};

const APP_REMEDIES: PlatformTexts = {
  x: text(
    "Ask the operator to check the app at developer.x.com; mostly its paid credits are used up. Then {repeat}.",
    "운영자가 developer.x.com에서 앱을 확인한(대부분 유료 크레딧이 소진된 경우입니다) 뒤 {repeat}.",
  ),
  tiktok: text(
    "Ask the operator to check the app at developers.tiktok.com: TikTok must have audited it and verified the address of the files. Until then TikTok accepts private posts only. Then {repeat}.",
    "운영자가 developers.tiktok.com에서 앱 심사와 파일 주소의 소유 확인을 마친 뒤 {repeat}. 그 전에는 TikTok에서 비공개 게시물만 받습니다.",
  ),
  youtube: text(
    "Ask the operator to enable the YouTube Data API in the app's Google project, then {repeat}.",
    "운영자가 앱의 Google 프로젝트에서 YouTube Data API를 켠 뒤 {repeat}.",
  ),
};

/**
 * What to do when a limit of the platform is used up, for each platform whose advice differs from
 * the general one.
 */
const LIMIT_REMEDIES: PlatformTexts = {
  instagram: ROLLING_DAY,
  tiktok: ROLLING_DAY,
  youtube: text(
    "YouTube's daily limit begins anew at midnight Pacific time. After that, {repeat}.",
    "YouTube 일일 한도는 태평양 시간 자정에 갱신됩니다. 그 뒤 {repeat}.",
  ),
};

/** Every error of a target, by its code: what happened, and what to do about it. */
export const TARGET_ERRORS: Readonly<Record<TargetErrorCode, TargetErrorEntry>> = {
  content_rejected: entry(
    ["The platform refused the content.", "플랫폼이 내용을 거부했습니다."],
    [
      "Change what the message names and publish a new post to this account; a retry would send the same content.",
      "메시지가 알리는 부분을 고쳐 이 계정에 새로 게시해 주세요. 다시 시도하면 같은 내용이 전송됩니다.",
    ],
    CONTENT_REMEDIES,
  ),
  media_rejected: entry(
    ["The platform refused the media.", "플랫폼이 미디어를 거부했습니다."],
    [
      "Compare the files with the `rules` of {name} in GET /platforms, upload corrected ones and publish a new post to this account; a retry would send the same files.",
      "GET /platforms에 있는 {name}의 `rules`와 파일을 비교하고, 고친 파일을 올려 이 계정에 새로 게시해 주세요. 다시 시도하면 같은 파일이 전송됩니다.",
    ],
  ),
  media_fetch_failed: entry(
    ["The platform could not fetch the media.", "플랫폼이 미디어를 가져가지 못했습니다."],
    [
      "Wait some minutes, then {repeat}. If the message says that the files no longer exist, upload them again for a new post.",
      "몇 분 뒤 {repeat}. 파일이 더 이상 없다는 메시지라면 다시 올려 새로 게시해 주세요.",
    ],
    FETCH_REMEDIES,
  ),
  duplicate_on_platform: entry(
    [
      "The platform refused the content because the account already posted it.",
      "이미 이 계정에 올라온 내용이라 플랫폼이 거부했습니다.",
    ],
    [
      "Look at the account on {name}: if the post is there, do nothing, or record it as published in the dashboard. To post it once more, publish a new post with another text.",
      "{name}에서 계정을 확인해 게시물이 있으면 그대로 두거나 대시보드에서 게시된 것으로 기록해 주세요. 한 번 더 올리려면 본문을 바꿔 새로 게시해 주세요.",
    ],
  ),
  permission_missing: entry(
    ["The account's connection lacks a permission.", "계정 연결에 권한이 부족합니다."],
    [
      "Connect the account again and leave all permissions selected (GET /accounts lists what is missing in `permissions.missing`): {connect}. Then {repeat}.",
      "요청된 권한을 모두 허용해 계정을 다시 연결해 주세요(부족한 기능은 GET /accounts의 `permissions.missing`에 있습니다): {connect} 뒤 {repeat}.",
    ],
    PERMISSION_REMEDIES,
  ),
  account_reconnect_required: entry(
    ["The account's access has ended.", "계정의 접근 권한이 만료되었습니다."],
    [
      "Connect the account again; it keeps its id: {connect}. Then {repeat}.",
      "계정을 다시 연결해 주세요(id는 그대로입니다): {connect} 뒤 {repeat}.",
    ],
  ),
  account_disconnected: entry(
    ["The account was disconnected.", "연결이 해제된 계정입니다."],
    [
      "Connect the account again, which gives it the same id: {connect}. Then {repeat}.",
      "계정을 다시 연결하면 같은 id로 돌아옵니다: {connect} 뒤 {repeat}.",
    ],
  ),
  account_action_needed: entry(
    ["The platform asks the account's owner to act.", "플랫폼이 계정 소유자의 조치를 요구합니다."],
    [
      "Have the account's owner log in to {name} and do what it asks, then {repeat}.",
      "계정 소유자가 {name}에 로그인해 안내를 따른 뒤 {repeat}.",
    ],
    OWNER_REMEDIES,
  ),
  app_configuration: entry(
    ["The platform refused the operator's app.", "플랫폼이 운영자의 앱을 거부했습니다."],
    [
      "Ask the operator to run `postrider doctor config` and to correct the app on {name}, then {repeat}.",
      "운영자가 `postrider doctor config`를 실행해 {name}의 앱을 고친 뒤 {repeat}.",
    ],
    APP_REMEDIES,
  ),
  platform_quota: entry(
    [
      "The platform's limit for this account is used up.",
      "이 계정의 플랫폼 한도를 모두 사용했습니다.",
    ],
    [
      "Wait until the limit resets (`resetsAt` in GET /quota says when), then {repeat}.",
      "한도가 갱신될 때까지 기다린(시각은 GET /quota의 `resetsAt`에 있습니다) 뒤 {repeat}.",
    ],
    LIMIT_REMEDIES,
  ),
  rate_limited: entry(
    ["The platform accepts no more requests for now.", "지금은 플랫폼이 요청을 더 받지 않습니다."],
    [
      "Wait at least 15 minutes without posting to this account, then {repeat}.",
      "이 계정에 15분 이상 게시하지 않고 기다린 뒤 {repeat}.",
    ],
  ),
  platform_unavailable: entry(
    ["The platform did not answer correctly.", "플랫폼이 정상적으로 응답하지 않았습니다."],
    [
      "Postrider no longer tries by itself. When {name} works again, {repeat}.",
      "더 이상 자동으로 다시 시도하지 않습니다. {name}에서 정상적으로 응답하면 {repeat}.",
    ],
  ),
  outcome_unknown: entry(
    ["It is not known whether this was published.", "게시되었는지 알 수 없습니다."],
    [
      "Look at the account on {name} before you send it again. If the post is there, ask the operator to record it: `postrider target resolve ID --published URL`, with the `id` of this target. If it is not, the operator records `--absent`; then {repeat}.",
      "다시 보내기 전에 {name}에서 계정을 확인해 주세요. 게시물이 있으면 운영자에게 이 대상의 `id`로 `postrider target resolve ID --published URL` 기록을 요청해 주세요. 없으면 운영자가 `--absent`로 기록한 뒤 {repeat}.",
    ],
  ),
  duplicate_detected: entry(
    ["The post is on the account twice.", "게시물이 계정에 두 번 올라갔습니다."],
    [
      "Delete one of the two on {name}: `permalink` is the address of one, and the message names the other.",
      "{name}에서 둘 중 하나를 삭제해 주세요. 하나의 주소는 `permalink`이고, 다른 하나는 메시지에 있습니다.",
    ],
  ),
  missed: entry(
    [
      "The service was down when this was due, and it is too late to send it.",
      "예정된 시각에 서비스가 멈춰 있었고, 보내기에는 너무 늦었습니다.",
    ],
    [
      "If it should still be published, {repeat}. It is then published at once.",
      "지금이라도 게시하려면 {repeat}. 바로 게시됩니다.",
    ],
  ),
  internal_error: entry(
    ["Something went wrong on our side.", "서비스에 문제가 생겼습니다."],
    [
      "Wait a minute, then {repeat}. If it fails again, give the operator the `id` of this record.",
      "1분쯤 기다린 뒤 {repeat}. 또 실패하면 운영자에게 이 기록의 `id`를 알려 주세요.",
    ],
  ),
};

/** Every code that the API returns in the `error.code` of a target. */
export const TARGET_ERROR_CODES = Object.keys(TARGET_ERRORS) as readonly TargetErrorCode[];
