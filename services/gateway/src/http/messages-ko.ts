import type { ErrorCode, ViolationCode } from "#src/http/error-codes.ts";

/** Korean messages of API errors and error details, by code, in the same form as the English messages. */
export const MESSAGES_KO: Readonly<Record<ErrorCode | ViolationCode, string>> = {
  invalid_request: "요청이 올바르지 않습니다. 세부 항목을 고친 뒤 다시 보내 주세요.",
  workspace_required:
    "이 API 키는 여러 워크스페이스에 속해 있습니다. X-Workspace-Id 헤더로 하나를 지정해 주세요.",
  invalid_cursor:
    "이 목록에서 쓸 수 없는 커서입니다. 커서 없이 다시 시작하거나 커서를 받을 때의 필터를 유지해 주세요.",
  unauthenticated:
    "유효한 API 키가 없습니다. Authorization: Bearer <API_KEY> 헤더로 키를 보내 주세요.",
  insufficient_scope:
    "이 API 키에는 이 작업에 필요한 권한 범위가 없습니다. 해당 범위가 있는 키를 사용해 주세요.",
  workspace_forbidden:
    "이 API 키는 X-Workspace-Id로 지정한 워크스페이스에 속해 있지 않습니다. 속한 워크스페이스를 지정해 주세요.",
  verification_required:
    "아직 인증되지 않은 워크스페이스입니다. 조회와 검증만 가능하니 게시하려면 운영자에게 인증을 요청해 주세요.",
  not_found: "찾을 수 없습니다. 경로와 id를 확인해 주세요.",
  method_not_allowed:
    "이 경로에서 지원하지 않는 메서드입니다. 지원하는 메서드는 Allow 헤더에 있습니다.",
  post_not_editable:
    "더 이상 수정할 수 없는 게시물입니다. 초안과 예약된 게시물만 수정할 수 있습니다.",
  upload_already_received:
    "이 업로드의 파일은 이미 도착했습니다. 업로드를 완료하거나 새 업로드를 요청해 주세요.",
  account_reconnect_required:
    "계정의 접근 권한이 만료되었습니다. 계정을 다시 연결한 뒤 요청해 주세요.",
  post_publishing: "게시가 진행 중입니다. 끝난 뒤 다시 시도해 주세요.",
  nothing_to_retry: "다시 보낼 수 있는 실패한 대상이 없습니다.",
  duplicate_content:
    "최근 24시간 안에 같은 내용을 이 계정으로 보냈습니다. 내용을 바꾸거나, 그대로 보내려면 force를 설정해 주세요.",
  no_queue_slot:
    "비어 있는 예약 슬롯이 없습니다. 규칙을 추가하거나 다시 켜거나, 시각을 직접 정해 주세요.",
  media_in_use: "게시물에서 사용 중인 미디어입니다. 먼저 게시물을 삭제하거나 수정해 주세요.",
  media_not_uploaded: "파일이 아직 업로드되지 않았습니다. 먼저 업로드한 뒤 완료를 요청해 주세요.",
  delivery_not_failed: "실패한 전송만 다시 보낼 수 있습니다.",
  invalid_transition: "현재 상태에서는 할 수 없는 작업입니다. 다시 조회한 뒤 시도해 주세요.",
  idempotency_conflict:
    "같은 Idempotency-Key의 요청을 처리하고 있습니다. 잠시 뒤 같은 요청을 다시 보내 주세요.",
  precondition_failed: "조회한 뒤에 내용이 변경되었습니다. 다시 조회해 새 ETag를 사용해 주세요.",
  payload_too_large:
    "요청이 너무 큽니다[({actual}바이트, 최대 {limit}바이트)]. 크기를 줄여 주세요.",
  unsupported_media_type:
    "지원하지 않는 형식입니다. UTF-8로 된 application/json을, 업로드에는 선언한 형식을 보내 주세요.",
  validation_failed: "요청을 그대로 처리할 수 없습니다. 세부 항목을 고친 뒤 다시 보내 주세요.",
  quota_exceeded: "게시 한도를 넘습니다. 어떤 한도인지와 언제 갱신되는지는 세부 항목에 있습니다.",
  idempotency_key_reused:
    "이미 다른 요청에 사용한 Idempotency-Key입니다. 새 요청에는 새 키를 사용해 주세요.",
  media_rejected:
    "파일이 선언한 내용과 다르거나 허용되지 않습니다. 형식과 크기를 확인하고 다른 파일을 올려 주세요.",
  import_failed:
    "파일을 내려받지 못했습니다. URL에 접근할 수 있고 파일이 바로 응답되는지 확인해 주세요.",
  address_not_allowed: "URL이 공개되지 않은 주소를 가리킵니다. 공개 주소를 사용해 주세요.",
  rate_limited: "요청이 너무 많습니다. Retry-After만큼 기다린 뒤 다시 시도해 주세요.",
  internal: "서비스에 문제가 생겼습니다. 다시 시도하고, 계속되면 요청 id를 알려 주세요.",
  unavailable: "지금은 서비스가 응답할 수 없습니다. Retry-After만큼 기다린 뒤 다시 시도해 주세요.",
  upstream_timeout: "응답이 너무 오래 걸렸습니다. 다시 시도하기 전에 먼저 조회해 주세요.",

  content_required: "본문도 미디어도 없습니다. 둘 중 하나를 추가해 주세요.",
  content_too_long: "본문이 너무 깁니다[({actual}, 최대 {limit})]. 줄여 주세요.",
  too_many_hashtags: "해시태그가 너무 많습니다[({actual}개, 최대 {limit}개)]. 줄여 주세요.",
  too_many_mentions: "멘션이 너무 많습니다[({actual}개, 최대 {limit}개)]. 줄여 주세요.",
  alt_text_too_long:
    "이 플랫폼에는 미디어 설명이 너무 깁니다[({actual}자, 최대 {limit}자)]. 줄여 주세요.",
  media_required: "이 플랫폼에는 미디어가 필요합니다. 이미지나 동영상을 추가해 주세요.",
  too_few_media: "미디어가 너무 적습니다[({actual}개, 최소 {limit}개)]. 더 추가해 주세요.",
  too_many_media: "미디어가 너무 많습니다[({actual}개, 최대 {limit}개)]. 줄여 주세요.",
  media_mix_unsupported:
    "이 플랫폼은 이런 종류의 미디어를 한 게시물에 함께 받지 않습니다. 한 종류만 보내 주세요.",
  media_type_unsupported: "받지 않는 파일 형식입니다. 다른 형식을 사용해 주세요.",
  media_too_large:
    "파일이 너무 큽니다[({actual}바이트, 최대 {limit}바이트)]. 더 작은 파일을 사용해 주세요.",
  media_dimensions:
    "미디어의 너비, 높이 또는 비율이 허용되지 않습니다[({actual}, 한도 {limit})]. 크기를 바꾸거나 잘라 주세요.",
  media_duration:
    "동영상의 길이가 허용되지 않습니다[({actual}초, 한도 {limit}초)]. 길이를 맞춰 주세요.",
  title_required: "이 플랫폼에는 제목이 필요합니다. 옵션에서 설정해 주세요.",
  title_too_long: "제목이 너무 깁니다[({actual}, 최대 {limit})]. 줄여 주세요.",
  title_unsupported: "이 플랫폼에는 제목이 없습니다. 제목을 빼 주세요.",
  privacy_required: "이 플랫폼에서는 공개 범위를 골라야 합니다. 옵션에서 설정해 주세요.",
  privacy_unsupported: "이 플랫폼에 없는 공개 범위입니다. 다른 값을 고르거나 빼 주세요.",
  tags_unsupported:
    "이 플랫폼에는 태그 항목이 없습니다. 태그를 빼거나 본문에 해시태그로 적어 주세요.",
  tags_too_long: "태그가 너무 깁니다[({actual}, 최대 {limit})]. 줄여 주세요.",
  forbidden_characters:
    "받을 수 없는 문자가 있습니다[: 결합 문자가 {actual}개 이어져 있고 최대 {limit}개까지 허용됩니다]. 해당 문자를 빼 주세요.",
  unknown_account: "이 워크스페이스에 연결된 계정이 아닙니다. id를 확인해 주세요.",
  platform_unavailable: "여기서는 사용할 수 없는 플랫폼입니다. 운영자가 설정하지 않았습니다.",
  unknown_media: "이 워크스페이스에 없는 미디어입니다. id를 확인해 주세요.",
  media_not_ready: "아직 준비되지 않은 미디어입니다. 먼저 업로드를 완료해 주세요.",
  media_type_mismatch: "선언한 형식과 다른 파일입니다. 실제 형식을 선언해 주세요.",
  media_length_mismatch:
    "선언한 길이와 다른 파일입니다[({actual}바이트, 선언 {limit}바이트)]. 전체를 보내 주세요.",
  media_unreadable: "손상되었거나 잘린 파일입니다. 온전한 파일을 올려 주세요.",
  unknown_option_key:
    "이 게시물의 어떤 대상에도 해당하지 않는 옵션입니다. 플랫폼이나 대상 계정의 id를 사용해 주세요.",
  schedule_in_past: "이미 지난 시각입니다. 이후 시각을 고르거나, 지금 게시하려면 빼 주세요.",
  schedule_too_far: "시각이 너무 멉니다[(최대 {limit}일 뒤)]. 더 이른 시각을 골라 주세요.",
  monthly: "월간 한도를 넘습니다[(한도 {limit}, 사용 {used}, 예약 {reserved}, 요청 {requested})].",
  storage:
    "저장 용량 한도를 넘습니다[(한도 {limit}바이트, 사용 {used}, 예약 {reserved}, 요청 {requested})].",
  pending_uploads:
    "완료되지 않은 업로드가 너무 많습니다[(최대 {limit}개)]. 먼저 일부를 완료하거나 만료될 때까지 기다려 주세요.",
  daily: "일일 한도를 넘습니다[(한도 {limit}, 사용 {used}, 예약 {reserved}, 요청 {requested})].",
  too_many_rules: "예약 슬롯 규칙이 너무 많습니다[(최대 {limit}개)]. 먼저 하나를 삭제해 주세요.",
  too_many_subscriptions: "웹훅 구독이 너무 많습니다[(최대 {limit}개)]. 먼저 하나를 취소해 주세요.",
  platform_unsupported: "이 계정의 플랫폼에는 없는 기능입니다.",
  permission_missing:
    "계정 연결에 이 작업의 권한이 없습니다. 요청된 권한을 모두 허용해 계정을 다시 연결해 주세요.",
  outcome_unknown:
    "게시되었는지 알 수 없습니다. 플랫폼에서 확인한 뒤 운영자에게 처리를 요청해 주세요.",

  required: "필수 항목이 없습니다. 추가해 주세요.",
  type: "값의 형식이 다릅니다.",
  format: "값이 정해진 형태가 아닙니다.",
  additional_property: "여기에 없는 항목입니다. 빼 주세요.",
  unique: "같은 항목이 두 번 이상 있습니다. 중복을 빼 주세요.",
  min_items: "항목이 너무 적습니다[({actual}개, 최소 {limit}개)].",
  max_items: "항목이 너무 많습니다[({actual}개, 최대 {limit}개)].",
  too_long: "글자 수가 너무 많습니다[({actual}자, 최대 {limit}자)].",
  too_many_bytes: "글이 너무 깁니다[(UTF-8 {actual}바이트, 최대 {limit}바이트)]. 줄여 주세요.",
  too_short: "글자 수가 너무 적습니다[({actual}자, 최소 {limit}자)].",
  too_small: "값이 너무 작습니다[({actual}, 최소 {limit})].",
  too_large: "값이 너무 큽니다[({actual}, 최대 {limit})].",
  min_properties: "항목이 너무 적습니다[({actual}개, 최소 {limit}개)].",
  max_properties: "항목이 너무 많습니다[({actual}개, 최대 {limit}개)].",
  not_allowed: "허용된 값이 아닙니다.",
  invalid: "값이 올바르지 않습니다.",
  repeated_parameter: "같은 매개변수가 두 번 이상 있습니다. 한 번만 보내 주세요.",
  exclusive_fields: "함께 쓸 수 없는 항목입니다. 하나만 보내 주세요.",
  range_reversed: "범위의 끝이 시작보다 앞섭니다. 두 값을 바꿔 주세요.",
  unknown_timezone: "없는 시간대입니다. Asia/Seoul과 같은 이름을 사용해 주세요.",
  ends_before_start: "마지막 날짜가 첫 날짜보다 앞섭니다. 둘 중 하나를 고쳐 주세요.",
  invalid_json: "본문이 올바른 JSON이 아닙니다.",
  invalid_utf8: "본문이 올바른 UTF-8이 아닙니다.",
  nul_character: "텍스트에 NUL 문자가 있습니다. 빼 주세요.",
  unpaired_surrogate: "텍스트에 짝이 없는 서로게이트가 있습니다. 온전한 문자를 보내 주세요.",
  too_deep: "본문의 중첩이 너무 깊습니다[(최대 {limit}단계)].",
  too_many_headers: "요청의 헤더가 너무 많습니다[(최대 {limit}개)].",
  invalid_header:
    "헤더의 형식이 올바르지 않습니다. Idempotency-Key는 공백이 없는 ASCII 문자 1자에서 255자, X-Workspace-Id는 소문자 UUID입니다.",
};
