import type { Platform } from "#src/platform.ts";
import { authorization } from "./authorization.ts";
import { createTelegramAccountChecks } from "./diagnosis.ts";
import { environment } from "./environment.ts";
import { telegram as facts } from "./facts.ts";
import { createTelegramPublishingConnector } from "./publishing/connector.ts";

export const telegram = {
  ...facts,
  environment,
  authorization,
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
