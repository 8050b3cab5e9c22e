import { error } from "./entry.ts";

/** Every error of the API, by the code that it has in `error.code`: status, cause and remedy. */
export const ERRORS = {
  invalid_request: error(
    400,
    ["The request is not valid.", "Correct what the details name and send it again."],
    ["요청이 올바르지 않습니다.", "세부 항목을 고친 뒤 다시 보내 주세요."],
  ),
  workspace_required: error(
    400,
    ["This API key belongs to several workspaces.", "Name one in the X-Workspace-Id header."],
    [
      "이 API 키는 여러 워크스페이스에 속해 있습니다.",
      "X-Workspace-Id 헤더로 하나를 지정해 주세요.",
    ],
  ),
  invalid_cursor: error(
    400,
    [
      "The cursor does not belong to this list.",
      "Start again without a cursor, or keep the filters it was made for.",
    ],
    [
      "이 목록에서 쓸 수 없는 커서입니다.",
      "커서 없이 다시 시작하거나 커서를 받을 때의 필터를 유지해 주세요.",
    ],
  ),
  unauthenticated: error(
    401,
    ["No valid API key was sent.", "Send one in the header Authorization: Bearer <API_KEY>."],
    ["유효한 API 키가 없습니다.", "Authorization: Bearer <API_KEY> 헤더로 키를 보내 주세요."],
  ),
  insufficient_scope: error(
    403,
    [
      "This API key lacks the scope that the operation needs[: {allowed}].",
      "Use a key that has it; the operator makes keys.",
    ],
    [
      "이 API 키에는 이 작업에 필요한 권한 범위가 없습니다[({allowed})].",
      "해당 범위가 있는 키를 사용해 주세요. 키는 운영자가 만듭니다.",
    ],
  ),
  workspace_forbidden: error(
    403,
    [
      "This API key does not belong to the workspace named in X-Workspace-Id.",
      "Name one that it belongs to, or leave the header out if the key has only one.",
    ],
    [
      "이 API 키는 X-Workspace-Id로 지정한 워크스페이스에 속해 있지 않습니다.",
      "속한 워크스페이스를 지정하고, 키의 워크스페이스가 하나뿐이면 헤더를 빼 주세요.",
    ],
  ),
  verification_required: error(
    403,
    [
      "This workspace is not verified yet.",
      "It can read and validate; ask the operator to verify it before posting.",
    ],
    [
      "아직 인증되지 않은 워크스페이스입니다.",
      "조회와 검증만 가능하니 게시하려면 운영자에게 인증을 요청해 주세요.",
    ],
  ),
  not_found: error(
    404,
    [
      "This does not exist in the workspace, or no longer.",
      "Take the id from a list, such as GET /posts, or from the answer that created the resource.",
    ],
    [
      "이 워크스페이스에 없거나 삭제되었습니다.",
      "GET /posts와 같은 목록이나 생성 응답에 있는 id를 사용해 주세요.",
    ],
  ),
  method_not_allowed: error(
    405,
    [
      "This path supports only {allowed|the methods in the Allow header}.",
      "Use one of them, or another path.",
    ],
    [
      "이 경로에서는 {allowed|Allow 헤더에 있는 메서드}만 지원합니다.",
      "지원하는 메서드나 다른 경로를 사용해 주세요.",
    ],
  ),
  post_not_editable: error(
    409,
    [
      "The post can no longer be changed[: its status is {status}].",
      "Only drafts and scheduled posts can; create a new post instead.",
    ],
    [
      "더 이상 수정할 수 없는 게시물입니다[(현재 상태: {status})].",
      "초안과 예약된 게시물만 수정할 수 있으니 새 게시물을 만들어 주세요.",
    ],
  ),
  upload_already_received: error(
    409,
    ["The file for this upload has already arrived.", "Complete it, or ask for a new upload."],
    ["이 업로드의 파일은 이미 도착했습니다.", "업로드를 완료하거나 새 업로드를 요청해 주세요."],
  ),
  account_reconnect_required: error(
    409,
    ["The account's access has ended.", "Connect the account again, then repeat the request."],
    ["계정의 접근 권한이 만료되었습니다.", "계정을 다시 연결한 뒤 요청해 주세요."],
  ),
  post_publishing: error(
    409,
    [
      "The post is being published right now.",
      "Wait until it has finished (GET /posts/{id}?waitFor=final), then try again.",
    ],
    ["게시가 진행 중입니다.", "끝난 뒤 다시 시도해 주세요."],
  ),
  nothing_to_retry: error(
    409,
    [
      "The post has no failed target that could be sent again.",
      "Read the post: its targets say what became of each.",
    ],
    ["다시 보낼 수 있는 실패한 대상이 없습니다.", "게시물을 조회해 대상별 결과를 확인해 주세요."],
  ),
  duplicate_content: error(
    409,
    [
      "The same content was already sent to this account in the last 24 hours.",
      "Change it, or send force: true to publish it anyway.",
    ],
    [
      "최근 24시간 안에 같은 내용을 이 계정으로 보냈습니다.",
      "내용을 바꾸거나, 그대로 보내려면 force를 설정해 주세요.",
    ],
  ),
  no_queue_slot: error(
    409,
    [
      "The queue has no free slot.",
      "Add a rule with POST /queue-slots or resume one, or send scheduledAt instead of queueSlot.",
    ],
    [
      "비어 있는 예약 슬롯이 없습니다.",
      "POST /queue-slots로 규칙을 추가하거나 다시 켜고, 또는 queueSlot 대신 scheduledAt을 보내 주세요.",
    ],
  ),
  media_in_use: error(
    409,
    ["A post uses this media.", "Delete or change the post first."],
    ["게시물에서 사용 중인 미디어입니다.", "먼저 게시물을 삭제하거나 수정해 주세요."],
  ),
  media_not_uploaded: error(
    409,
    [
      "The file has not been uploaded yet.",
      "Send its bytes with PUT to the uploadUrl of POST /media/presign, then complete the upload.",
    ],
    [
      "파일이 아직 업로드되지 않았습니다.",
      "POST /media/presign 응답의 uploadUrl로 파일을 PUT한 뒤 완료를 요청해 주세요.",
    ],
  ),
  delivery_not_failed: error(
    409,
    [
      "Only a failed delivery can be sent again.",
      "Wait until this one has failed, or read its attempts.",
    ],
    ["실패한 전송만 다시 보낼 수 있습니다.", "실패할 때까지 기다리거나 시도 내역을 확인해 주세요."],
  ),
  invalid_transition: error(
    409,
    [
      "The current status[, {status},] does not allow this.",
      "Read the resource and try again[; the status must be {allowed}].",
    ],
    [
      "현재 상태[({status})]에서는 할 수 없는 작업입니다.",
      "다시 조회한 뒤 시도해 주세요[(가능한 상태: {allowed})].",
    ],
  ),
  idempotency_conflict: error(
    409,
    [
      "A request with this Idempotency-Key is being processed.",
      "Wait a moment and send the same request again.",
    ],
    ["같은 Idempotency-Key의 요청을 처리하고 있습니다.", "잠시 뒤 같은 요청을 다시 보내 주세요."],
  ),
  precondition_failed: error(
    412,
    ["The resource has changed since it was read.", "Read it again and use its new ETag."],
    ["조회한 뒤에 내용이 변경되었습니다.", "다시 조회해 새 ETag를 사용해 주세요."],
  ),
  payload_too_large: error(
    413,
    ["The request is too large[: {actual} bytes, at most {limit} are allowed].", "Send less."],
    ["요청이 너무 큽니다[({actual}바이트, 최대 {limit}바이트)].", "크기를 줄여 주세요."],
  ),
  unsupported_media_type: error(
    415,
    [
      "The content type is not supported.",
      "Send JSON in UTF-8 with the header Content-Type: application/json, or with an upload the type that was declared.",
    ],
    [
      "지원하지 않는 형식입니다.",
      "UTF-8로 된 application/json을, 업로드에는 선언한 형식을 보내 주세요.",
    ],
  ),
  validation_failed: error(
    422,
    ["The request cannot be carried out.", "Correct what the details name and send it again."],
    ["요청을 그대로 처리할 수 없습니다.", "세부 항목을 고친 뒤 다시 보내 주세요."],
  ),
  quota_exceeded: error(
    422,
    [
      "The publication quota does not allow this.",
      "The details say which limit was reached and when it resets.",
    ],
    ["게시 한도를 넘습니다.", "어떤 한도인지와 언제 갱신되는지는 세부 항목에 있습니다."],
  ),
  idempotency_key_reused: error(
    422,
    ["This Idempotency-Key was used for a different request.", "Use a new key for a new request."],
    ["이미 다른 요청에 사용한 Idempotency-Key입니다.", "새 요청에는 새 키를 사용해 주세요."],
  ),
  media_rejected: error(
    422,
    [
      "The file differs from its declaration or is not allowed.",
      "Check its type and its size and upload another.",
    ],
    [
      "파일이 선언한 내용과 다르거나 허용되지 않습니다.",
      "형식과 크기를 확인하고 다른 파일을 올려 주세요.",
    ],
  ),
  import_failed: error(
    422,
    [
      "The file could not be downloaded.",
      "Check that the URL is reachable and answers with the file itself.",
    ],
    ["파일을 내려받지 못했습니다.", "URL에 접근할 수 있고 파일이 바로 응답되는지 확인해 주세요."],
  ),
  address_not_allowed: error(
    422,
    ["The URL leads to an address that is not public.", "Use a public address."],
    ["URL이 공개되지 않은 주소를 가리킵니다.", "공개 주소를 사용해 주세요."],
  ),
  rate_limited: error(
    429,
    ["Too many requests.", "Wait as long as Retry-After says and try again."],
    ["요청이 너무 많습니다.", "Retry-After만큼 기다린 뒤 다시 시도해 주세요."],
  ),
  internal: error(
    500,
    ["Something went wrong on our side.", "Try again, and report the request id if it persists."],
    ["서비스에 문제가 생겼습니다.", "다시 시도하고, 계속되면 요청 id를 알려 주세요."],
  ),
  unavailable: error(
    503,
    ["The service cannot answer right now.", "Wait as long as Retry-After says and try again."],
    ["지금은 서비스가 응답할 수 없습니다.", "Retry-After만큼 기다린 뒤 다시 시도해 주세요."],
  ),
  upstream_timeout: error(
    504,
    ["A service took too long to answer.", "Read the resource before you try again."],
    ["응답이 너무 오래 걸렸습니다.", "다시 시도하기 전에 먼저 조회해 주세요."],
  ),
};
