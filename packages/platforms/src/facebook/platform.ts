import { type AccountChecks, CONNECT_AGAIN, readAccount } from "#src/diagnosis/account-checks.ts";
import { type GraphApi, toGraphSite } from "#src/graph-api/graph-request.ts";
import { header, text } from "#src/http/platform-answer.ts";
import type { Platform } from "#src/platform.ts";
import { toRequest } from "#src/publishing/caller.ts";
import { authorization } from "./authorization.ts";
import { createFacebookCommentsConnector } from "./comments/connector.ts";
import { environment } from "./environment.ts";
import { facebook as facts } from "./facts.ts";
import { createFacebookMetricsConnector } from "./metrics/connector.ts";
import { createFacebookPrivateRepliesConnector } from "./private-replies/connector.ts";
import { createFacebookPublishingConnector } from "./publishing/connector.ts";

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
        const call = { path: encodeURIComponent(account.externalId), query: { fields: "id,name" } };
        const request = toRequest(toGraphSite(api, account), call);
        const answer = await readAccount("Facebook", request, signal);
        const found = `Facebook accepts the token of the Page ${text(answer.json, "name") ?? ""}; ${usageOf(answer)}`;
        return { status: "ok", found };
      },
    },
  ];
}

export const facebook = {
  ...facts,
  environment,
  authorization,
  publishing: createFacebookPublishingConnector,
  comments: createFacebookCommentsConnector,
  privateReplies: createFacebookPrivateRepliesConnector,
  metrics: createFacebookMetricsConnector,
  diagnosis: createFacebookAccountChecks,
  available: undefined,
  links: {
    // Only these forms of links to Facebook posts contain the id that Facebook's API uses.
    hosts: ["facebook.com", "m.facebook.com"],
    pattern: /^\/(?:reel\/|[\w.-]+\/videos\/|(?=\d+_))(\d+(?:_\d+)?)/,
  },
} satisfies Platform;
