import { RecoveryService as TokenRecoveryService } from "@postrider/contracts/accounts/v1/recovery_service_pb";
import type { DataPlace, Recovery } from "@postrider/contracts/delivery/v1/recovery_service_pb";
import { RecoveryService } from "@postrider/contracts/delivery/v1/recovery_service_pb";
import { required } from "#src/answers.ts";
import type { Command, Result } from "#src/command.ts";
import { toInstant } from "#src/instants.ts";
import type { Services } from "#src/services.ts";
import { formatRecord } from "#src/table.ts";

function clientOf(services: Services) {
  return services.client("delivery", RecoveryService);
}

/**
 * Returns the client for the recovery of the accounts service. This service has data of its own, and refreshes no
 * tokens while that data is a copy.
 */
function tokensOf(services: Services) {
  return services.client("accounts", TokenRecoveryService);
}

function toHold(heldBecause: string) {
  return { held: heldBecause !== "", heldBecause: heldBecause === "" ? null : heldBecause };
}

function toPlace(place: DataPlace | undefined) {
  const { systemIdentifier, databaseOid, timeline, deploymentId } = required(place);
  return { systemIdentifier, databaseOid: Number(databaseOid), timeline, deploymentId };
}

async function toJson(services: Services, recovery: Recovery) {
  const tokens = await tokensOf(services).getRecovery({});
  return {
    ...toHold(recovery.heldBecause),
    belongs: toPlace(recovery.belongs),
    lies: toPlace(recovery.lies),
    restoredAt: toInstant(recovery.restoredAt),
    dataUntil: toInstant(recovery.dataUntil),
    openTargets: recovery.openTargets,
    tokens: toHold(tokens.heldBecause),
  };
}

type Json = Awaited<ReturnType<typeof toJson>>;

function formatPlace({ systemIdentifier, databaseOid, timeline, deploymentId }: Json["lies"]) {
  return `cluster ${systemIdentifier}, database ${databaseOid}, timeline ${timeline}, deployment ${deploymentId}`;
}

function formatHold({ heldBecause }: ReturnType<typeof toHold>) {
  return heldBecause === null
    ? "active"
    : `held: the data belongs to another ${heldBecause.replaceAll("_", " ")}; postrider recovery adopt takes it over`;
}

function formatStatus(status: Json) {
  const { belongs, lies, restoredAt, dataUntil, openTargets, tokens } = status;
  return formatRecord({
    publishing: formatHold(status),
    tokens: formatHold(tokens),
    "data belongs to": formatPlace(belongs),
    "data lies in": formatPlace(lies),
    "restored at": restoredAt ?? "never",
    "data until": dataUntil ?? "unknown",
    "in doubt": `${openTargets} targets`,
  });
}

async function getStatus(services: Services): Promise<Result> {
  const { recovery } = await clientOf(services).getRecovery({});
  const json = await toJson(services, required(recovery));
  return { json, text: formatStatus(json) };
}

/**
 * Makes this deployment the owner of the restored or copied data: first of the tokens of the accounts service, because
 * publishing needs them. After a failure the command can be repeated.
 */
async function adopt(services: Services): Promise<Result> {
  const tokens = await tokensOf(services).adoptData({});
  const { adopted: isAdopted, recovery } = await clientOf(services).adoptData({});
  const adopted = tokens.adopted || isAdopted;
  const json = { adopted, ...(await toJson(services, required(recovery))) };
  const text = adopted
    ? `the data belongs to this deployment now; targets that are searched on their platforms before they are sent: ${json.openTargets}`
    : "the data already belongs to this deployment; nothing changed";
  return { json, text };
}

async function mark(services: Services): Promise<Result> {
  const { recovery } = await clientOf(services).markRestored({});
  const json = await toJson(services, required(recovery));
  const text = `the data is marked as restored at ${json.restoredAt}; targets that are searched on their platforms before they are sent: ${json.openTargets}`;
  return { json, text };
}

/** Commands for data that was restored or copied. */
export const recoveryCommands: readonly Command[] = [
  {
    words: "recovery status",
    synopsis: "",
    summary:
      "show which deployment the data belongs to, whether publishing and tokens are held, and how many targets a restore left in doubt",
    options: {},
    run: getStatus,
  },
  {
    words: "recovery adopt",
    synopsis: "",
    summary:
      "take over data that belongs to another database or deployment; only after the original has stopped publishing",
    options: {},
    run: adopt,
  },
  {
    words: "recovery mark",
    synopsis: "",
    summary:
      "mark the data as restored now: every target that was due is searched on its platform before it is sent",
    options: {},
    run: mark,
  },
];
