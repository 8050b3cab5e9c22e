import type { EnvReader } from "@postrider/shared/config";
import { configureApp, type Unconfigured } from "#src/authorization/configure.ts";
import { type AccountChecks, CONNECT_AGAIN, readAccount } from "#src/diagnosis/account-checks.ts";
import { type PlatformEnvironment, readClient, readPlace } from "#src/environment.ts";
import { header, object, text } from "#src/http/platform-answer.ts";
import { bearer } from "#src/http/platform-request.ts";
import type { Platform } from "#src/platform.ts";
import { createXAuthorizationConnector, PERMISSIONS, type XApp } from "#src/x/authorization.ts";
import { createXCommentsConnector } from "#src/x/comments/connector.ts";
import { x as facts } from "#src/x/facts.ts";
import { createXMetricsConnector } from "#src/x/metrics/connector.ts";
import { createXPublishingConnector, type XSettings } from "#src/x/publishing/connector.ts";

const readHosts = (read: EnvReader) => readPlace(read, facts.rules, "https://api.x.com");

const environment: PlatformEnvironment<Unconfigured<XApp>, XSettings> = {
  readApp: (read, toPage) => {
    const { api, at } = readHosts(read);
    const page = at("https://x.com/i/oauth2/authorize", "/i/oauth2/authorize");
    return { baseUrl: api, authorizeUrl: toPage(page), ...readClient(read, facts.rules) };
  },
  readSettings: (read) => ({
    baseUrl: readHosts(read).api,
    mayResend:
      read
        .about(
          "Whether a post on X is sent once more when X's response was lost and the account's timeline does not show the post. With `off` the post fails with the error `outcome_unknown`.",
          { level: "advanced" },
        )
        .oneOf("X_RESEND", ["on", "off"], "on") === "on",
  }),
};

function createXAccountChecks({ baseUrl }: { readonly baseUrl: string }): AccountChecks {
  return (account) => [
    {
      name: "token at X",
      remedy: CONNECT_AGAIN,
      run: async (signal) => {
        const url = `${baseUrl}/2/users/me?user.fields=verified_type,protected`;
        const call = { method: "GET", url, headers: bearer(account.accessToken) } as const;
        const answer = await readAccount("X", call, signal);
        const user = object(answer.json, "data");
        const kind = text(user, "verified_type") ?? "none";
        const left = header(answer, "x-rate-limit-remaining") ?? "unknown";
        const found = `X accepts the token as @${text(user, "username") ?? ""}; verified type ${kind}; ${left} further calls of this kind are allowed now`;
        return user?.protected === true
          ? {
              status: "warning",
              found: `${found}; the account is protected, so only its followers see posts`,
            }
          : { status: "ok", found };
      },
    },
  ];
}

export const x = {
  ...facts,
  environment,
  authorization: {
    configure: configureApp(createXAuthorizationConnector),
    permissions: [PERMISSIONS],
    revocation: { ends: "tokens" },
  },
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
