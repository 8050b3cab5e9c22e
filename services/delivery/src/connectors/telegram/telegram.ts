import { callPlatform } from "#src/connectors/http.ts";
import { object, shorten, text, type PlatformAnswer } from "#src/connectors/platform-answer.ts";
import { jsonBody } from "#src/connectors/request-body.ts";
import { sendOnce, toUnanswered } from "#src/connectors/send-once.ts";
import type {
  AccountAccess,
  Connector,
  DeletionOutcome,
  Failure,
  Outcome,
  Publication,
  SendGuard,
} from "#src/domain/connector.ts";

/** Parts of the descriptions that Bot API servers send; the texts are no contract, so parts are matched and the code decides otherwise. */
const PERMISSION =
  /not a member|was kicked|administrator rights|not enough rights|chat_write_forbidden/i;
const CONTENT = /text is empty|is too long|can't parse entities/i;
const ACCOUNT = /chat not found|upgraded to a supergroup/i;
const GONE = /message to delete not found/i;
const NOT_DELETABLE = /message can't be deleted/i;

/** What a parsed `ok: false` means (platforms reference 6.7). The Bot API server refused, so nothing was sent. */
function toFailure(answer: PlatformAnswer): Failure {
  const description = shorten(text(answer.json, "description"));
  const code = answer.status;
  if (code === 401 || code === 404) return { kind: "token_refused", message: description };
  if (code === 429) {
    const retryAfter = Number(object(answer.json, "parameters")?.retry_after);
    const waitMs = retryAfter > 0 ? retryAfter * 1000 : 60_000;
    return {
      kind: "retryable",
      code: "rate_limited",
      message: description,
      retryAfterMs: waitMs,
      isLimit: true,
    };
  }
  if (PERMISSION.test(description))
    return { kind: "refused", code: "permission_missing", message: description };
  if (ACCOUNT.test(description))
    return { kind: "refused", code: "account_action_needed", message: description };
  if (CONTENT.test(description))
    return { kind: "refused", code: "content_rejected", message: description };
  return {
    kind: "refused",
    code: code === 403 ? "permission_missing" : "content_rejected",
    message: description,
  };
}

function toPermalink(
  chat: Readonly<Record<string, unknown>> | undefined,
  chatId: string,
  messageId: string,
): string {
  const username = text(chat, "username");
  return username === undefined
    ? `https://t.me/c/${chatId.replace(/^-100/, "")}/${messageId}`
    : `https://t.me/${username}/${messageId}`;
}

function toOutcome(answer: PlatformAnswer, chatId: string): Outcome {
  if (answer.json?.ok === false && answer.status < 500) return toFailure(answer);
  const result = object(answer.json, "result");
  const messageId = result?.message_id;
  if (answer.json?.ok === true && typeof messageId === "number") {
    const externalId = String(messageId);
    return {
      kind: "published",
      externalId,
      permalink: toPermalink(object(result, "chat"), chatId, externalId),
    };
  }
  return { kind: "unknown", message: `HTTP ${answer.status} without a readable answer` };
}

async function publish(
  baseUrl: string,
  publication: Publication,
  guard: SendGuard,
): Promise<Outcome> {
  const url = `${baseUrl}/bot${publication.accessToken}/sendMessage`;
  const sent = await sendOnce(
    {
      method: "POST",
      url,
      body: jsonBody({ chat_id: publication.externalId, text: publication.text }),
      secrets: [publication.accessToken],
    },
    guard,
  );
  return sent.kind === "answer" ? toOutcome(sent, publication.externalId) : toUnanswered(sent);
}

function toDeletionOutcome(answer: PlatformAnswer): DeletionOutcome {
  if (answer.json?.ok === true && answer.json.result === true) return { kind: "deleted" };
  if (answer.json?.ok !== false || answer.status >= 500)
    return { kind: "unknown", message: `HTTP ${answer.status} without a readable answer` };
  const message = shorten(text(answer.json, "description"));
  if (GONE.test(message)) return { kind: "deleted" };
  if (NOT_DELETABLE.test(message)) return { kind: "refused", code: "permission_missing", message };
  return toFailure(answer);
}

/** `deleteMessage` (platforms reference 6.3): an administrator's bot may delete messages of any age. */
async function deleteMessage(
  baseUrl: string,
  account: AccountAccess,
  messageId: string,
  signal: AbortSignal,
): Promise<DeletionOutcome> {
  const url = `${baseUrl}/bot${account.accessToken}/deleteMessage`;
  const body = jsonBody({ chat_id: account.externalId, message_id: Number(messageId) });
  const secrets = [account.accessToken];
  const answer = await callPlatform({ method: "POST", url, body, secrets }, signal);
  return answer.kind === "answer"
    ? toDeletionOutcome(answer)
    : { kind: "unknown", message: answer.message };
}

/**
 * Telegram's Bot API: no key, no list, no search, and a bot is not told of its own messages. So a message is sent at most
 * once per command; an unknown outcome stays unknown until a person looks.
 */
export function createTelegramConnector(options: { readonly baseUrl: string }): Connector {
  return {
    platform: "telegram",
    maxResends: 0,
    steps: () => [],
    publish: (publication, _handles, guard) => publish(options.baseUrl, publication, guard),
    reconcile: () =>
      Promise.resolve({ kind: "cannot_tell", message: "telegram cannot be read back" }),
    canDelete: true,
    delete: (account, externalId, signal) =>
      deleteMessage(options.baseUrl, account, externalId, signal),
  };
}
