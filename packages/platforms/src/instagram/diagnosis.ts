import { CONNECT_AGAIN, readAccount } from "#src/diagnosis/account-answer.ts";
import type { AccountChecks } from "#src/diagnosis/account-checks.ts";
import { toGraphRequest } from "#src/graph-api/graph-request.ts";
import { list, number, object } from "#src/http/platform-answer.ts";
import { apiOfAccount, type InstagramSettings } from "./api-of-account.ts";

export function createInstagramAccountChecks(settings: InstagramSettings): AccountChecks {
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
