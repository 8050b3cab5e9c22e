import type { EnvReader } from "@postrider/shared/config";
import { type PlatformEnvironment, readPlace } from "#src/environment.ts";
import { telegram } from "./facts.ts";
import type { TelegramSettings } from "./publishing/connector.ts";

export interface TelegramBot {
  readonly baseUrl: string;
  readonly botToken: string | undefined;
}

const readHosts = (read: EnvReader) => readPlace(read, telegram.rules, "https://api.telegram.org");

export const environment: PlatformEnvironment<TelegramBot, TelegramSettings> = {
  readApp: (read) => ({
    baseUrl: readHosts(read).api,
    botToken: read
      .secret("Token of your Telegram bot. Without it, Telegram accounts cannot be connected.")
      .optionalString("TELEGRAM_BOT_TOKEN"),
  }),
  readSettings: (read) => ({ baseUrl: readHosts(read).api }),
};
