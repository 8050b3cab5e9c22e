import { error } from "./entry.ts";

/**
 * The errors of requests that the state of a resource does not allow, by the code in `error.code`.
 */
export const STATE_ERRORS = {
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
      "Wait until it has finished (read it with waitFor=final), then try again.",
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
      "The post {postId|with this content}[, planned or published at {plannedAt},] has the same content on the same account, less than 24 hours apart.",
      "Change the content or the time, or send force: true to publish it anyway.",
    ],
    [
      "같은 계정의 게시물 {postId|}[({plannedAt})]과 내용이 같고 시간 차이가 24시간 미만입니다.",
      "내용이나 시간을 바꾸거나, 그대로 보내려면 force: true를 보내 주세요.",
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
      "Read it, and send this only once its status is failed.",
    ],
    ["실패한 전송만 다시 보낼 수 있습니다.", "다시 조회해 상태가 failed일 때만 보내 주세요."],
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
};
