import { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import { PauseService } from "@postrider/contracts/delivery/v1/pause_service_pb";
import type { Services } from "#src/services.ts";

interface Cells {
  readonly id: string;
  readonly source: Services;
  readonly target: Services;
}

async function listPauses(services: Services) {
  return (await services.client("delivery", PauseService).listPauses({})).pauses;
}

/** Publishing that an operator has paused for the workspace or an account of it stays paused. */
export async function carryPauses({ id, source, target }: Cells): Promise<void> {
  const accounts = source.client("accounts", AccountService);
  for (const { kind, key, reason } of await listPauses(source)) {
    const refs = kind === "account" ? [{ workspaceId: id, accountId: key }] : [];
    const isOwnAccount = (await accounts.batchGetAccounts({ refs })).accounts.length > 0;
    if (!isOwnAccount && (kind !== "workspace" || key !== id)) continue;
    const pause = { kind, key, ...(reason === undefined ? {} : { reason }) };
    await target.client("delivery", PauseService).pausePublishing(pause);
  }
}

/** Platforms that are paused here and not in the other cell, where that is for all workspaces. */
export async function listOtherPlatforms({ source, target }: Cells): Promise<readonly string[]> {
  const [here, there] = (await Promise.all([source, target].map(listPauses))).map((pauses) =>
    pauses.filter(({ kind }) => kind === "platform").map(({ key }) => key),
  );
  return [...new Set(here).difference(new Set(there))];
}
