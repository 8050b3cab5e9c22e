import { type PlatformTexts, text } from "./entry.ts";

const FETCHED_BY_PLATFORM = text(
  "{name} fetches the files from this installation. Ask the operator whether its PUBLIC_URL can be reached from the internet (`postrider doctor config`), then {repeat}.",
  "{name}에서 이 서버의 파일을 직접 내려받습니다. PUBLIC_URL을 인터넷에서 열 수 있는지 운영자에게 확인을 요청한(`postrider doctor config`) 뒤 {repeat}.",
);
const ROLLING_DAY = text(
  "{name} counts the posts of the last 24 hours. Wait until the oldest of them no longer counts, then {repeat}.",
  "{name}에서는 최근 24시간의 게시물 수를 셉니다. 가장 오래된 게시물이 빠질 때까지 기다린 뒤 {repeat}.",
);

/** What to do when a platform refuses content, for each platform whose advice differs from the general one. */
export const CONTENT_REMEDIES: PlatformTexts = {
  tiktok: text(
    "Change what the message names and publish a new post to this account; a retry would send the same content. GET /accounts/{id}/settings lists in `available` what TikTok offers this account.",
    "메시지가 알리는 부분을 고쳐 이 계정에 새로 게시해 주세요. 다시 시도하면 같은 내용이 전송됩니다. 이 계정에서 쓸 수 있는 값은 GET /accounts/{id}/settings의 `available`에 있습니다.",
  ),
};

/** What to do when a platform could not fetch files, for each platform whose advice differs from the general one. */
export const FETCH_REMEDIES: PlatformTexts = {
  instagram: FETCHED_BY_PLATFORM,
  tiktok: FETCHED_BY_PLATFORM,
};

/** What to do when a permission is missing, for each platform whose advice differs from the general one. */
export const PERMISSION_REMEDIES: PlatformTexts = {
  telegram: text(
    "In Telegram, make the bot an administrator of the chat with the right to post messages, then {repeat}.",
    "텔레그램에서 봇을 메시지를 올릴 수 있는 관리자로 지정한 뒤 {repeat}.",
  ),
};

/** What to do when the account's owner has to act, for each platform whose advice differs from the general one. */
export const OWNER_REMEDIES: PlatformTexts = {
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

/** What to do when a platform refuses the app, for each platform whose advice differs from the general one. */
export const APP_REMEDIES: PlatformTexts = {
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

/** What to do when a limit of the platform is used up, for each platform whose advice differs from the general one. */
export const LIMIT_REMEDIES: PlatformTexts = {
  instagram: ROLLING_DAY,
  tiktok: ROLLING_DAY,
  youtube: text(
    "YouTube's daily limit begins anew at midnight Pacific time. After that, {repeat}.",
    "YouTube 일일 한도는 태평양 시간 자정에 갱신됩니다. 그 뒤 {repeat}.",
  ),
};
