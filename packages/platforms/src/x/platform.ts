import { type AccountChecks, CONNECT_AGAIN, readAccount } from "#src/diagnosis/account-checks.ts";
import { header, object, text } from "#src/http/platform-answer.ts";
import { bearer } from "#src/http/platform-request.ts";
import type { Platform } from "#src/platform.ts";
import { authorization } from "./authorization.ts";
import { createXCommentsConnector } from "./comments/connector.ts";
import { environment } from "./environment.ts";
import { x as facts } from "./facts.ts";
import { createXMetricsConnector } from "./metrics/connector.ts";
import { createXPublishingConnector } from "./publishing/connector.ts";

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
  authorization,
  publishing: createXPublishingConnector,
  comments: createXCommentsConnector,
  privateReplies: undefined,
  metrics: createXMetricsConnector,
  diagnosis: createXAccountChecks,
  available: undefined,
  links: {
    hosts: ["x.com", "twitter.com", "mobile.twitter.com"],
    pattern: /^\/(?:i\/web|\w+)\/status\/(\d+)/,
  },
} satisfies Platform;
