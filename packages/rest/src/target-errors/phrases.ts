import { isPlatformId } from "@postrider/platforms/platform-id";
import { PLATFORM_FACTS } from "@postrider/platforms/registry";
import type { Locale } from "#src/locale.ts";
import { type Text, text } from "./entry.ts";

/** The kind of work that failed. It decides which request repeats the work. */
export type FailedWork = "publication" | "deletion" | "comment action";

/** The phrase that replaces `{repeat}` in advice: how to repeat the failed work. */
const REPEAT: Readonly<Record<FailedWork, Text>> = {
  publication: text(
    "send POST /posts/{id}/retry, which repeats only the failed targets",
    "POST /posts/{id}/retry를 보내 주세요(실패한 대상만 다시 보냅니다)",
  ),
  deletion: text("send DELETE /posts/{id} again", "DELETE /posts/{id}를 다시 보내 주세요"),
  "comment action": text("request the action again", "작업을 다시 요청해 주세요"),
};

/**
 * The phrase that replaces `{connect}` in advice: how an account is connected again, on platforms
 * without an authorization page.
 */
const CONNECT: Readonly<Record<string, Text>> = {
  bluesky: text(
    "the operator runs `postrider account connect bluesky --workspace ID --handle HANDLE` and enters a new app password",
    "운영자가 `postrider account connect bluesky --workspace ID --handle HANDLE`을 실행해 새 앱 비밀번호를 입력한",
  ),
  telegram: text(
    "the operator runs `postrider account connect telegram --workspace ID --chat CHAT` and enters the bot's token",
    "운영자가 `postrider account connect telegram --workspace ID --chat CHAT`을 실행해 봇 토큰을 입력한",
  ),
};
const CONNECT_BY_LINK = text(
  "the operator runs `postrider account connect {platform} --workspace ID`, and the account's owner opens the link that it prints",
  "운영자가 `postrider account connect {platform} --workspace ID`를 실행하고 계정 소유자가 출력된 링크를 연",
);

const THE_PLATFORM = text("the platform", "플랫폼");

/** The facts about a failure that fill the placeholders of a text. */
export interface Occasion {
  readonly work: FailedWork;
  /** The platform; undefined when the stored record of the failure does not name it. */
  readonly platform?: string | undefined;
  /** When the next attempt is due, in the form of the API. */
  readonly nextAttemptAt?: string | null;
}

/**
 * Fills a text: `{name}` is the name of the platform, `{repeat}` and `{connect}` are phrases that
 * say how to repeat the work and how to connect the account, `{at}` is the time of the next
 * attempt.
 */
export function fillText(template: Text, occasion: Occasion, locale: Locale): string {
  const { work, platform = "", nextAttemptAt } = occasion;
  const id = isPlatformId(platform) ? platform : undefined;
  return template[locale]
    .replaceAll("{connect}", (CONNECT[platform] ?? CONNECT_BY_LINK)[locale])
    .replaceAll("{repeat}", REPEAT[work][locale])
    .replaceAll(
      "{name}",
      id === undefined ? THE_PLATFORM[locale] : PLATFORM_FACTS[id].rules.displayName,
    )
    .replaceAll("{platform}", id ?? "PLATFORM")
    .replaceAll("{at}", nextAttemptAt ?? "");
}
