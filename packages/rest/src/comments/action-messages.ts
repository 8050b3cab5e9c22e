import type { Locale } from "#src/locale.ts";
import type { TargetErrorCode } from "#src/posts/target-error-codes.ts";
import { targetMessageFor } from "#src/posts/target-messages.ts";

type Messages = Readonly<Partial<Record<TargetErrorCode, string>>>;

/** English messages for a failed action on a comment, where the message for a failed publishing target does not fit. */
export const ACTION_MESSAGES_EN = {
  content_rejected: "The platform refused the action. Change it and request it again.",
  duplicate_on_platform: "The platform refused the reply because the account already wrote it.",
  outcome_unknown:
    "It is not known whether the platform carried this out. Look at the comment on the platform before you request it again.",
  duplicate_detected: "A later request to hide or show this comment replaced this one.",
  missed: "The service could not carry this out in time. Request it again if it is still wanted.",
} as const satisfies Messages;

/** Korean messages for a failed action on a comment, where the message for a failed publishing target does not fit. */
export const ACTION_MESSAGES_KO: Readonly<Record<keyof typeof ACTION_MESSAGES_EN, string>> = {
  content_rejected: "플랫폼이 작업을 거부했습니다. 내용을 바꿔 다시 요청해 주세요.",
  duplicate_on_platform: "이미 이 계정이 남긴 답글이라 플랫폼이 거부했습니다.",
  outcome_unknown:
    "플랫폼에서 처리되었는지 알 수 없습니다. 다시 요청하기 전에 플랫폼에서 댓글을 확인해 주세요.",
  duplicate_detected: "이 댓글을 숨기거나 다시 표시하라는 나중 요청이 이 요청을 대신했습니다.",
  missed: "제때 처리하지 못했습니다. 아직 필요하면 다시 요청해 주세요.",
};

const CATALOGUES: Readonly<Record<Locale, ReadonlyMap<string, string>>> = {
  en: new Map(Object.entries(ACTION_MESSAGES_EN)),
  ko: new Map(Object.entries(ACTION_MESSAGES_KO)),
};

/** Returns the message for a failed action on a comment. Its codes are those of publishing targets. */
export function actionMessageFor(locale: Locale, code: string): string {
  return CATALOGUES[locale].get(code) ?? targetMessageFor(locale, code);
}
