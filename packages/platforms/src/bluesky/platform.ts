import type { Platform } from "#src/platform.ts";
import { authorization } from "./authorization.ts";
import { createBlueskyCommentsConnector } from "./comments/connector.ts";
import { createBlueskyAccountChecks } from "./diagnosis.ts";
import { environment } from "./environment.ts";
import { bluesky as facts } from "./facts.ts";
import { createBlueskyMetricsConnector } from "./metrics/connector.ts";
import { createBlueskyPublishingConnector } from "./publishing/connector.ts";

export const bluesky = {
  ...facts,
  environment,
  authorization,
  publishing: createBlueskyPublishingConnector,
  comments: createBlueskyCommentsConnector,
  privateReplies: undefined,
  metrics: createBlueskyMetricsConnector,
  diagnosis: createBlueskyAccountChecks,
  livePublishing: createBlueskyPublishingConnector,
  available: undefined,
  links: { hosts: ["bsky.app"], pattern: /^\/profile\/[^/]+\/post\/([\w.~:-]+)/ },
} satisfies Platform;
