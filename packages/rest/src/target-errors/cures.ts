import { isPlatformId, type PlatformId } from "@postrider/platforms/platform-id";
import type { TargetErrorCode } from "@postrider/platforms/publishing/outcome";
import type { CureJson, CureKind, CureListJson } from "#src/dashboard/cures.ts";
import type { WordsJson } from "#src/dashboard/parts.ts";
import { causeFor } from "./action-for.ts";
import { TARGET_ERROR_CODES } from "./catalogue.ts";
import { text, type Text } from "./entry.ts";
import { fillText } from "./phrases.ts";

/**
 * The third text of each error code. `message` of an error says what happened, `action` tells a
 * program which request to send; this one tells the person at the dashboard what to do there, and
 * `kind` is the button beside it. A particle of Korean never follows a placeholder whose last sound
 * is unknown.
 */
interface CureEntry {
  readonly kind: CureKind;
  readonly words: Text;
}

interface CureEntries extends CureEntry {
  /** For platforms on which something else helps. */
  readonly platforms?: Readonly<Partial<Record<PlatformId, CureEntry>>>;
}

const cure = (kind: CureKind, en: string, ko: string): CureEntry => ({ kind, words: text(en, ko) });

const CURES: Readonly<Record<TargetErrorCode, CureEntries>> = {
  account_reconnect_required: cure(
    "reconnect",
    "Connect the account again. It keeps its posts and settings.",
    "계정을 다시 연결해 주세요. 게시물과 설정은 그대로 유지됩니다.",
  ),
  account_disconnected: cure(
    "reconnect",
    "Connect the account again to publish to it.",
    "이 계정에 게시하려면 다시 연결해 주세요.",
  ),
  permission_missing: {
    ...cure(
      "reconnect",
      "Connect the account again and leave all permissions selected.",
      "요청된 권한을 모두 허용해 계정을 다시 연결해 주세요.",
    ),
    platforms: {
      telegram: cure(
        "open_then_retry",
        "Make the bot an administrator with the right to post messages.",
        "텔레그램에서 봇을 메시지를 올릴 수 있는 관리자로 지정해 주세요.",
      ),
    },
  },
  account_action_needed: cure(
    "open_then_retry",
    "Log in to {name} as the account's owner and do what it asks.",
    "계정 소유자가 {name}에 로그인해 안내를 따라 주세요.",
  ),
  content_rejected: cure(
    "change_content",
    "Change the text for this account. A retry would send the same text.",
    "이 계정에 올릴 본문을 바꿔 주세요. 다시 시도하면 같은 본문이 전송됩니다.",
  ),
  media_rejected: cure(
    "change_media",
    "Choose other media for this account. A retry would send the same file.",
    "이 계정에 올릴 다른 미디어를 골라 주세요. 다시 시도하면 같은 파일이 전송됩니다.",
  ),
  media_fetch_failed: cure(
    "retry",
    "Retry. If it fails again, tell the operator that {name} cannot fetch files from this address.",
    "다시 시도해 주세요. 또 실패하면 {name}에서 이 서버의 파일을 가져가지 못한다고 운영자에게 알려 주세요.",
  ),
  platform_unavailable: cure(
    "retry",
    "Retry when {name} works again.",
    "{name}에서 정상적으로 응답하면 다시 시도해 주세요.",
  ),
  internal_error: cure(
    "retry",
    "Retry. If it fails again, tell the operator.",
    "다시 시도해 주세요. 또 실패하면 운영자에게 알려 주세요.",
  ),
  rate_limited: cure(
    "retry_later",
    "{name} accepts nothing from this account for now. Retry when this limit ends.",
    "지금은 {name}에서 이 계정의 요청을 받지 않습니다. 제한이 끝나면 다시 시도해 주세요.",
  ),
  platform_quota: cure(
    "retry_later",
    "Retry when the limit of {name} begins anew.",
    "{name}의 한도가 갱신되면 다시 시도해 주세요.",
  ),
  duplicate_on_platform: cure(
    "resolve",
    "Look on {name} and say whether the post is there. If it is, nothing is sent again.",
    "{name}에 게시물이 있는지 확인한 뒤 알려 주세요. 있으면 다시 보내지 않습니다.",
  ),
  outcome_unknown: cure(
    "resolve",
    "It may be on {name}. Look there and say whether it is. Nothing was sent again.",
    "{name}에 게시되었을 수 있습니다. 확인한 뒤 게시 여부를 알려 주세요. 다시 보낸 것은 없습니다.",
  ),
  duplicate_detected: cure(
    "open_both",
    "Open both on {name} and delete one of them there.",
    "{name}에서 두 게시물을 열어 하나를 삭제해 주세요.",
  ),
  missed: cure(
    "publish_now",
    "Publish it now, if it is still wanted.",
    "아직 필요하면 지금 게시해 주세요.",
  ),
  app_configuration: cure(
    "tell_operator",
    "Only the operator can mend this. Send them what {name} answered.",
    "운영자만 해결할 수 있습니다. {name}에서 온 응답을 운영자에게 보내 주세요.",
  ),
};

const WAIT = cure(
  "wait",
  "Nothing is left to do: it goes on by itself.",
  "자동으로 진행되니 기다려 주세요.",
);
const PUBLISHED = cure(
  "look",
  "It is published. Look on {name} at what is missing.",
  "게시되었습니다. 빠진 것이 있는지 {name}에서 확인해 주세요.",
);
const DELETION = cure(
  "delete_again",
  "It is still on {name}. Delete it again, or delete it there by hand.",
  "{name}에 아직 남아 있습니다. 다시 삭제하거나 {name}에서 직접 삭제해 주세요.",
);
const UNKNOWN_CODE = {
  retryable: cure("retry", "Retry in some minutes.", "몇 분 뒤 다시 시도해 주세요."),
  final: cure(
    "look",
    "Do what the message says. A retry alone does not help.",
    "메시지의 안내를 따라 주세요. 다시 시도하는 것만으로는 해결되지 않습니다.",
  ),
};

const ENTRIES: ReadonlyMap<string, CureEntries> = new Map(Object.entries(CURES));
const MOVING = new Set(["pending", "publishing", "deleting", "deleted", "cancelled"]);

export interface MendableTarget {
  readonly code: string;
  readonly platform: string;
  readonly status: string;
  readonly retryable: boolean;
}

function choose({ code, platform, status, retryable }: MendableTarget): CureEntry {
  if (MOVING.has(status)) return WAIT;
  if (status === "delete_failed") return code === "outcome_unknown" ? CURES[code] : DELETION;
  if (status === "published" && code !== "duplicate_detected") return PUBLISHED;
  return ofFailure(code, platform, retryable);
}

function ofFailure(code: string, platform: string, retryable: boolean): CureEntry {
  const entry = ENTRIES.get(code);
  if (entry === undefined) return retryable ? UNKNOWN_CODE.retryable : UNKNOWN_CODE.final;
  return (isPlatformId(platform) ? entry.platforms?.[platform] : undefined) ?? entry;
}

function fill(words: Text, platform: string | undefined): WordsJson {
  const occasion = { work: "publication", platform } as const;
  return { en: fillText(words, occasion, "en"), ko: fillText(words, occasion, "ko") };
}

/** What a person does about the error of a target, with the words for its platform. */
export function cureFor(target: MendableTarget): CureJson {
  const { kind, words } = choose(target);
  return { kind, words: fill(words, target.platform) };
}

/** What happened, in both languages: the heading of a cause. */
export function causeWords(code: string): WordsJson {
  return { en: causeFor("en", "publication", code), ko: causeFor("ko", "publication", code) };
}

/** The whole catalogue, for rows of lists, which have a code and a platform. */
export function listCures(): CureListJson["cures"] {
  return TARGET_ERROR_CODES.flatMap((code) => {
    const { platforms = {}, ...general } = CURES[code];
    const entries = [[null, general], ...Object.entries(platforms)] as const;
    return entries.map(([platform, { kind, words }]) => ({
      code,
      platform,
      cause: causeWords(code),
      cure: { kind, words: platform === null ? words : fill(words, platform) },
    }));
  });
}
