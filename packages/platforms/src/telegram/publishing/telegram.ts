import { list, object, text, type PlatformAnswer } from "#src/http/platform-answer.ts";
import { sendOnce, toUnanswered } from "#src/http/send-once.ts";
import type { Connector, Outcome, Publication, SendGuard } from "#src/publishing/connector.ts";
import { deleteMessages } from "./delete.ts";
import { toFailure } from "./failures.ts";
import { toExternalId } from "./message-ids.ts";
import { toSending } from "./send.ts";

type Message = Readonly<Record<string, unknown>>;

function toPermalink(message: Message, chatId: string, messageId: number): string {
  const chat = object(message, "chat");
  const username = text(chat, "username");
  return username === undefined
    ? `https://t.me/c/${chatId.replace(/^-100/, "")}/${messageId}`
    : `https://t.me/${username}/${messageId}`;
}

/** The message that was sent, or all messages of the album. */
function toMessages(answer: PlatformAnswer): readonly Message[] {
  const message = object(answer.json, "result");
  if (message !== undefined) return [message];
  return list(answer.json, "result").flatMap<Message>((one) => object({ one }, "one") ?? []);
}

function toOutcome(answer: PlatformAnswer, chatId: string): Outcome {
  if (answer.json?.ok === false && answer.status < 500) return toFailure(answer);
  const messages = toMessages(answer);
  const ids = messages.map(({ message_id: id }) => id).filter((id) => typeof id === "number");
  const [message] = messages;
  const [first] = ids;
  const isWhole = answer.json?.ok === true && ids.length === messages.length;
  if (!isWhole || message === undefined || first === undefined)
    return { kind: "unknown", message: `HTTP ${answer.status} without a readable answer` };
  return {
    kind: "published",
    externalId: toExternalId(ids),
    permalink: toPermalink(message, chatId, first),
  };
}

async function publish(
  baseUrl: string,
  publication: Publication,
  guard: SendGuard,
): Promise<Outcome> {
  const { accessToken, externalId } = publication;
  const { method, body } = toSending(publication);
  const url = `${baseUrl}/bot${accessToken}/${method}`;
  const sent = await sendOnce({ method: "POST", url, body, secrets: [accessToken] }, guard);
  return sent.kind === "answer" ? toOutcome(sent, externalId) : toUnanswered(sent);
}

/**
 * Telegram's Bot API: no key, no list, no search, and a bot is not told of its own messages. So a message is sent at most
 * once per command, with all its media in that one call; an unknown outcome stays unknown until a person looks.
 */
export function createTelegramConnector(options: { readonly baseUrl: string }): Connector {
  return {
    platform: "telegram",
    maxResends: 0,
    steps: () => [],
    visibleParts: ({ media }) => media.map((one) => ({ media: one, start: 0, length: one.bytes })),
    publish: (publication, _handles, guard) => publish(options.baseUrl, publication, guard),
    reconcile: () =>
      Promise.resolve({ kind: "cannot_tell", message: "telegram cannot be read back" }),
    canDelete: true,
    delete: (account, externalId, signal) =>
      deleteMessages(options.baseUrl, account, externalId, signal),
  };
}
