import type { Platform } from "#src/platform.ts";
import { authorization } from "./authorization.ts";
import { createFacebookCommentsConnector } from "./comments/connector.ts";
import { createFacebookAccountChecks } from "./diagnosis.ts";
import { environment } from "./environment.ts";
import { facebook as facts } from "./facts.ts";
import { createFacebookMetricsConnector } from "./metrics/connector.ts";
import { createFacebookPrivateRepliesConnector } from "./private-replies/connector.ts";
import {
  createFacebookPublishingConnector,
  type FacebookSettings,
} from "./publishing/connector.ts";

export const facebook = {
  ...facts,
  environment,
  authorization,
  publishing: createFacebookPublishingConnector,
  comments: createFacebookCommentsConnector,
  privateReplies: createFacebookPrivateRepliesConnector,
  metrics: createFacebookMetricsConnector,
  diagnosis: createFacebookAccountChecks,
  // The post is always created unpublished first, also when `FACEBOOK_TWO_PHASE` is off and posts
  // are published with one call, because no other post on Facebook is invisible to readers.
  livePublishing: (settings: FacebookSettings) =>
    createFacebookPublishingConnector({ ...settings, isTwoPhase: true }),
  available: undefined,
  links: {
    // Only these forms of links to Facebook posts contain the id that Facebook's API uses.
    hosts: ["facebook.com", "m.facebook.com"],
    pattern: /^\/(?:reel\/|[\w.-]+\/videos\/|(?=\d+_))(\d+(?:_\d+)?)/,
  },
} satisfies Platform;
