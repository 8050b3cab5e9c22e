import type { Account } from "@postrider/contracts/accounts/v1/account_pb";
import { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import { ApiKeyService } from "@postrider/contracts/accounts/v1/api_key_service_pb";
import { DashboardService } from "@postrider/contracts/accounts/v1/dashboard_service_pb";
import { PlatformService } from "@postrider/contracts/accounts/v1/platform_service_pb";
import { WorkspaceService } from "@postrider/contracts/accounts/v1/workspace_service_pb";
import { connectPeer, type Peer } from "@postrider/shared/connect/client";
import { ServiceError } from "@postrider/shared/errors";
import type { OwnIdentity } from "@postrider/shared/identity/settings";
import { reasonOf } from "#src/stack/database.ts";
import type { LocalAccount } from "#src/stack/local-file.ts";

export interface DemoWorkspace {
  readonly workspaceId: string;
  readonly apiKey: string;
  /** One demo account for each platform that this stack can use, in the order of the platforms. */
  readonly accounts: readonly LocalAccount[];
}

const limits = { requestsPerMinute: 6_000, monthlyQuota: 100_000 };

/**
 * Creates what does not exist yet. `known` is what an earlier start stored, used only if the
 * database still has the workspace.
 */
export async function ensureDemoWorkspace(options: {
  readonly accountsUrl: string;
  readonly identity: OwnIdentity;
  readonly known: { readonly workspaceId: string; readonly apiKey: string } | undefined;
}): Promise<DemoWorkspace> {
  const { accountsUrl: baseUrl, identity } = options;
  await using peer = connectPeer({ service: "accounts", baseUrl, identity });
  try {
    const demo = (await findKnown(peer, options.known)) ?? (await createWorkspace(peer));
    return { ...demo, accounts: await ensureAccounts(peer, demo.workspaceId) };
  } catch (error) {
    throw new Error(`the demo workspace could not be made: ${reasonOf(error)}`, { cause: error });
  }
}

/** The address that opens the dashboard once, within 10 minutes. */
export async function issueDashboardLink(options: {
  readonly accountsUrl: string;
  readonly identity: OwnIdentity;
  readonly workspaceId: string;
}): Promise<string> {
  const { accountsUrl: baseUrl, identity, workspaceId } = options;
  await using peer = connectPeer({ service: "accounts", baseUrl, identity });
  const links = peer.client(DashboardService);
  return (await links.issueDashboardLink({ workspaceId, scopes: ["all"] })).url;
}

type Demo = Omit<DemoWorkspace, "accounts">;

async function findKnown(peer: Peer, known: Demo | undefined): Promise<Demo | undefined> {
  if (known === undefined) return undefined;

  const { workspaces } = await peer
    .client(WorkspaceService)
    .batchGetWorkspaces({ ids: [known.workspaceId] });
  return workspaces.length === 0 ? undefined : known;
}

async function createWorkspace(peer: Peer): Promise<Demo> {
  const workspaces = peer.client(WorkspaceService);
  const { workspace } = await workspaces.createWorkspace({ name: "Demo", verified: true });
  const workspaceId = workspace?.id ?? "";
  await workspaces.setWorkspaceLimits({ id: workspaceId, limits });
  const { key } = await peer
    .client(ApiKeyService)
    .createApiKey({ name: "Demo", workspaceIds: [workspaceId], scopes: ["all"] });
  return { workspaceId, apiKey: key };
}

/** Undefined for a real platform: there users connect their own accounts. */
async function makeAccount(
  peer: Peer,
  request: { readonly workspaceId: string; readonly platform: string },
): Promise<Account | undefined> {
  try {
    const accounts = peer.client(AccountService);
    return (await accounts.connectSimulatedAccounts({ ...request, count: 1 })).accounts[0];
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.violations.some(({ code }) => code === "not_simulated")) return undefined;
    throw error;
  }
}

async function ensureAccounts(peer: Peer, workspaceId: string): Promise<LocalAccount[]> {
  const accounts = peer.client(AccountService);
  const [{ platforms }, connected] = await Promise.all([
    peer.client(PlatformService).listPlatforms({}),
    accounts.listAccounts({ workspaceId }),
  ]);
  const usable = platforms.filter((each) => each.available).map((each) => each.platform);
  const found = await Promise.all(
    usable.map(async (platform) => {
      const present = connected.accounts.findLast((account) => account.platform === platform);
      const made = present ?? (await makeAccount(peer, { workspaceId, platform }));
      return made === undefined ? undefined : toLocalAccount(made);
    }),
  );
  return found.filter((account) => account !== undefined);
}

function toLocalAccount({ id, platform, username, externalId }: Account): LocalAccount {
  return { id, platform, username, externalId };
}
