import type { Credential } from "@postrider/contracts/accounts/v1/credential_service_pb";
import type { PublishingConnector } from "@postrider/platforms/publishing/connector";
import type { DeletionOutcome } from "@postrider/platforms/publishing/outcome";
import { isPlatformId } from "@postrider/platforms/registry";
import { refreshCredential, requireReconnect } from "#src/publishing/clients/accounts.ts";
import type { DeletionResult, DeletionTask } from "#src/publishing/domain/deletion.ts";
import type { PublishingDeps } from "#src/publishing/jobs/publishing/deps.ts";

/** What deleting needs from outside. */
export type DeletingDeps = Pick<PublishingDeps, "accounts" | "connectors" | "logger" | "settings">;

/** One claimed deletion, with what its owner says about the account. */
export interface DeletionWork {
  readonly task: DeletionTask;
  readonly credential: Credential;
  /** The process stops. */
  readonly stopping: AbortSignal;
}

/** One call takes no longer; with a refreshed token in between, two of them fit into a lease. */
const LEASE_PART = 1 / 3;

const RECONNECT = "account_reconnect_required";

function giveUp(code: Extract<DeletionResult, { kind: "given_up" }>["code"], message = "") {
  return { kind: "given_up", code, message } as const;
}

/** Why the platform is not asked at all. */
function findObstacle({ task, credential }: DeletionWork): DeletionResult | undefined {
  if (task.externalId === "")
    return giveUp("account_action_needed", "the platform's id of the post is not known");
  switch (credential.accountStatus) {
    case "active":
      return undefined;
    case "reconnect_required":
      return giveUp(RECONNECT);
    default:
      return giveUp("account_disconnected");
  }
}

/** Deletes what was published, once; a refused token is refreshed and the call repeated with the new one. */
export async function deleteTarget(
  deps: DeletingDeps,
  work: DeletionWork,
): Promise<DeletionResult> {
  const { task, credential } = work;
  const obstacle = findObstacle(work);
  if (obstacle !== undefined) return obstacle;
  const connector = isPlatformId(task.platform) ? deps.connectors[task.platform] : undefined;
  // A newer build may have the connector; waiting for it costs retries, so that it ends.
  if (connector === undefined)
    return { kind: "unknown", message: "this build does not know the platform" };
  if (!connector.canDelete) return giveUp("app_configuration", "the platform deletes nothing");
  const first = await call(deps, connector, work, credential);
  if (first.kind !== "token_refused") return first;
  const renewed = await renew(deps, work, first.message);
  if ("obstacle" in renewed) return renewed.obstacle;
  const second = await call(deps, connector, work, renewed.credential);
  if (second.kind !== "token_refused") return second;
  await askForReconnect(deps, task, renewed.credential);
  return giveUp(RECONNECT, second.message);
}

/** The connector's call, which never throws: what cannot be said about it is unknown. */
async function call(
  { settings, logger }: DeletingDeps,
  connector: PublishingConnector,
  { task, stopping }: DeletionWork,
  credential: Credential,
): Promise<DeletionOutcome> {
  const { externalId, username, accessToken, attributes } = credential;
  const deadline = AbortSignal.timeout(Math.ceil(settings.leaseMs * LEASE_PART));
  try {
    return await connector.delete(
      { externalId, username, accessToken, attributes },
      task.externalId,
      AbortSignal.any([stopping, deadline]),
    );
  } catch (error) {
    logger.error({ err: error, targetId: task.targetId }, "a deletion threw");
    return { kind: "unknown", message: "internal error" };
  }
}

type Renewed = { readonly credential: Credential } | { readonly obstacle: DeletionResult };

async function renew(
  deps: DeletingDeps,
  { task, credential }: DeletionWork,
  message: string,
): Promise<Renewed> {
  const renewed = await refresh(deps, task, credential);
  if (renewed === undefined)
    return { obstacle: { kind: "unknown", message: "the access token could not be refreshed" } };
  switch (renewed.accountStatus) {
    case "active":
      if (renewed.version > credential.version) return { credential: renewed };
      await askForReconnect(deps, task, credential);
      return { obstacle: giveUp(RECONNECT, message) };
    case "reconnect_required":
      return { obstacle: giveUp(RECONNECT, message) };
    default:
      return { obstacle: giveUp("account_disconnected") };
  }
}

/** A token endpoint that does not answer never disconnects an account: the deletion is tried again later. */
async function refresh(
  { accounts, logger }: DeletingDeps,
  task: DeletionTask,
  { version }: Credential,
): Promise<Credential | undefined> {
  try {
    return await refreshCredential(accounts, task, version);
  } catch (error) {
    logger.warn({ err: error, accountId: task.accountId }, "token not refreshed");
    return undefined;
  }
}

async function askForReconnect(
  { accounts, logger }: DeletingDeps,
  task: DeletionTask,
  { version }: Credential,
): Promise<void> {
  try {
    await requireReconnect(accounts, task, version);
  } catch (error) {
    // The next task of the account meets the same refusal and asks again.
    logger.warn({ err: error, accountId: task.accountId }, "reconnect not asked for");
  }
}
