import { RecoveryService as TokenRecoveryService } from "@postrider/contracts/accounts/v1/recovery_service_pb";
import { RecoveryService as FileRecoveryService } from "@postrider/contracts/media/v1/recovery_service_pb";
import { RecoveryService as EventRecoveryService } from "@postrider/contracts/posts/v1/recovery_service_pb";
import { ServiceError } from "@postrider/shared/errors";
import { NotRunningError } from "#src/failures.ts";
import { toInstant } from "#src/instants.ts";
import type { Services } from "#src/services.ts";

function toHold({ heldBecause }: { readonly heldBecause: string }) {
  return { held: heldBecause !== "", heldBecause: heldBecause === "" ? null : heldBecause };
}

async function readFiles(services: Services) {
  const answer = await services.client("media", FileRecoveryService).getRecovery({});
  const { store } = answer;
  return {
    ...toHold(answer),
    keptUntil: toInstant(answer.filesKeptUntil),
    store:
      store === undefined
        ? null
        : { ...toHold(store), belongsTo: store.belongsTo === "" ? null : store.belongsTo },
  };
}

/** Returns null when the service does not answer, so that an operator sees what the other services say. */
async function ifAvailable<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof NotRunningError) return null;
    if (error instanceof ServiceError && error.kind === "unavailable") return null;
    throw error;
  }
}

/**
 * Reads what the services beside delivery hold because their data is a copy: tokens (accounts), events on Kafka (posts), and
 * the deletion of stored files (media).
 */
export async function readHolds(services: Services) {
  const [tokens, events, files] = await Promise.all([
    ifAvailable(async () =>
      toHold(await services.client("accounts", TokenRecoveryService).getRecovery({})),
    ),
    ifAvailable(async () =>
      toHold(await services.client("posts", EventRecoveryService).getRecovery({})),
    ),
    ifAvailable(() => readFiles(services)),
  ]);
  return { tokens, events, files };
}

export type Holds = Awaited<ReturnType<typeof readHolds>>;
