import type { EnvReader } from "@postrider/shared/config";
import { configureApp, type Unconfigured } from "#src/authorization/configure.ts";
import { type AccountChecks, CONNECT_AGAIN, readAccount } from "#src/diagnosis/account-checks.ts";
import { type PlatformEnvironment, readClient, readPlace } from "#src/environment.ts";
import { type GraphApi, readGraphVersion, toGraphRequest } from "#src/graph-api/graph-request.ts";
import type { GraphApp } from "#src/graph-api/token-owner.ts";
import { header, text } from "#src/http/platform-answer.ts";
import type { Platform } from "#src/platform.ts";
import { createFacebookAuthorizationConnector, PERMISSIONS } from "./authorization.ts";
import { createFacebookCommentsConnector } from "./comments/connector.ts";
import { facebook as facts } from "./facts.ts";
import { createFacebookMetricsConnector } from "./metrics/connector.ts";
import { createFacebookPrivateRepliesConnector } from "./private-replies/connector.ts";
import {
  createFacebookPublishingConnector,
  type FacebookSettings,
} from "./publishing/connector.ts";

const readHosts = (read: EnvReader) => readPlace(read, facts.rules, "https://graph.facebook.com");

const environment: PlatformEnvironment<Unconfigured<GraphApp>, FacebookSettings> = {
  readApp: (read, toPage) => {
    const { api, at } = readHosts(read);
    const { version, dialog } = readGraphVersion(read);
    return {
      baseUrl: api,
      version,
      authorizeUrl: toPage(at(`https://www.facebook.com${dialog}`, dialog)),
      ...readClient(read, facts.rules),
    };
  },
  readSettings: (read) => {
    const { api, at } = readHosts(read);
    return {
      baseUrl: api,
      uploadBaseUrl: at("https://rupload.facebook.com", "/rupload"),
      version: readGraphVersion(read).version,
      // Meta calls graph-video.facebook.com deprecated ("Video API: Get started", 2025-02-10).
      videoBaseUrl: read
        .about(
          "Address to which videos for Facebook Pages are uploaded. If Facebook refuses videos there, try https://graph-video.facebook.com, which older documents of Meta name.",
          { level: "advanced" },
        )
        .url("FACEBOOK_VIDEO_BASE_URL", at("https://graph.facebook.com", "/graph-video")),
      isTwoPhase:
        read
          .about(
            "Whether posts and videos on Facebook Pages are created unpublished and published by a second call, so that a lost response cannot cause a second post. Facebook's current guide does not describe this, so check with a test post that your Page allows it.",
            { level: "advanced" },
          )
          .oneOf("FACEBOOK_TWO_PHASE", ["on", "off"], "off") === "on",
    };
  },
};

function usageOf(answer: Parameters<typeof header>[0]): string {
  const usage = header(answer, "x-business-use-case-usage") ?? header(answer, "x-app-usage");
  const used = [...(usage ?? "").matchAll(/"call_count":(\d+)/g)].map(([, count]) => Number(count));
  return used.length === 0
    ? "Facebook says nothing of rate limits"
    : `${Math.max(...used)} % of the rate limit is used`;
}

function createFacebookAccountChecks(api: GraphApi): AccountChecks {
  return (account) => [
    {
      name: "token at Facebook",
      remedy: CONNECT_AGAIN,
      run: async (signal) => {
        const path = encodeURIComponent(account.externalId);
        const call = { method: "GET", path, query: { fields: "id,name" } } as const;
        const answer = await readAccount("Facebook", toGraphRequest(api, account, call), signal);
        const found = `Facebook accepts the token of the Page ${text(answer.json, "name") ?? ""}; ${usageOf(answer)}`;
        return { status: "ok", found };
      },
    },
  ];
}

export const facebook = {
  ...facts,
  environment,
  authorization: {
    configure: configureApp(createFacebookAuthorizationConnector),
    permissions: [PERMISSIONS],
    revocation: { reason: "app_wide_grant" },
  },
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
