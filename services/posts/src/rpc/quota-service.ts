import type { Client, ServiceImpl } from "@connectrpc/connect";
import type { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import type { QuotaService } from "@postrider/contracts/posts/v1/quota_service_pb";
import type { Sql } from "@postrider/shared/postgres";
import type { WorkspaceDirectory } from "#src/clients/workspaces.ts";
import type { DatabaseClock } from "#src/db/clock.ts";
import { getQuota } from "#src/rpc/get-quota.ts";

export interface QuotaServiceDeps {
  readonly sql: Sql;
  readonly clock: DatabaseClock;
  readonly workspaces: WorkspaceDirectory;
  readonly accountService: Client<typeof AccountService>;
}

/** The table of contents of QuotaService. */
export function createQuotaService(deps: QuotaServiceDeps) {
  return {
    getQuota: (request) => getQuota(deps, request),
  } satisfies ServiceImpl<typeof QuotaService>;
}
