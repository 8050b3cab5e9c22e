import type { TargetErrorCode } from "#src/posts/target-error-codes.ts";

/** Korean messages for a failed publishing target of a post, by error code. */
export const TARGET_MESSAGES_KO: Readonly<Record<TargetErrorCode, string>> = {
  content_rejected: "플랫폼이 내용을 거부했습니다. 내용을 바꿔 새로 게시해 주세요.",
  media_rejected: "플랫폼이 미디어를 거부했습니다. 다른 파일로 새로 게시해 주세요.",
  media_fetch_failed: "플랫폼이 미디어를 가져가지 못했습니다. 다시 시도해 주세요.",
  duplicate_on_platform: "이미 이 계정에 올라온 내용이라 플랫폼이 거부했습니다.",
  permission_missing:
    "계정 연결에 권한이 부족합니다. 요청된 권한을 모두 허용해 다시 연결해 주세요.",
  account_reconnect_required: "계정의 접근 권한이 만료되었습니다. 계정을 다시 연결해 주세요.",
  account_disconnected: "연결이 해제된 계정입니다. 다시 연결한 뒤 시도해 주세요.",
  account_action_needed:
    "플랫폼이 계정 소유자의 조치를 요구합니다. 플랫폼에 로그인해 안내를 따라 주세요.",
  app_configuration: "플랫폼이 운영자의 앱을 거부했습니다. 운영자가 설정을 고쳐야 합니다.",
  platform_quota: "이 계정의 플랫폼 한도를 모두 사용했습니다. 한도가 갱신된 뒤 다시 시도해 주세요.",
  rate_limited: "지금은 플랫폼이 요청을 더 받지 않습니다. 나중에 다시 시도해 주세요.",
  platform_unavailable: "플랫폼이 정상적으로 응답하지 않았습니다. 나중에 다시 시도해 주세요.",
  outcome_unknown:
    "게시되었는지 알 수 없습니다. 플랫폼에서 확인한 뒤 운영자에게 처리를 요청해 주세요.",
  duplicate_detected:
    "계정에서 같은 내용이 발견되어 다시 보내지 않았습니다. 플랫폼에서 확인해 주세요.",
  missed: "예정된 시각에 서비스가 멈춰 있었고, 보내기에는 너무 늦었습니다.",
  internal_error: "서비스에 문제가 생겼습니다. 다시 시도해 주세요.",
};
