import { isPlatformId } from "@postrider/platforms/platform-id";
import type { Locale } from "#src/locale.ts";
import { TARGET_ERRORS } from "./catalogue.ts";
import { COMMENT_ACTION_ERRORS } from "./comment-action-errors.ts";
import {
  DELETE_BY_HAND,
  DELETION_PERMISSION_REMEDIES,
  DELETION_REMEDIES,
  SAME_REMEDY,
} from "./deletion-remedies.ts";
import { text, type TargetErrorEntry, type Text } from "./entry.ts";
import { fillText, type FailedWork, type Occasion } from "./phrases.ts";

/**
 * The error of a target, a deletion or an action on a comment, and the facts that its texts need, for example the
 * platform.
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
 * Returns what happened, for an error for which the platform sent no message. A code that this version does not know is described
 * like `internal_error`.
 */
export function causeFor(locale: Locale, work: FailedWork, code: string): string {
  const own = work === "comment action" ? OF_COMMENTS.get(code) : undefined;
  return (own ?? ENTRIES.get(code) ?? TARGET_ERRORS.internal_error).cause[locale];
}

/** Returns our advice what to do about an error; the API returns it beside the message of the platform. */
export function actionFor(locale: Locale, record: FailedRecord): string {
  return fillText(choose(record), record, locale);
}

function choose(record: FailedRecord): Text {
  if (record.work === "comment action")
    return OF_COMMENTS.get(record.code)?.remedy ?? ofTarget(record);
  return ofStatus(record) ?? (record.work === "deletion" ? ofDeletion(record) : ofTarget(record));
}

/** Returns the advice for a target, deletion or action that has not failed; undefined for a failed one. */
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
