import { detail } from "./entry.ts";
import { STORAGE_DETAILS } from "./storage-details.ts";

export const STATE_DETAILS = {
  "mcp:drafts": detail(
    [
      "This API key was made for an agent that may only create and change drafts, through MCP (--mcp draft-only); outside of /mcp it can only read.",
      "Use another key for changes.",
    ],
    [
      "이 API 키는 MCP로 초안만 만들고 수정하는 에이전트용 키(--mcp draft-only)이므로, /mcp 밖에서는 조회만 할 수 있습니다.",
      "변경하려면 다른 키를 사용해 주세요.",
    ],
  ),
  monthly: detail(
    [
      "The monthly quota does not allow this[: the limit is {limit}, used {used}, reserved {reserved}, requested {requested}].",
      "Wait until the limit resets[ at {resetsAt}], or ask the operator for a higher one.",
    ],
    [
      "월간 한도를 넘습니다[(한도 {limit}, 사용 {used}, 예약 {reserved}, 요청 {requested})].",
      "한도가 갱신될 때까지[({resetsAt})] 기다리거나 운영자에게 상향을 요청해 주세요.",
    ],
    "publications",
  ),
  daily: detail(
    [
      "The daily limit does not allow this[: the limit is {limit}, used {used}, reserved {reserved}, requested {requested}].",
      "Wait until the limit resets[ at {resetsAt}], or choose a later day.",
    ],
    [
      "일일 한도를 넘습니다[(한도 {limit}, 사용 {used}, 예약 {reserved}, 요청 {requested})].",
      "한도가 갱신될 때까지[({resetsAt})] 기다리거나 다른 날을 선택해 주세요.",
    ],
    "publications",
  ),
  daily_shared: detail(
    [
      "All workspaces share the daily limit of this app or project, and together they leave too little of it[: the limit is {limit}, requested {requested}].",
      "Wait until the limit resets[ at {resetsAt}], or choose a later day. GET /quota shows what remains today.",
    ],
    [
      "모든 워크스페이스가 함께 쓰는 앱 또는 프로젝트의 일일 한도가 거의 또는 모두 사용되었습니다[(한도 {limit}, 요청 {requested})].",
      "한도가 갱신될 때까지[({resetsAt})] 기다리거나 다른 날을 선택해 주세요. 오늘 남은 양은 GET /quota에서 볼 수 있습니다.",
    ],
    "publications",
  ),
  ...STORAGE_DETAILS,
  too_many_drafts: detail(
    [
      "The workspace has as many drafts as it may have[: {actual} of {limit}].",
      "Delete or publish drafts that are not needed, or ask the operator for a higher limit.",
    ],
    [
      "초안 개수가 한도에 이르렀습니다[(한도 {limit}개, 현재 {actual}개)].",
      "쓰지 않는 초안을 삭제하거나 게시하고, 또는 운영자에게 상향을 요청해 주세요.",
    ],
    "drafts",
  ),
  post_storage: detail(
    [
      "The texts and options of the workspace's posts take as much space as they may[: {actual} of {limit} bytes].",
      "Delete drafts and scheduled posts with long texts, or ask the operator for a higher limit.",
    ],
    [
      "게시물의 본문과 옵션이 저장 용량 한도에 이르렀습니다[(한도 {limit}바이트, 현재 {actual}바이트)].",
      "본문이 긴 초안과 예약 게시물을 삭제하거나 운영자에게 상향을 요청해 주세요.",
    ],
    "bytes",
  ),
  too_many_rules: detail(
    [
      "The workspace has too many rules of this kind[: at most {limit}].",
      "Delete or revoke one first.",
    ],
    ["이 종류의 규칙이 너무 많습니다[(최대 {limit}개)].", "먼저 하나를 삭제하거나 취소해 주세요."],
    "rules",
  ),
  too_many_accounts: detail(
    [
      "The workspace has too many connected accounts[: at most {limit}].",
      "Disconnect accounts that are not needed, or connect this one in another workspace.",
    ],
    [
      "연결된 계정이 너무 많습니다[(최대 {limit}개)].",
      "쓰지 않는 계정의 연결을 끊거나 다른 워크스페이스에 연결해 주세요.",
    ],
    "accounts",
  ),
  too_many_keys: detail(
    [
      "The workspace has, or this key made, too many API keys[: at most {limit}].",
      "Revoke one first.",
    ],
    [
      "워크스페이스의 API 키 또는 이 키가 만든 키가 너무 많습니다[(최대 {limit}개)].",
      "먼저 하나를 폐기해 주세요.",
    ],
    "keys",
  ),
  too_many_subscriptions: detail(
    ["The workspace has too many webhook subscriptions[: at most {limit}].", "Revoke one first."],
    ["웹훅 구독이 너무 많습니다[(최대 {limit}개)].", "먼저 하나를 취소해 주세요."],
    "subscriptions",
  ),
  too_many_waiting_deliveries: detail(
    [
      "Too many webhook deliveries of the workspace, or to this host, wait to be sent[: at most {limit}].",
      "Retry the delivery when fewer wait.",
    ],
    [
      "전송을 기다리는 웹훅이 너무 많습니다[(최대 {limit}개)].",
      "대기 중인 웹훅이 줄어든 뒤 다시 시도해 주세요.",
    ],
    "deliveries",
  ),
  platform_unsupported: detail(
    [
      "This feature does not exist on the account's platform.",
      "Use an account on {choice|another platform}.",
    ],
    ["이 계정의 플랫폼에는 없는 기능입니다.", "{choice|다른 플랫폼}의 계정을 사용해 주세요."],
  ),
  permission_missing: detail(
    [
      "The account's connection lacks the permission for this.",
      "Connect the account again and grant everything asked for.",
    ],
    [
      "계정 연결에 이 작업의 권한이 없습니다.",
      "요청된 권한을 모두 허용해 계정을 다시 연결해 주세요.",
    ],
  ),
  outcome_unknown: detail(
    [
      "It is not known whether this was published.",
      "Look at the account on the platform, and ask the operator to record what you see (postrider target resolve).",
    ],
    [
      "게시되었는지 알 수 없습니다.",
      "플랫폼에서 확인한 결과를 운영자에게 알려 기록하게 해 주세요(postrider target resolve).",
    ],
  ),
  wrong_status: detail(
    [
      "The status is {status|another one}, and this needs {choice|another status}.",
      "Read the resource, and send this only in such a status.",
    ],
    [
      "현재 상태는 {status|다른 상태}이며, {choice|다른 상태}여야 합니다.",
      "다시 조회해 가능한 상태일 때만 보내 주세요.",
    ],
  ),
  secret_unsupported: detail(
    [
      "A subscription that is signed with Ed25519 has no secret.",
      "Leave rotateSecret out, and verify with the publicKey of the subscription.",
    ],
    [
      "Ed25519로 서명하는 구독에는 비밀 키가 없습니다.",
      "rotateSecret을 빼고, 구독의 publicKey로 검증해 주세요.",
    ],
  ),
  webhook_not_public: detail(
    [
      "Webhooks are sent to public addresses only, and this one is inside a private network or on this machine.",
      "Use the public URL of your endpoint. In development, start Postrider with its address and port in OUTBOUND_ALLOW, for example OUTBOUND_ALLOW=127.0.0.1:3000, or use a tunnel that gives it a public https URL.",
    ],
    [
      "웹훅은 공개 주소로만 보냅니다. 이 주소는 사설 네트워크 또는 이 컴퓨터의 주소입니다.",
      "엔드포인트의 공개 URL을 사용해 주세요. 개발 중에는 OUTBOUND_ALLOW=127.0.0.1:3000처럼 주소와 포트를 OUTBOUND_ALLOW에 넣어 Postrider를 시작하거나, 공개 https URL을 주는 터널을 사용해 주세요.",
    ],
  ),
  download_refused: detail(
    [
      "The server of the URL answered with the status {status|of an error}.",
      "Use a URL that answers 200 with the file itself, without a login.",
    ],
    [
      "URL의 서버가 상태 {status|오류}(으)로 응답했습니다.",
      "로그인 없이 200과 파일을 응답하는 URL을 사용해 주세요.",
    ],
  ),
  upload_type_differs: detail(
    [
      "The upload was declared as {allowed|another type}, and is sent as {found|another type}.",
      "Send the bytes of the file alone and no form, for example with curl -T FILE and the header Content-Type: {allowed|of the declared type}.",
    ],
    [
      "{allowed|다른 형식}(으)로 선언한 업로드를 {found|다른 형식}(으)로 보냈습니다.",
      "양식(form)이 아니라 파일의 바이트만 보내 주세요. 예: curl -T FILE, 헤더 Content-Type: {allowed|선언한 형식}.",
    ],
  ),
  download_not_media: detail(
    [
      "The address answered with {reason|something else}[ ({found})] instead of an image or video.",
      "Use {expected|a URL that answers with the file itself, without a login or a page in between}.",
    ],
    [
      "주소가 이미지나 동영상이 아닌 {reason|다른 내용}[({found})](으)로 응답했습니다.",
      "{expected|로그인이나 중간 페이지 없이 파일을 바로 응답하는 URL}(을)를 사용해 주세요.",
    ],
  ),
  download_broken: detail(
    [
      "The download did not succeed[: {reason}].",
      "Check that the URL is reachable from the internet, and try again.",
    ],
    [
      "내려받지 못했습니다[({reason})].",
      "인터넷에서 접근할 수 있는 URL인지 확인한 뒤 다시 시도해 주세요.",
    ],
  ),
  already_sent: detail(
    [
      "It was sent with the post {postId|of this workspace}, which has begun to be published, so its description and cover can no longer change.",
      "Upload the file again for another post.",
    ],
    [
      "이 미디어를 쓰는 게시물 {postId|}의 게시가 시작되어 설명과 커버를 바꿀 수 없습니다.",
      "다른 게시물에는 파일을 다시 업로드해 주세요.",
    ],
  ),
  used_by_post: detail(
    ["The post {postId|of this workspace} uses it.", "Delete or change the post first."],
    ["게시물 {postId|}에서 사용 중입니다.", "먼저 게시물을 삭제하거나 수정해 주세요."],
  ),
};
