import { type AccountChecks, CONNECT_AGAIN, readAccount } from "#src/diagnosis/account-checks.ts";
import { edgeOf, toGraphSite } from "#src/graph-api/graph-request.ts";
import { list, number, object } from "#src/http/platform-answer.ts";
import type { Platform } from "#src/platform.ts";
import { toRequest } from "#src/publishing/caller.ts";
import { apiOfAccount, type InstagramSettings } from "./api-of-account.ts";
import { authorization } from "./authorization.ts";
import { createInstagramCommentsConnector } from "./comments/connector.ts";
import { environment } from "./environment.ts";
import { instagram as facts } from "./facts.ts";
import { createInstagramMetricsConnector } from "./metrics/connector.ts";
import { createInstagramPrivateRepliesConnector } from "./private-replies/connector.ts";
import { createInstagramPublishingConnector } from "./publishing/connector.ts";

function createInstagramAccountChecks(settings: InstagramSettings): AccountChecks {
  return (account) => [
    {
      name: "posts that Instagram takes",
      remedy: CONNECT_AGAIN,
      run: async (signal) => {
        const path = edgeOf(account, "content_publishing_limit");
        const call = { path, query: { fields: "quota_usage,config" } };
        const site = toGraphSite(apiOfAccount(settings, account), account);
        const request = toRequest(site, call);
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

export const instagram = {
  ...facts,
  environment,
  authorization,
  publishing: createInstagramPublishingConnector,
  comments: createInstagramCommentsConnector,
  privateReplies: createInstagramPrivateRepliesConnector,
  metrics: createInstagramMetricsConnector,
  diagnosis: createInstagramAccountChecks,
  available: undefined,
  links: undefined,
} satisfies Platform;
