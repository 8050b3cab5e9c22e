import type { Platform } from "#src/platform.ts";
import { authorization } from "./authorization.ts";
import { createInstagramCommentsConnector } from "./comments/connector.ts";
import { createInstagramAccountChecks } from "./diagnosis.ts";
import { environment } from "./environment.ts";
import { instagram as facts } from "./facts.ts";
import { createInstagramMetricsConnector } from "./metrics/connector.ts";
import { createInstagramPrivateRepliesConnector } from "./private-replies/connector.ts";
import { createInstagramPublishingConnector } from "./publishing/connector.ts";

export const instagram = {
  ...facts,
  environment,
  authorization,
  publishing: createInstagramPublishingConnector,
  comments: createInstagramCommentsConnector,
  privateReplies: createInstagramPrivateRepliesConnector,
  metrics: createInstagramMetricsConnector,
  diagnosis: createInstagramAccountChecks,
  livePublishing: createInstagramPublishingConnector,
  available: undefined,
  links: undefined,
} satisfies Platform;
