import { type AccountChecks, CONNECT_AGAIN, readAccount } from "#src/diagnosis/account-checks.ts";
import { text } from "#src/http/platform-answer.ts";
import { bearer } from "#src/http/platform-request.ts";
import type { Platform } from "#src/platform.ts";
import { authorization } from "./authorization.ts";
import { createBlueskyCommentsConnector } from "./comments/connector.ts";
import { environment } from "./environment.ts";
import { bluesky as facts } from "./facts.ts";
import { createBlueskyMetricsConnector } from "./metrics/connector.ts";
import { createBlueskyPublishingConnector } from "./publishing/connector.ts";
import { hostOf, isForeign } from "./publishing/xrpc.ts";

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
  authorization,
  publishing: createBlueskyPublishingConnector,
  comments: createBlueskyCommentsConnector,
  privateReplies: undefined,
  metrics: createBlueskyMetricsConnector,
  diagnosis: createBlueskyAccountChecks,
  available: undefined,
  links: { hosts: ["bsky.app"], pattern: /^\/profile\/[^/]+\/post\/([\w.~:-]+)/ },
} satisfies Platform;
