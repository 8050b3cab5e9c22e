import type { Platform } from "#src/platform.ts";
import { authorization } from "./authorization.ts";
import { createXCommentsConnector } from "./comments/connector.ts";
import { createXAccountChecks } from "./diagnosis.ts";
import { environment } from "./environment.ts";
import { x as facts } from "./facts.ts";
import { createXMetricsConnector } from "./metrics/connector.ts";
import { createXPublishingConnector } from "./publishing/connector.ts";

export const x = {
  ...facts,
  environment,
  authorization,
  publishing: createXPublishingConnector,
  comments: createXCommentsConnector,
  privateReplies: undefined,
  metrics: createXMetricsConnector,
  diagnosis: createXAccountChecks,
  livePublishing: createXPublishingConnector,
  available: undefined,
  links: {
    hosts: ["x.com", "twitter.com", "mobile.twitter.com"],
    pattern: /^\/(?:i\/web|\w+)\/status\/(\d+)/,
  },
} satisfies Platform;
