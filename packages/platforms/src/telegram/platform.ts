import { type AccountChecks, CONNECT_AGAIN, readAccount } from "#src/diagnosis/account-checks.ts";
import { type JsonObject, object, text } from "#src/http/platform-answer.ts";
import type { Platform } from "#src/platform.ts";
import { authorization, maySend } from "./authorization.ts";
import { parseChatAddress } from "./chat-address.ts";
import { environment } from "./environment.ts";
import { telegram as facts } from "./facts.ts";
import { createTelegramPublishingConnector } from "./publishing/connector.ts";

function describeRights(chat: JsonObject, bot: JsonObject, member: JsonObject): string {
  return `Telegram accepts the token of @${text(bot, "username") ?? ""}; in ${text(chat, "title") ?? "the chat"} (${String(chat.type)}) the bot is ${String(member.status)} and may ${maySend(chat, member) ? "" : "not "}post`;
}

function createTelegramAccountChecks({ baseUrl }: { readonly baseUrl: string }): AccountChecks {
  return ({ accessToken, externalId }) => [
    {
      name: "rights of the bot",
      remedy: CONNECT_AGAIN,
      run: async (signal) => {
        const ask = async (method: string, query: Readonly<Record<string, string>> = {}) => {
          const url = `${baseUrl}/bot${accessToken}/${method}?${new URLSearchParams(query).toString()}`;
          const call = { method: "GET", url, secrets: [accessToken] } as const;
          const { json } = await readAccount("Telegram", call, signal);
          return object(json, "result") ?? {};
        };
        const bot = await ask("getMe");
        const { chatId } = parseChatAddress(externalId);
        const chat = await ask("getChat", { chat_id: chatId });
        const query = { chat_id: chatId, user_id: String(bot.id) };
        const member = await ask("getChatMember", query);
        const found = describeRights(chat, bot, member);
        return maySend(chat, member)
          ? { status: "ok", found }
          : { status: "failed", found, remedy: "give the bot the right to post in the chat" };
      },
    },
  ];
}

export const telegram = {
  ...facts,
  environment,
  authorization,
  publishing: createTelegramPublishingConnector,
  comments: undefined,
  privateReplies: undefined,
  metrics: undefined,
  diagnosis: createTelegramAccountChecks,
  available: undefined,
  links: {
    hosts: ["t.me", "telegram.me"],
    pattern: /^\/(?:c\/\d+|(?:s\/)?\w+)\/(\d+)/,
  },
} satisfies Platform;
