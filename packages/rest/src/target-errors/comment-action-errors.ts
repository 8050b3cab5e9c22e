import type { TargetErrorCode } from "@postrider/platforms/publishing/outcome";
import { entry, type TargetErrorEntry } from "./entry.ts";

/** Errors of actions on comments that mean something else than the same error of a target. */
export const COMMENT_ACTION_ERRORS: Readonly<Partial<Record<TargetErrorCode, TargetErrorEntry>>> = {
  content_rejected: entry(
    ["The platform refused the action.", "플랫폼이 작업을 거부했습니다."],
    [
      "Change what the message names and request a new action.",
      "메시지가 알리는 부분을 고쳐 새 작업을 요청해 주세요.",
    ],
  ),
  duplicate_on_platform: entry(
    [
      "The platform refused the reply because the account already wrote it.",
      "이미 이 계정이 남긴 답글이라 플랫폼이 거부했습니다.",
    ],
    [
      "Look at the comment on the platform: if the reply is there, do nothing. Otherwise request a reply with another text.",
      "플랫폼에서 댓글을 확인해 답글이 있으면 그대로 두고, 없으면 다른 문구로 요청해 주세요.",
    ],
  ),
  outcome_unknown: entry(
    [
      "It is not known whether the platform carried this out.",
      "플랫폼에서 처리되었는지 알 수 없습니다.",
    ],
    [
      "Look at the comment on the platform. Request the action again only if it was not carried out.",
      "플랫폼에서 댓글을 확인하고, 처리되지 않은 경우에만 다시 요청해 주세요.",
    ],
  ),
  duplicate_detected: entry(
    [
      "A later request to hide or show this comment replaced this one.",
      "이 댓글을 숨기거나 다시 표시하라는 나중 요청이 이 요청을 대신했습니다.",
    ],
    ["Do nothing: the later request counts.", "나중 요청이 적용되므로 그대로 두시면 됩니다."],
  ),
  missed: entry(
    ["The service could not carry this out in time.", "제때 처리하지 못했습니다."],
    ["If it is still wanted, {repeat}.", "아직 필요하면 {repeat}."],
  ),
};
