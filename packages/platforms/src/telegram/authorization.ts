import { askPlatform, INCOMPLETE, unavailable } from "#src/authorization/call.ts";
import { toConnectResult } from "#src/authorization/connection.ts";
import type {
  AuthorizationConnector,
  ConnectResult,
  EnteredCredentials,
  Refused,
  Unavailable,
} from "#src/authorization/connector.ts";
import { type JsonObject, object, text } from "#src/http/platform-answer.ts";

/** HTTP statuses with which Telegram's Bot API refuses the token, the channel or the bot's rights in the channel. */
const REFUSALS = new Set([400, 401, 403, 404]);

type Result = { readonly kind: "result"; readonly result: JsonObject };
type Ask = (
  method: string,
  query?: Readonly<Record<string, string>>,
) => Promise<Result | Refused | Unavailable>;

function openBot(baseUrl: string, botToken: string, signal: AbortSignal): Ask {
  return async (method, query = {}) => {
    const url = `${baseUrl}/bot${botToken}/${method}?${new URLSearchParams(query).toString()}`;
    const answer = await askPlatform({ method: "GET", url, secrets: [botToken] }, signal);
    if (answer.kind !== "answer") return answer;
    const result = object(answer.json, "result");
    if (result !== undefined) return { kind: "result", result };
    const message = `Telegram answered ${answer.status}`;
    const isRefusal = answer.json?.ok === false && REFUSALS.has(answer.status);
    return isRefusal ? { kind: "refused", message } : unavailable(message);
  };
}

/**
 * Returns why the bot cannot post in the Telegram channel, or why its rights could not be checked; undefined when it
 * can post.
 */
async function checkMember(ask: Ask, chatId: string): Promise<Refused | Unavailable | undefined> {
  const me = await ask("getMe");
  if (me.kind !== "result") return me;
  const member = await ask("getChatMember", { chat_id: chatId, user_id: String(me.result.id) });
  if (member.kind !== "result") return member;
  const { status, can_post_messages: mayPost } = member.result;
  if (status === "administrator" && mayPost === true) return undefined;
  return { kind: "refused", message: "the bot may not post in the channel" };
}

/** Checks the bot token, the Telegram channel and the bot's right to post there, and connects the channel. */
async function connect(
  baseUrl: string,
  { botToken, chatId }: EnteredCredentials,
  signal: AbortSignal,
): Promise<ConnectResult> {
  if (typeof botToken !== "string" || typeof chatId !== "string") return INCOMPLETE;
  const ask = openBot(baseUrl, botToken, signal);
  const chat = await ask("getChat", { chat_id: chatId });
  if (chat.kind !== "result") return chat;
  const externalId = String(chat.result.id);
  const failure = await checkMember(ask, externalId);
  if (failure !== undefined) return failure;
  const username = text(chat.result, "username") ?? externalId;
  const profile = { externalId, username, displayName: text(chat.result, "title") };
  const otherwise = unavailable("Telegram did not identify the channel");
  return toConnectResult(profile, { tokens: { accessToken: botToken } }, otherwise);
}

/**
 * Creates the connector of Telegram channels: an account has the token of a bot, which does not expire, and a channel
 * that the bot administers.
 */
export function createTelegramAuthorizationConnector({
  baseUrl,
}: {
  readonly baseUrl: string;
}): AuthorizationConnector {
  return { connect: (credentials, signal) => connect(baseUrl, credentials, signal) };
}
