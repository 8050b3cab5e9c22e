import type { ServiceImpl } from "@connectrpc/connect";
import type { QuotaService } from "@postrider/contracts/posts/v1/quota_service_pb";
import type { PostsDeps } from "#src/operations/dependencies.ts";
import { getQuota } from "#src/rpc/get-quota.ts";

export function createQuotaService(
  deps: Pick<PostsDeps, "sql" | "clock" | "workspaces" | "accountService">,
) {
  return {
    getQuota: (request) => getQuota(deps, request),
  } satisfies ServiceImpl<typeof QuotaService>;
}
