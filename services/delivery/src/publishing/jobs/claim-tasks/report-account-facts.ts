import type { Failure } from "@postrider/platforms/publishing/outcome";
import type { CallOutcome } from "#src/calls/call-event.ts";
import { moveAccount, recordAvailable } from "#src/publishing/clients/account-facts.ts";
import type { PublishingDeps } from "../../operations/dependencies.ts";
import type { TaskInputs } from "./task-inputs.ts";

/**
 * Tells the accounts service what a refusal of the platform says about the account, so that the
 * next post of the account does not cost the same refusal. If this fails, or the process stops
 * before it, the platform says it again to the next post.
 */
export async function reportAccountFacts(
  { accounts: clients, logger }: Pick<PublishingDeps, "accounts" | "logger">,
  { task, credential }: Pick<TaskInputs, "task" | "credential">,
  outcome: CallOutcome | Failure,
): Promise<void> {
  const facts = "facts" in outcome ? outcome.facts : undefined;
  if (facts === undefined) return;
  const { externalId, available } = facts;
  try {
    if (externalId !== undefined)
      await moveAccount(clients, task, credential.externalId, externalId);
    if (available !== undefined) await recordAvailable(clients, task, available);
  } catch (error) {
    logger.warn(
      { err: error, accountId: task.accountId },
      "what the platform reported about an account could not be stored in the accounts service; the next post of the account reports it again",
    );
  }
}
