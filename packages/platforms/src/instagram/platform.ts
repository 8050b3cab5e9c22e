import type { EnvReader } from "@postrider/shared/config";
import {
  configureApp,
  type PlatformAuthorization,
  type Unconfigured,
} from "#src/authorization/configure.ts";
import { type AccountChecks, CONNECT_AGAIN, readAccount } from "#src/diagnosis/account-checks.ts";
import { type PlatformEnvironment, readClient, readPlace } from "#src/environment.ts";
import { readGraphVersion, toGraphRequest } from "#src/graph-api/graph-request.ts";
import { list, number, object } from "#src/http/platform-answer.ts";
import type { Platform } from "#src/platform.ts";
import { apiOfAccount, type InstagramSettings } from "./api-of-account.ts";
import {
  createInstagramAuthorizationConnector,
  type InstagramApp,
  PERMISSIONS,
} from "./authorization.ts";
import { createInstagramCommentsConnector } from "./comments/connector.ts";
import { instagram as facts } from "./facts.ts";
import { PERMISSIONS as INSTAGRAM_LOGIN } from "./instagram-login.ts";
import { createInstagramMetricsConnector } from "./metrics/connector.ts";
import { createInstagramPrivateRepliesConnector } from "./private-replies/connector.ts";
import { createInstagramPublishingConnector } from "./publishing/connector.ts";

const readHosts = (read: EnvReader) => readPlace(read, facts.rules, "https://graph.facebook.com");

const environment: PlatformEnvironment<Unconfigured<InstagramApp>, InstagramSettings> = {
  readApp: (read, toPage) => {
    const { api, at } = readHosts(read);
    const { version, dialog } = readGraphVersion(read);
    return {
      baseUrl: api,
      version,
      authorizeUrl: toPage(at(`https://www.facebook.com${dialog}`, dialog)),
      ...readClient(read, facts.rules),
      login: read
        .about(
          "How people connect Instagram accounts: `facebook` = they sign in with the Facebook account that manages their Page, `instagram` = they sign in on Instagram itself (Postrider can then not delete posts).",
        )
        .oneOf("INSTAGRAM_LOGIN", ["facebook", "instagram"], "facebook"),
      instagramLogin: {
        baseUrl: at("https://graph.instagram.com", "/login"),
        oauthBaseUrl: at("https://api.instagram.com", "/login"),
        authorizeUrl: toPage(
          at("https://www.instagram.com/oauth/authorize", "/login/oauth/authorize"),
        ),
      },
    };
  },
  readSettings: (read) => {
    const { api, at } = readHosts(read);
    return {
      baseUrl: api,
      loginBaseUrl: at("https://graph.instagram.com", "/login"),
      uploadBaseUrl: at("https://rupload.facebook.com", "/rupload"),
      version: readGraphVersion(read).version,
    };
  },
};

function createInstagramAccountChecks(settings: InstagramSettings): AccountChecks {
  return (account) => [
    {
      name: "posts that Instagram takes",
      remedy: CONNECT_AGAIN,
      run: async (signal) => {
        const path = `${encodeURIComponent(account.externalId)}/content_publishing_limit`;
        const call = { method: "GET", path, query: { fields: "quota_usage,config" } } as const;
        const request = toGraphRequest(apiOfAccount(settings, account), account, call);
        const { json } = await readAccount("Instagram", request, signal);
        const [entry] = list(json, "data");
        const used = number(entry, "quota_usage") ?? 0;
        const total = number(object(entry, "config"), "quota_total");
        const found = `Instagram accepts the token; ${used} of ${total ?? "an unknown number of"} posts were published in the last 24 hours`;
        return total !== undefined && used >= total
          ? { status: "warning", found, remedy: "further posts wait until the limit resets" }
          : { status: "ok", found };
      },
    },
  ];
}

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
