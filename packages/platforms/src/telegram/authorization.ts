import type {
  ConnectResult,
  Connector,
  LoginValues,
  Refused,
  Unavailable,
} from "#src/authorization/connector.ts";
import { callPlatform, object, text, unavailable } from "#src/authorization/http.ts";

/** What the Bot API says when the token, the chat or the bot's place in it is not what the person thought. */
const DEFINITE = new Set([400, 401, 403, 404]);

type Result = { readonly kind: "result"; readonly result: Readonly<Record<string, unknown>> };
type Ask = (
  method: string,
  query?: Readonly<Record<string, string>>,
) => Promise<Result | Refused | Unavailable>;

function openBot(baseUrl: string, botToken: string, signal: AbortSignal): Ask {
  return async (method, query = {}) => {
    const url = `${baseUrl}/bot${botToken}/${method}?${new URLSearchParams(query).toString()}`;
    const answer = await callPlatform({ method: "GET", url }, signal);
    if (answer.kind !== "answer") return answer;
    const result = object(answer.json, "result");
    if (result !== undefined) return { kind: "result", result };
    const message = `Telegram answered ${answer.status}`;
    const isRefusal = answer.json?.ok === false && DEFINITE.has(answer.status);
    return isRefusal ? { kind: "refused", message } : unavailable(message);
  };
}

/** Whether the bot may post in the channel; a failure says why nobody knows. */
async function checkMember(ask: Ask, chatId: string): Promise<Refused | Unavailable | undefined> {
  const me = await ask("getMe");
  if (me.kind !== "result") return me;
  const member = await ask("getChatMember", { chat_id: chatId, user_id: String(me.result.id) });
  if (member.kind !== "result") return member;
  const { status, can_post_messages: mayPost } = member.result;
  if (status === "administrator" && mayPost === true) return undefined;
  return { kind: "refused", message: "the bot may not post in the channel" };
}

/** Checks the token, the channel and that the bot may post there. */
async function connect(
  baseUrl: string,
  { botToken, chatId }: LoginValues,
  signal: AbortSignal,
): Promise<ConnectResult> {
  if (typeof botToken !== "string" || typeof chatId !== "string")
    return { kind: "refused", message: "the login is not complete" };
  const ask = openBot(baseUrl, botToken, signal);
  const chat = await ask("getChat", { chat_id: chatId });
  if (chat.kind !== "result") return chat;
  const externalId = String(chat.result.id);
  const failure = await checkMember(ask, externalId);
  if (failure !== undefined) return failure;
  const username = text(chat.result, "username") ?? externalId;
  const displayName = text(chat.result, "title") ?? username;
  const tokens = { accessToken: botToken };
  const connection = { externalId, username, displayName, tokens, attributes: {} };
  return { kind: "connected", connection };
}

/** Telegram: a bot's token, which does not end, and a channel that the bot administers. */
export function createTelegramConnector(baseUrl: string): Connector {
  return { connect: (login, signal) => connect(baseUrl, login, signal) };
}
