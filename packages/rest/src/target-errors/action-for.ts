import { isPlatformId } from "@postrider/platforms/platform-id";
import type { TargetErrorCode } from "@postrider/platforms/publishing/outcome";
import type { Locale } from "#src/locale.ts";
import { TARGET_ERRORS } from "./catalogue.ts";
import { entry, type PlatformTexts, type TargetErrorEntry, text, type Text } from "./entry.ts";
import { type FailedWork, fillText, type Occasion } from "./phrases.ts";

/**
 * What to do about a post that could not be deleted on its platform, for errors that have no advice
 * of their own.
 */
const DELETE_BY_HAND = text(
  "Delete the post on {name} by hand.",
  "{name}에서 게시물을 직접 삭제해 주세요.",
);

/**
 * Errors for which a failed deletion has the same remedy as a failed target; only the request that
 * repeats the deletion differs.
 */
const SAME_REMEDY: ReadonlySet<string> = new Set<TargetErrorCode>([
  "account_reconnect_required",
  "account_disconnected",
  "platform_quota",
  "rate_limited",
  "platform_unavailable",
  "permission_missing",
]);

/** What to do about a post that could not be deleted on its platform, by error. */
const DELETION_REMEDIES: Readonly<Partial<Record<TargetErrorCode, Text>>> = {
  outcome_unknown: text(
    "Look at the account on {name}: if the post is there, delete it by hand. Nothing was deleted, because it is not known whether the post was published.",
    "{name}에서 계정을 확인해 게시물이 있으면 직접 삭제해 주세요. 게시되었는지 알 수 없어 아무것도 삭제하지 않았습니다.",
  ),
  internal_error: text(
    "Wait a minute, then {repeat}. If it fails again, delete the post on {name} by hand.",
    "1분쯤 기다린 뒤 {repeat}. 또 실패하면 {name}에서 직접 삭제해 주세요.",
  ),
};

/**
 * What to do when a permission for deleting is missing, for each platform whose advice differs from
 * the general one.
 */
const DELETION_PERMISSION_REMEDIES: PlatformTexts = {
  instagram: text(
    "Delete the post in the Instagram app. Instagram lets programs delete only for accounts that were connected with Facebook Login.",
    "Instagram 앱에서 직접 삭제해 주세요. Instagram에서는 Facebook 로그인으로 연결한 계정의 게시물만 프로그램으로 삭제할 수 있습니다.",
  ),
  telegram: text(
    "Delete the message in Telegram by hand: bots can delete messages of the last 48 hours only, and need the right to delete messages.",
    "텔레그램에서 메시지를 직접 삭제해 주세요. 봇은 최근 48시간의 메시지만, 삭제 권한이 있을 때 삭제할 수 있습니다.",
  ),
};

/** Errors of actions on comments that mean something else than the same error of a target. */
const COMMENT_ACTION_ERRORS: Readonly<Partial<Record<TargetErrorCode, TargetErrorEntry>>> = {
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

/**
 * The error of a target, a deletion or an action on a comment, and the facts that its texts need,
 * for example the platform.
 */
export interface FailedRecord extends Occasion {
  readonly code: string;
  readonly retryable: boolean;
  /** Status of the target, of its deletion or of the action. */
  readonly status: string;
}

const WAIT = text(
  "Do nothing: it is tried again by itself.",
  "자동으로 다시 시도되니 기다려 주세요.",
);
const WAIT_UNTIL = text(
  "Do nothing: it is tried again by itself, next at {at}.",
  "자동으로 다시 시도되니 기다려 주세요(다음 시도: {at}).",
);
const WAIT_FOR_OUTCOME = text(
  "Do not send it again. Wait: Postrider looks on {name} whether it was published.",
  "다시 보내지 말고 기다려 주세요. 게시되었는지 {name}에서 확인하고 있습니다.",
);
const PUBLISHED = text(
  "The post is published: do not send it again. Do on {name} by hand what the message says is missing.",
  "게시되었으니 다시 보내지 마세요. 메시지에 따라 빠진 것을 {name}에서 직접 처리해 주세요.",
);
const PRIVATE = text(
  "The post is published, but private: do not send it again. Ask the operator to have {name} audit the app.",
  "게시되었지만 비공개입니다. 다시 보내지 말고 운영자에게 {name}의 앱 심사를 요청해 주세요.",
);
const CANCELLED = text(
  "Do nothing: the post was deleted before it was sent to this account.",
  "이 계정으로 보내기 전에 삭제된 게시물이니 그대로 두시면 됩니다.",
);
const UNKNOWN_CODE = {
  retryable: text("Wait some minutes, then {repeat}.", "몇 분 뒤 {repeat}."),
  final: text(
    "Do what the message asks before it is sent again; a retry alone does not help.",
    "다시 보내기 전에 메시지의 안내를 따라 주세요. 다시 시도하는 것만으로는 해결되지 않습니다.",
  ),
};

const ENTRIES: ReadonlyMap<string, TargetErrorEntry> = new Map(Object.entries(TARGET_ERRORS));
const OF_COMMENTS: ReadonlyMap<string, TargetErrorEntry> = new Map(
  Object.entries(COMMENT_ACTION_ERRORS),
);
const OF_DELETIONS: ReadonlyMap<string, Text> = new Map(Object.entries(DELETION_REMEDIES));

/**
 * Returns what happened, for an error for which the platform sent no message. A code that this
 * version does not know is described like `internal_error`.
 */
export function causeFor(locale: Locale, work: FailedWork, code: string): string {
  const own = work === "comment action" ? OF_COMMENTS.get(code) : undefined;
  return (own ?? ENTRIES.get(code) ?? TARGET_ERRORS.internal_error).cause[locale];
}

/**
 * Returns our advice what to do about an error; the API returns it beside the message of the
 * platform.
 */
export function actionFor(locale: Locale, record: FailedRecord): string {
  return fillText(choose(record), record, locale);
}

function choose(record: FailedRecord): Text {
  if (record.work === "comment action")
    return OF_COMMENTS.get(record.code)?.remedy ?? ofTarget(record);
  return ofStatus(record) ?? (record.work === "deletion" ? ofDeletion(record) : ofTarget(record));
}

/**
 * Returns the advice for a target, deletion or action that has not failed; undefined for a failed
 * one.
 */
function ofStatus(record: FailedRecord): Text | undefined {
  switch (record.status) {
    case "pending":
    case "publishing":
      return toWait(record);
    case "published":
      return ofPublished(record);
    case "cancelled":
      return CANCELLED;
    case "deleting":
    case "deleted":
      return WAIT;
    default:
      return undefined;
  }
}

function ofPublished(record: FailedRecord): Text {
  if (record.code === "duplicate_detected") return ofTarget(record);
  return record.code === "app_configuration" ? PRIVATE : PUBLISHED;
}

function toWait({ code, nextAttemptAt }: FailedRecord): Text {
  if (code === "outcome_unknown") return WAIT_FOR_OUTCOME;
  return nextAttemptAt === null || nextAttemptAt === undefined ? WAIT : WAIT_UNTIL;
}

function ofTarget({ code, retryable, platform = "" }: FailedRecord): Text {
  const entry = ENTRIES.get(code);
  if (entry === undefined) return retryable ? UNKNOWN_CODE.retryable : UNKNOWN_CODE.final;
  return (isPlatformId(platform) ? entry.platforms?.[platform] : undefined) ?? entry.remedy;
}

function ofDeletion(record: FailedRecord): Text {
  const { code, platform = "" } = record;
  const ofPermission = isPlatformId(platform) ? DELETION_PERMISSION_REMEDIES[platform] : undefined;
  if (code === "permission_missing" && ofPermission !== undefined) return ofPermission;
  return OF_DELETIONS.get(code) ?? (SAME_REMEDY.has(code) ? ofTarget(record) : DELETE_BY_HAND);
}
