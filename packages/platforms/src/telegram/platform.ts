import type { EnvReader } from "@postrider/shared/config";
import { isSimulated, type PlatformAuthorization } from "#src/authorization/configure.ts";
import { type AccountChecks, CONNECT_AGAIN, readAccount } from "#src/diagnosis/account-checks.ts";
import { type PlatformEnvironment, readPlace } from "#src/environment.ts";
import { type JsonObject, object, text } from "#src/http/platform-answer.ts";
import { toSearch } from "#src/http/platform-request.ts";
import type { Platform } from "#src/platform.ts";
import { createTelegramAuthorizationConnector, maySend } from "./authorization.ts";
import { parseChatAddress } from "./chat-address.ts";
import { telegram as facts } from "./facts.ts";
import {
  createTelegramPublishingConnector,
  type TelegramSettings,
} from "./publishing/connector.ts";

interface TelegramBot {
  readonly baseUrl: string;
  readonly botToken: string | undefined;
}

const readHosts = (read: EnvReader) => readPlace(read, facts.rules, "https://api.telegram.org");

const environment: PlatformEnvironment<TelegramBot, TelegramSettings> = {
  readApp: (read) => ({
    baseUrl: readHosts(read).api,
    botToken: read
      .secret("Token of your Telegram bot. Without it, Telegram accounts cannot be connected.")
      .optionalString("TELEGRAM_BOT_TOKEN"),
  }),
  readSettings: (read) => ({ baseUrl: readHosts(read).api }),
};

function describeRights(chat: JsonObject, bot: JsonObject, member: JsonObject): string {
  const deletes = member.can_delete_messages === true || chat.type !== "channel";
  return `Telegram accepts the token of @${text(bot, "username") ?? ""}; in ${text(chat, "title") ?? "the chat"} (${String(chat.type)}) the bot is ${String(member.status)} and may ${maySend(chat, member) ? "" : "not "}post${deletes ? "" : ", but may not delete messages"}`;
}

function createTelegramAccountChecks({ baseUrl }: { readonly baseUrl: string }): AccountChecks {
  return ({ accessToken, externalId }) => [
    {
      name: "rights of the bot",
      remedy: CONNECT_AGAIN,
      run: async (signal) => {
        const ask = async (method: string, query: Readonly<Record<string, string>> = {}) => {
          const url = `${baseUrl}/bot${accessToken}/${method}${toSearch(query)}`;
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

const configure: PlatformAuthorization<TelegramBot>["configure"] = (
  { baseUrl, botToken },
  { simulatorUrl },
) =>
  botToken === undefined && !isSimulated(baseUrl, simulatorUrl)
    ? undefined
    : { baseUrl, connector: createTelegramAuthorizationConnector({ baseUrl }) };

export const telegram = {
  ...facts,
  environment,
  authorization: {
    configure,
    permissions: undefined,
    revocation: { reason: "not_verified" },
  },
  publishing: createTelegramPublishingConnector,
  comments: undefined,
  privateReplies: undefined,
  metrics: undefined,
  diagnosis: createTelegramAccountChecks,
  livePublishing: createTelegramPublishingConnector,
  available: undefined,
  links: {
    hosts: ["t.me", "telegram.me"],
    pattern: /^\/(?:c\/\d+|(?:s\/)?\w+)\/(\d+)/,
  },
} satisfies Platform;
