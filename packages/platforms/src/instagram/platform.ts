import {
  configureApp,
  type PlatformAuthorization,
  type Unconfigured,
} from "#src/authorization/configure.ts";
import type { Platform } from "#src/platform.ts";
import {
  createInstagramAuthorizationConnector,
  PERMISSIONS,
  type InstagramApp,
} from "./authorization.ts";
import { createInstagramCommentsConnector } from "./comments/connector.ts";
import { createInstagramAccountChecks } from "./diagnosis.ts";
import { environment } from "./environment.ts";
import { instagram as facts } from "./facts.ts";
import { PERMISSIONS as INSTAGRAM_LOGIN } from "./instagram-login.ts";
import { createInstagramMetricsConnector } from "./metrics/connector.ts";
import { createInstagramPrivateRepliesConnector } from "./private-replies/connector.ts";
import { createInstagramPublishingConnector } from "./publishing/connector.ts";

const configure: PlatformAuthorization<Unconfigured<InstagramApp>>["configure"] = (
  settings,
  installation,
) => {
  const configured = configureApp(createInstagramAuthorizationConnector)(settings, installation);
  if (configured === undefined || settings.login === "facebook") return configured;
  return { ...configured, baseUrl: settings.instagramLogin.baseUrl };
};

export const instagram = {
  ...facts,
  environment,
  authorization: {
    configure,
    permissions: [PERMISSIONS, INSTAGRAM_LOGIN],
    revocation: { reason: "app_wide_grant" },
  },
  publishing: createInstagramPublishingConnector,
  comments: createInstagramCommentsConnector,
  privateReplies: createInstagramPrivateRepliesConnector,
  metrics: createInstagramMetricsConnector,
  diagnosis: createInstagramAccountChecks,
  livePublishing: createInstagramPublishingConnector,
  available: undefined,
  links: undefined,
} satisfies Platform;
