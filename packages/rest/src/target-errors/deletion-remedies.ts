import type { TargetErrorCode } from "@postrider/platforms/publishing/outcome";
import { type PlatformTexts, type Text, text } from "./entry.ts";

/** What to do about a post that could not be deleted on its platform, for errors that have no advice of their own. */
export const DELETE_BY_HAND = text(
  "Delete the post on {name} by hand.",
  "{name}에서 게시물을 직접 삭제해 주세요.",
);

/**
 * Errors for which a failed deletion has the same remedy as a failed target; only the request that repeats the deletion
 * differs.
 */
export const SAME_REMEDY: ReadonlySet<string> = new Set<TargetErrorCode>([
  "account_reconnect_required",
  "account_disconnected",
  "platform_quota",
  "rate_limited",
  "platform_unavailable",
  "permission_missing",
]);

/** What to do about a post that could not be deleted on its platform, by error. */
export const DELETION_REMEDIES: Readonly<Partial<Record<TargetErrorCode, Text>>> = {
  outcome_unknown: text(
    "Look at the account on {name}: if the post is there, delete it by hand. Nothing was deleted, because it is not known whether the post was published.",
    "{name}에서 계정을 확인해 게시물이 있으면 직접 삭제해 주세요. 게시되었는지 알 수 없어 아무것도 삭제하지 않았습니다.",
  ),
  internal_error: text(
    "Wait a minute, then {repeat}. If it fails again, delete the post on {name} by hand.",
    "1분쯤 기다린 뒤 {repeat}. 또 실패하면 {name}에서 직접 삭제해 주세요.",
  ),
};

/** What to do when a permission for deleting is missing, for each platform whose advice differs from the general one. */
export const DELETION_PERMISSION_REMEDIES: PlatformTexts = {
  instagram: text(
    "Delete the post in the Instagram app. Instagram lets programs delete only for accounts that were connected with Facebook Login.",
    "Instagram 앱에서 직접 삭제해 주세요. Instagram에서는 Facebook 로그인으로 연결한 계정의 게시물만 프로그램으로 삭제할 수 있습니다.",
  ),
  telegram: text(
    "Delete the message in Telegram by hand: bots can delete messages of the last 48 hours only, and need the right to delete messages.",
    "텔레그램에서 메시지를 직접 삭제해 주세요. 봇은 최근 48시간의 메시지만, 삭제 권한이 있을 때 삭제할 수 있습니다.",
  ),
};
