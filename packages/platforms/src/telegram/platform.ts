import { isSimulated, type PlatformAuthorization } from "#src/authorization/configure.ts";
import type { Platform } from "#src/platform.ts";
import { createTelegramAuthorizationConnector } from "./authorization.ts";
import { createTelegramAccountChecks } from "./diagnosis.ts";
import { environment, type TelegramBot } from "./environment.ts";
import { telegram as facts } from "./facts.ts";
import { createTelegramPublishingConnector } from "./publishing/connector.ts";

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
