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

/** Accounts has data of its own, and holds the tokens of a copy. */
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

function formatHold({ heldBecause }: ReturnType<typeof toHold>, otherwise: string) {
  return heldBecause === null
    ? otherwise
    : `held: the ${heldBecause.replaceAll("_", " ")} is another one; recovery adopt takes the data over`;
}

function formatStatus(status: Json) {
  const { belongs, lies, restoredAt, dataUntil, openTargets, tokens } = status;
  return formatRecord({
    publishing: formatHold(status, "goes on"),
    tokens: formatHold(tokens, "are renewed"),
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

/** Tokens first: what is published needs them. Whatever is done already when it fails, it can be repeated. */
async function adopt(services: Services): Promise<Result> {
  const tokens = await tokensOf(services).adoptData({});
  const { adopted: isAdopted, recovery } = await clientOf(services).adoptData({});
  const adopted = tokens.adopted || isAdopted;
  const json = { adopted, ...(await toJson(services, required(recovery))) };
  const text = adopted
    ? `the data belongs here now; ${json.openTargets} targets are looked for before they are sent`
    : "the data belonged here already; nothing was changed";
  return { json, text };
}

async function mark(services: Services): Promise<Result> {
  const { recovery } = await clientOf(services).markRestored({});
  const json = await toJson(services, required(recovery));
  const text = `what was due before ${json.restoredAt} is looked for before it is sent: ${json.openTargets} targets`;
  return { json, text };
}

/** Commands for data that came back from a backup. */
export const recoveryCommands: readonly Command[] = [
  {
    words: "recovery status",
    synopsis: "",
    summary:
      "where the data belongs, whether publishing and tokens are held, and what a restore left in doubt",
    options: {},
    run: getStatus,
  },
  {
    words: "recovery adopt",
    synopsis: "",
    summary:
      "publish from data that came from another database or deployment; only when the original publishes no more",
    options: {},
    run: adopt,
  },
  {
    words: "recovery mark",
    synopsis: "",
    summary: "the data was restored just now: look for every target that was due before it is sent",
    options: {},
    run: mark,
  },
];
