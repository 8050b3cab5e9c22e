import { CONNECT_AGAIN, readAccount } from "#src/diagnosis/account-answer.ts";
import type { AccountChecks } from "#src/diagnosis/account-checks.ts";
import { header, object, text } from "#src/http/platform-answer.ts";
import { bearer } from "#src/http/platform-request.ts";

export function createXAccountChecks({ baseUrl }: { readonly baseUrl: string }): AccountChecks {
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
