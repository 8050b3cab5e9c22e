import type { Platform } from "#src/platform.ts";
import { authorization } from "./authorization.ts";
import { createTiktokAvailableReader } from "./available.ts";
import { createTiktokAccountChecks } from "./diagnosis.ts";
import { environment } from "./environment.ts";
import { tiktok as facts } from "./facts.ts";
import { createTiktokMetricsConnector } from "./metrics/connector.ts";
import { createTiktokPublishingConnector } from "./publishing/connector.ts";

export const tiktok = {
  ...facts,
  environment,
  authorization,
  publishing: createTiktokPublishingConnector,
  comments: undefined,
  privateReplies: undefined,
  metrics: createTiktokMetricsConnector,
  diagnosis: createTiktokAccountChecks,
  livePublishing: createTiktokPublishingConnector,
  available: ({ baseUrl }: { readonly baseUrl: string }) => createTiktokAvailableReader(baseUrl),
  links: { hosts: ["tiktok.com"], pattern: /^\/@[^/]+\/(?:video|photo)\/(\d+)/ },
} satisfies Platform;
