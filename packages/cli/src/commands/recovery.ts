import { RecoveryService as TokenRecoveryService } from "@postrider/contracts/accounts/v1/recovery_service_pb";
import {
  type DataPlace,
  type Recovery,
  RecoveryService,
} from "@postrider/contracts/delivery/v1/recovery_service_pb";
import { RecoveryService as FileRecoveryService } from "@postrider/contracts/media/v1/recovery_service_pb";
import { RecoveryService as EventRecoveryService } from "@postrider/contracts/posts/v1/recovery_service_pb";
import { ServiceError } from "@postrider/shared/errors";
import { required, toInstant } from "#src/answers.ts";
import type { Command, Result } from "#src/command.ts";
import { CommandFailure, NotRunningError } from "#src/failures.ts";
import type { Services } from "#src/services.ts";
import { formatRecord } from "#src/table.ts";

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

/**
 * Returns null when the service does not answer, so that an operator sees what the other services
 * say.
 */
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
 * Reads what the services beside delivery hold because their data is a copy: tokens (accounts),
 * events on Kafka (posts), and the deletion of stored files (media).
 */
async function readHolds(services: Services) {
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

type Holds = Awaited<ReturnType<typeof readHolds>>;

function clientOf(services: Services) {
  return services.client("delivery", RecoveryService);
}

function toPlace(place: DataPlace | undefined) {
  const { systemIdentifier, databaseOid, timeline, deploymentId } = required(place);
  return { systemIdentifier, databaseOid: Number(databaseOid), timeline, deploymentId };
}

async function toJson(services: Services, recovery: Recovery) {
  const { heldBecause } = recovery;
  return {
    held: heldBecause !== "",
    heldBecause: heldBecause === "" ? null : heldBecause,
    belongs: toPlace(recovery.belongs),
    lies: toPlace(recovery.lies),
    restoredAt: toInstant(recovery.restoredAt),
    dataUntil: toInstant(recovery.dataUntil),
    trustedAt: toInstant(recovery.trustedAt),
    openTargets: recovery.openTargets,
    ...(await readHolds(services)),
  };
}

type Json = Awaited<ReturnType<typeof toJson>>;

function formatPlace({ systemIdentifier, databaseOid, timeline, deploymentId }: Json["lies"]) {
  return `cluster ${systemIdentifier}, database ${databaseOid}, timeline ${timeline}, deployment ${deploymentId}`;
}

const NO_ANSWER = "unknown: the service does not answer";

function formatHold(hold: Holds["tokens"]) {
  if (hold === null) return NO_ANSWER;
  const { heldBecause } = hold;
  return heldBecause === null
    ? "active"
    : `held: the data belongs to another ${heldBecause.replaceAll("_", " ")}; postrider recovery adopt takes it over`;
}

function formatFiles(files: Holds["files"]) {
  if (files === null || files.held) return formatHold(files);
  return files.keptUntil === null
    ? "active"
    : `active; files that the database does not know are kept until ${files.keptUntil}`;
}

function formatStore(files: Holds["files"]) {
  if (files === null) return NO_ANSWER;
  const { store } = files;
  if (store === null) return "unknown, because the data belongs to another deployment";
  const { heldBecause, belongsTo } = store;
  if (heldBecause === null) return "this deployment";
  if (heldBecause === "files_missing")
    return "unknown: it has neither a marker nor the files that the database names. Mount or restore it; if the files are lost, run postrider storage adopt";
  const owner =
    heldBecause === "unmarked"
      ? "unknown: it contains files and has no marker"
      : (belongsTo ?? "unknown: its marker cannot be read");
  return `${owner}; if no other deployment uses the store, run postrider storage adopt`;
}

/** An operator who has adopted a restored backup would not know otherwise that uploads are held. */
function formatRefusedUploads(files: Holds["files"]) {
  const heldBecause = files?.store?.heldBecause;
  return heldBecause === "deployment" || heldBecause === "files_missing"
    ? `\nuploads and imports are refused: the owner of the object store is ${formatStore(files)}`
    : "";
}

function formatStatus(status: Json) {
  const { belongs, lies, restoredAt, dataUntil, trustedAt, openTargets } = status;
  return formatRecord({
    publishing: formatHold(status),
    tokens: formatHold(status.tokens),
    "events, if on Kafka": formatHold(status.events),
    "deletion of files": formatFiles(status.files),
    "object store of": formatStore(status.files),
    "data belongs to": formatPlace(belongs),
    "data lies in": formatPlace(lies),
    "restored at": restoredAt ?? "never",
    "data until": dataUntil ?? "unknown",
    "trusted restore": trustedAt ?? "none",
    "in doubt": `${openTargets} targets`,
  });
}

async function getStatus(services: Services): Promise<Result> {
  const { recovery } = await clientOf(services).getRecovery({});
  const json = await toJson(services, required(recovery));
  return { json, text: formatStatus(json) };
}

/**
 * Makes this deployment the owner of the restored or copied data of every service: last of the
 * delivery service's, because publishing needs the others. After a failure the command can be
 * repeated. The object store is not adopted, because the original may still use it.
 */
async function adopt(services: Services): Promise<Result> {
  const tokens = await services.client("accounts", TokenRecoveryService).adoptData({});
  const events = await services.client("posts", EventRecoveryService).adoptData({});
  const files = await services.client("media", FileRecoveryService).adoptData({});
  const { adopted: isAdopted, recovery } = await clientOf(services).adoptData({});
  const adopted = [tokens, events, files].some((answer) => answer.adopted) || isAdopted;
  const json = { adopted, ...(await toJson(services, required(recovery))) };
  const text = adopted
    ? `the data belongs to this deployment now; targets that are searched on their platforms before they are sent: ${json.openTargets}`
    : "the data already belongs to this deployment; nothing changed";
  return { json, text: `${text}${formatRefusedUploads(json.files)}` };
}

async function mark(services: Services): Promise<Result> {
  await services.client("media", FileRecoveryService).markRestored({});
  const { recovery } = await clientOf(services).markRestored({});
  const json = await toJson(services, required(recovery));
  const text = `the data is marked as restored at ${json.restoredAt}; targets that are searched on their platforms before they are sent: ${json.openTargets}`;
  return { json, text };
}

const NOT_TRUSTED: Readonly<Record<string, string>> = {
  held: "the data belongs to another deployment; run `postrider recovery adopt` first",
  unnoticed:
    "delivery has not recorded the latest restore yet; repeat the command in a few seconds, and if it fails again, check that delivery runs",
  not_restored:
    "no restore is recorded, so no target is in doubt; if the switchover was only seconds ago, look at `postrider recovery status` again",
  already_trusted: "the latest restore is already trusted; nothing changed",
  data_lost:
    "the latest restore lost data: before it, a delivery process had read later data. Targets in doubt have to be searched for",
  too_old:
    "the latest restore is more than 24 hours old; resolve the targets that it left in doubt with `postrider target resolve`",
};

/**
 * Declares that the latest restore of the delivery database lost no data, if the delivery service
 * allows it. The call names the restore, so that another restore that happens in between is not
 * declared lossless.
 */
async function trust(services: Services): Promise<Result> {
  const client = clientOf(services);
  const { restoredAt, trustRefusedBecause: reason } = required(
    (await client.getRecovery({})).recovery,
  );
  if (reason !== "")
    throw new CommandFailure(
      reason,
      NOT_TRUSTED[reason] ?? `the restore is not trusted: ${reason}`,
    );
  const { recovery } = await client.trustRestore({ restoredAt: required(restoredAt) });
  const json = await toJson(services, required(recovery));
  const text = `the restore at ${json.trustedAt} counts as lossless: targets that it left in doubt, and new ones, are sent without a search`;
  return { json, text };
}

export const recoveryCommands: readonly Command[] = [
  {
    words: "recovery status",
    synopsis: "",
    summary:
      "show which deployment the data belongs to, what is held, and how many targets a restore left in doubt",
    run: getStatus,
  },
  {
    words: "recovery adopt",
    synopsis: "",
    summary:
      "take over data that belongs to another database or deployment; only after the original has stopped publishing",
    run: adopt,
  },
  {
    words: "recovery mark",
    synopsis: "",
    summary:
      "mark the data as restored now: every target that was due, or becomes due within 15 minutes, is searched on its platform before it is sent, and files that the data does not know are kept for a day",
    run: mark,
  },
  {
    words: "recovery trust",
    synopsis: "",
    summary:
      "declare that the latest restore lost no commit, for example a switchover to a synchronous standby: targets that it left in doubt are sent without a search; otherwise posts may appear twice",
    run: trust,
  },
];
