import { RecoveryService as TokenRecoveryService } from "@postrider/contracts/accounts/v1/recovery_service_pb";
import type { DataPlace, Recovery } from "@postrider/contracts/delivery/v1/recovery_service_pb";
import { RecoveryService } from "@postrider/contracts/delivery/v1/recovery_service_pb";
import { required } from "#src/answers.ts";
import type { Command, Result } from "#src/command.ts";
import { CommandFailure } from "#src/failures.ts";
import { toInstant } from "#src/instants.ts";
import type { Services } from "#src/services.ts";
import { formatRecord } from "#src/table.ts";

function clientOf(services: Services) {
  return services.client("delivery", RecoveryService);
}

/**
 * Returns the RPC client with which the `recovery` commands reach the accounts service. This service has data of its
 * own, and refreshes no tokens while that data is a copy.
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
    trustedAt: toInstant(recovery.trustedAt),
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
  const { belongs, lies, restoredAt, dataUntil, trustedAt, openTargets, tokens } = status;
  return formatRecord({
    publishing: formatHold(status),
    tokens: formatHold(tokens),
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

const NOT_TRUSTED: Readonly<Record<string, string>> = {
  held: "the data belongs to another deployment; run `postrider recovery adopt` first",
  unnoticed:
    "delivery has not recorded the latest restore yet; repeat the command in a few seconds, and if it fails again, check that delivery runs",
  not_restored:
    "no restore is recorded, so no target is in doubt; if the switchover was only seconds ago, look at `postrider recovery status` again",
  already_trusted: "the latest restore is already trusted; nothing changed",
  data_lost:
    "the latest restore lost data: before it, a delivery process had read later data. Targets in doubt have to be searched for",
  older_release:
    "a process of an older release recorded the latest restore, which therefore cannot be undone; resolve targets with `postrider target resolve`",
  too_old:
    "the latest restore is more than 24 hours old; resolve the targets that it left in doubt with `postrider target resolve`",
};

/**
 * Declares that the latest restore of the delivery database lost no data, if the delivery service allows it. The call names the
 * restore, so that another restore that happens in between is not declared lossless.
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
      "mark the data as restored now: every target that was due, or becomes due within 15 minutes, is searched on its platform before it is sent",
    options: {},
    run: mark,
  },
  {
    words: "recovery trust",
    synopsis: "",
    summary:
      "declare that the latest restore lost no commit, for example a switchover to a synchronous standby: targets that it left in doubt are sent without a search; otherwise posts may appear twice",
    options: {},
    run: trust,
  },
];
