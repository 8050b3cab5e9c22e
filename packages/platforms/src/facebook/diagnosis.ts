import { CONNECT_AGAIN, readAccount } from "#src/diagnosis/account-answer.ts";
import type { AccountChecks } from "#src/diagnosis/account-checks.ts";
import { type GraphApi, toGraphRequest } from "#src/graph-api/graph-request.ts";
import { header, text } from "#src/http/platform-answer.ts";

function usageOf(answer: Parameters<typeof header>[0]): string {
  const usage = header(answer, "x-business-use-case-usage") ?? header(answer, "x-app-usage");
  const used = [...(usage ?? "").matchAll(/"call_count":(\d+)/g)].map(([, count]) => Number(count));
  return used.length === 0
    ? "Facebook says nothing of rate limits"
    : `${Math.max(...used)} % of the rate limit is used`;
}

export function createFacebookAccountChecks(api: GraphApi): AccountChecks {
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
