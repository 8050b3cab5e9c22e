import { askPlatform, INCOMPLETE, unavailable } from "#src/authorization/call.ts";
import { isSimulated, type PlatformAuthorization } from "#src/authorization/configure.ts";
import { toConnectResult } from "#src/authorization/connection.ts";
import type {
  AuthorizationConnector,
  ConnectResult,
  EnteredCredentials,
  Refused,
  Unavailable,
} from "#src/authorization/connector.ts";
import { type JsonObject, object, text } from "#src/http/platform-answer.ts";
import { toSearch } from "#src/http/platform-request.ts";
import type { PlatformAddress } from "#src/publishing/caller.ts";
import { formatChatAddress, parseChatAddress } from "./chat-address.ts";
import type { TelegramBot } from "./environment.ts";

const UNKNOWN_TOKEN =
  "Telegram does not know the bot token: copy it again from BotFather, with the number before the colon";

/**
 * What to do for each HTTP status with which Telegram's Bot API refuses the token, the chat or the
 * bot's rights in the chat.
 */
const REFUSALS: ReadonlyMap<number, string> = new Map([
  [
    400,
    "Telegram finds no such chat among those of the bot: add the bot to the chat, and check the name or the id",
  ],
  [401, UNKNOWN_TOKEN],
  [403, "the bot was removed from the chat: add it again"],
  [404, UNKNOWN_TOKEN],
]);

type Result = { readonly kind: "result"; readonly result: JsonObject };
type Ask = (
  method: string,
  query?: Readonly<Record<string, string>>,
) => Promise<Result | Refused | Unavailable>;

function openBot(baseUrl: string, botToken: string, signal: AbortSignal): Ask {
  return async (method, query = {}) => {
    const url = `${baseUrl}/bot${botToken}/${method}${toSearch(query)}`;
    const answer = await askPlatform({ method: "GET", url, secrets: [botToken] }, signal);
    if (answer.kind !== "answer") return answer;
    const result = object(answer.json, "result");
    if (result !== undefined) return { kind: "result", result };
    const refusal = answer.json?.ok === false ? REFUSALS.get(answer.status) : undefined;
    if (refusal !== undefined) return { kind: "refused", message: refusal };
    return unavailable(`Telegram answered ${answer.status}`);
  };
}

const CHAT_TYPES = new Set(["channel", "group", "supergroup"]);

/**
 * Whether a member of a Telegram chat may send messages. Only channels have the right
 * `can_post_messages`. In a group, administrators may always send; others may unless the group or a
 * restriction forbids it (Bot API 10.3).
 */
export function maySend(chat: JsonObject, member: JsonObject): boolean {
  const { status } = member;
  if (chat.type === "channel")
    return status === "administrator" && member.can_post_messages === true;
  if (status === "administrator" || status === "creator") return true;
  if (status === "restricted") return member.can_send_messages === true;
  return status === "member" && object(chat, "permissions")?.can_send_messages !== false;
}

/** Undefined when the bot can post. */
async function checkMember(ask: Ask, chat: JsonObject): Promise<Refused | Unavailable | undefined> {
  const me = await ask("getMe");
  if (me.kind !== "result") return me;
  const query = { chat_id: String(chat.id), user_id: String(me.result.id) };
  const member = await ask("getChatMember", query);
  if (member.kind !== "result") return member;
  if (maySend(chat, member.result)) return undefined;
  const message =
    chat.type === "channel"
      ? "the bot may not post in the channel: make it an administrator that may post messages"
      : "the bot may not send messages in the group: add it as a member that may send messages";
  return { kind: "refused", message };
}

async function connect(
  baseUrl: string,
  { botToken, chatId: entered }: EnteredCredentials,
  signal: AbortSignal,
): Promise<ConnectResult> {
  if (typeof botToken !== "string" || typeof entered !== "string") return INCOMPLETE;
  const { chatId, topicId } = parseChatAddress(entered);
  const ask = openBot(baseUrl, botToken, signal);
  const chat = await ask("getChat", { chat_id: chatId });
  if (chat.kind !== "result") return chat;
  const refusal = checkChat(chat.result, topicId) ?? (await checkMember(ask, chat.result));
  if (refusal !== undefined) return refusal;
  const externalId = formatChatAddress({ chatId: String(chat.result.id), topicId });
  const username = text(chat.result, "username") ?? externalId;
  const profile = { externalId, username, displayName: text(chat.result, "title") };
  const otherwise = unavailable("Telegram did not identify the chat");
  return toConnectResult(profile, { tokens: { accessToken: botToken } }, otherwise);
}

function checkChat(chat: JsonObject, topicId: number | undefined): Refused | undefined {
  if (!CHAT_TYPES.has(String(chat.type)))
    return { kind: "refused", message: "only channels and groups can be connected" };
  if (topicId === undefined || chat.is_forum === true) return undefined;
  return { kind: "refused", message: "the group has no topics: leave out the number after the /" };
}

export function createTelegramAuthorizationConnector({
  baseUrl,
}: PlatformAddress): AuthorizationConnector {
  return { connect: (credentials, signal) => connect(baseUrl, credentials, signal) };
}

/** Simulated chats have bots of their own, so that no token needs to be configured. */
const configure: PlatformAuthorization<TelegramBot>["configure"] = (
  { baseUrl, botToken },
  { simulatorUrl },
) =>
  botToken === undefined && !isSimulated(baseUrl, simulatorUrl)
    ? undefined
    : { baseUrl, connector: createTelegramAuthorizationConnector({ baseUrl }) };

export const authorization = {
  configure,
  permissions: undefined,
  revocation: { reason: "not_verified" },
} satisfies PlatformAuthorization<never>;
