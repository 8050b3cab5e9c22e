import type { EnvReader } from "@postrider/shared/config";
import { configureApp } from "#src/authorization/configure.ts";
import { type AccountChecks, CONNECT_AGAIN, readAccount } from "#src/diagnosis/account-checks.ts";
import { type PlatformEnvironment, readPlace } from "#src/environment.ts";
import { text } from "#src/http/platform-answer.ts";
import { bearer } from "#src/http/platform-request.ts";
import type { Platform } from "#src/platform.ts";
import { createBlueskyAuthorizationConnector } from "./authorization.ts";
import { createBlueskyCommentsConnector } from "./comments/connector.ts";
import { bluesky as facts } from "./facts.ts";
import type { BlueskyDirectory } from "./find-repository.ts";
import { createBlueskyMetricsConnector } from "./metrics/connector.ts";
import { type BlueskySettings, createBlueskyPublishingConnector } from "./publishing/connector.ts";
import { hostOf, isForeign } from "./publishing/xrpc.ts";

const readHosts = (read: EnvReader) => readPlace(read, facts.rules, "https://bsky.social");

const environment: PlatformEnvironment<BlueskyDirectory, BlueskySettings> = {
  readApp: (read) => {
    const { api, at } = readHosts(read);
    // The public directory (PLC) says on which server each Bluesky account is.
    return { baseUrl: api, plcUrl: at("https://plc.directory", "/plc") };
  },
  readSettings: (read, outbound) => ({
    baseUrl: readHosts(read).api,
    outbound,
    videoBaseUrl: read
      .about(
        "Address of Bluesky's video service, which serves the accounts of all Bluesky servers.",
        {
          level: "advanced",
        },
      )
      .url("BLUESKY_VIDEO_BASE_URL", "https://video.bsky.app"),
  }),
};

function createBlueskyAccountChecks({ baseUrl }: { readonly baseUrl: string }): AccountChecks {
  return (account) => [
    {
      name: "session at Bluesky",
      remedy: CONNECT_AGAIN,
      run: async (signal) => {
        const host = hostOf(baseUrl, account);
        const url = `${host}/xrpc/com.atproto.server.getSession`;
        const headers = bearer(account.accessToken);
        const call = { method: "GET", url, headers, isForeign: isForeign(account) } as const;
        const { json } = await readAccount("Bluesky", call, signal);
        const found = `${new URL(host).host} accepts the session of @${text(json, "handle") ?? ""} (${text(json, "did") ?? ""})`;
        return json.active === false
          ? {
              status: "failed",
              found: `${found}; the account is not active: ${text(json, "status") ?? "no reason"}`,
              remedy: "the owner must act in Bluesky",
            }
          : { status: "ok", found };
      },
    },
  ];
}

export const bluesky = {
  ...facts,
  environment,
  authorization: {
    configure: configureApp(createBlueskyAuthorizationConnector),
    permissions: undefined,
    revocation: { ends: "tokens" },
  },
  publishing: createBlueskyPublishingConnector,
  comments: createBlueskyCommentsConnector,
  privateReplies: undefined,
  metrics: createBlueskyMetricsConnector,
  diagnosis: createBlueskyAccountChecks,
  livePublishing: createBlueskyPublishingConnector,
  available: undefined,
  links: { hosts: ["bsky.app"], pattern: /^\/profile\/[^/]+\/post\/([\w.~:-]+)/ },
} satisfies Platform;
