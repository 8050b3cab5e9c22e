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

function toPlace(place: DataPlace | undefined) {
  const { systemIdentifier, databaseOid, timeline, deploymentId } = required(place);
  return { systemIdentifier, databaseOid: Number(databaseOid), timeline, deploymentId };
}

function toJson(recovery: Recovery) {
  const { heldBecause } = recovery;
  return {
    held: heldBecause !== "",
    heldBecause: heldBecause === "" ? null : heldBecause,
    belongs: toPlace(recovery.belongs),
    lies: toPlace(recovery.lies),
    restoredAt: toInstant(recovery.restoredAt),
    dataUntil: toInstant(recovery.dataUntil),
    openTargets: recovery.openTargets,
  };
}

type Json = ReturnType<typeof toJson>;

function formatPlace({ systemIdentifier, databaseOid, timeline, deploymentId }: Json["lies"]) {
  return `cluster ${systemIdentifier}, database ${databaseOid}, timeline ${timeline}, deployment ${deploymentId}`;
}

function formatStatus({ heldBecause, belongs, lies, restoredAt, dataUntil, openTargets }: Json) {
  const held = `held: the ${heldBecause?.replaceAll("_", " ")} is another one; recovery adopt takes the data over`;
  return formatRecord({
    publishing: heldBecause === null ? "goes on" : held,
    "data belongs to": formatPlace(belongs),
    "data lies in": formatPlace(lies),
    "restored at": restoredAt ?? "never",
    "data until": dataUntil ?? "unknown",
    "in doubt": `${openTargets} targets`,
  });
}

async function getStatus(services: Services): Promise<Result> {
  const { recovery } = await clientOf(services).getRecovery({});
  const json = toJson(required(recovery));
  return { json, text: formatStatus(json) };
}

async function adopt(services: Services): Promise<Result> {
  const { adopted, recovery } = await clientOf(services).adoptData({});
  const json = { adopted, ...toJson(required(recovery)) };
  const text = adopted
    ? `the data belongs here now; ${json.openTargets} targets are looked for before they are sent`
    : "the data belonged here already; nothing was changed";
  return { json, text };
}

async function mark(services: Services): Promise<Result> {
  const { recovery } = await clientOf(services).markRestored({});
  const json = toJson(required(recovery));
  const text = `what was due before ${json.restoredAt} is looked for before it is sent: ${json.openTargets} targets`;
  return { json, text };
}

/** Commands for data that came back from a backup. */
export const recoveryCommands: readonly Command[] = [
  {
    words: "recovery status",
    synopsis: "",
    summary: "where the data belongs, whether publishing is held, and what a restore left in doubt",
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
