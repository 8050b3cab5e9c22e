import type { Credential } from "@postrider/contracts/accounts/v1/credential_service_pb";
import { refreshCredential, requireReconnect } from "#src/publishing/clients/accounts.ts";
import { giveUp, report, type Work, type Workshop } from "./work.ts";

/**
 * The platform refused the account's token: asks accounts for a newer one, once. Returns undefined when the task has been
 * settled: the account must be connected again, is disconnected, or its token endpoint does not answer for now.
 *
 * @param options.isLast The refused token was already the newer one.
 */
export async function renewRefused(
  shop: Workshop,
  work: Work,
  message: string,
  options: { readonly isLast: boolean } = { isLast: false },
): Promise<Credential | undefined> {
  const renewed = options.isLast ? work.credential : await refresh(shop, work);
  if (renewed === undefined) return undefined;
  const { task, attemptNumber, credential } = work;
  switch (renewed.accountStatus) {
    case "active":
      if (renewed.version > credential.version) return renewed;
      await askForReconnect(shop, work);
      break;
    case "reconnect_required":
      break;
    default:
      await giveUp(shop, task, "account_disconnected", "", attemptNumber);
      return undefined;
  }
  await giveUp(shop, task, "account_reconnect_required", message, attemptNumber);
  return undefined;
}

/** A token endpoint that does not answer never disconnects an account: the attempt failed and comes again. */
async function refresh(shop: Workshop, work: Work): Promise<Credential | undefined> {
  const { task, attemptNumber, credential } = work;
  try {
    return await refreshCredential(shop.deps.accounts, task, credential.version);
  } catch (error) {
    shop.deps.logger.warn({ err: error, accountId: task.accountId }, "token not refreshed");
    const failure = {
      kind: "retryable",
      code: "platform_unavailable",
      message: "the access token could not be refreshed",
    } as const;
    await report(shop, task, { kind: "step_failed", fence: task.fence, failure }, attemptNumber);
    return undefined;
  }
}

async function askForReconnect({ deps }: Workshop, { task, credential }: Work): Promise<void> {
  try {
    await requireReconnect(deps.accounts, task, credential.version);
  } catch (error) {
    // The next task of the account meets the same refusal and asks again.
    deps.logger.warn({ err: error, accountId: task.accountId }, "reconnect not asked for");
  }
}
