import type { Platform } from "#src/platform.ts";
import { authorization } from "./authorization.ts";
import { createYoutubeCommentsConnector } from "./comments/connector.ts";
import { createYoutubeAccountChecks } from "./diagnosis.ts";
import { environment } from "./environment.ts";
import { youtube as facts } from "./facts.ts";
import { createYoutubeMetricsConnector } from "./metrics/connector.ts";
import { createYoutubePublishingConnector } from "./publishing/connector.ts";

export const youtube = {
  ...facts,
  environment,
  authorization,
  publishing: createYoutubePublishingConnector,
  comments: createYoutubeCommentsConnector,
  privateReplies: undefined,
  metrics: createYoutubeMetricsConnector,
  diagnosis: createYoutubeAccountChecks,
  livePublishing: createYoutubePublishingConnector,
  available: undefined,
  links: {
    hosts: ["youtube.com", "m.youtube.com"],
    pattern: /^\/(?:watch\?(?:.*&)?v=|shorts\/)([\w-]{11})/,
  },
} satisfies Platform;
