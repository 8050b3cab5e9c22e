import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseEnv } from "node:util";
import { WorkspaceMoveService } from "@postrider/contracts/accounts/v1/workspace_move_service_pb";
import { WorkspaceService } from "@postrider/contracts/accounts/v1/workspace_service_pb";
import { RecoveryService } from "@postrider/contracts/delivery/v1/recovery_service_pb";
import { SecretTransferService } from "@postrider/contracts/operations/v1/secret_transfer_service_pb";
import { WorkspaceExportService } from "@postrider/contracts/operations/v1/workspace_export_service_pb";
import { REPEATS_MINUTES } from "@postrider/shared/deployment/ownership";
import { notFound } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { toInstant } from "#src/answers.ts";
import {
  type Arguments,
  type Command,
  getPositional,
  getText,
  type Result,
  type Terminal,
} from "#src/command.ts";
import { exportTo } from "#src/commands/workspace-export.ts";
import { finishImport, importHeld } from "#src/commands/workspace-import.ts";
import { readSettings, SERVICES } from "#src/config.ts";
import { checkFolder } from "#src/export-folder.ts";
import { CommandFailure, UsageError } from "#src/failures.ts";
import { findRemoval, findWorkspace } from "#src/find-workspace.ts";
import { assertFilesOfReady } from "#src/import-media.ts";
import { carryPauses, listOtherPlatforms } from "#src/move-pauses.ts";
import { decideMove, type MoveState, type MoveStep, sourceOf, targetOf } from "#src/move-steps.ts";
import { Services } from "#src/services.ts";
import { formatRecord } from "#src/table.ts";

const LOOK_MS = 1_000;

interface Move {
  readonly id: string;
  readonly cell: string;
  readonly folder: string;
  readonly isGivenUp: boolean;
  readonly source: Services;
  readonly target: Services;
  readonly terminal: Terminal;
}

/** What this run has done, and for which move: another run may cancel it and begin the next one. */
interface Known {
  readonly quietSince?: string;
  readonly copiedHash?: string;
}

interface Seen extends MoveState {
  /** "" unless the workspace is being moved or is moved. */
  readonly frozenAt: string;
  /** In hexadecimal digits; "" unless the workspace is being moved or is moved. */
  readonly handoverHash: string;
}

/**
 * Until no service has work of the workspace in progress, and as long as requests can last that
 * were admitted before the gateways heard of the freeze. Measured here, not by comparing clocks.
 */
async function waitUntilQuiet({ source, id, terminal }: Move): Promise<void> {
  const removal = await findRemoval(source, id);
  const until = performance.now() + (removal?.settleSeconds ?? 0) * 1000;
  for (let shown = ""; ; await sleep(LOOK_MS)) {
    const work: string[] = [];
    for (const service of SERVICES) {
      const client = source.client(service, WorkspaceExportService);
      work.push(...(await client.listOpenWork({ workspaceId: id })).openWork);
    }
    const left = Math.ceil((until - performance.now()) / 1000);
    if (work.length === 0 && left <= 0) return;
    const text = work.length === 0 ? "requests that were admitted before" : work.join(", ");
    if (text !== shown) terminal.note({ json: { waitsFor: text }, text: `waits for ${text}` });
    shown = text;
  }
}

/** The secrets are encrypted by one cell for the other; this process only carries them. */
async function carrySecrets({ id: workspaceId, source, target }: Move): Promise<void> {
  for (const service of ["accounts", "delivery"] as const) {
    const from = source.client(service, SecretTransferService);
    const to = target.client(service, SecretTransferService);
    const { publicKey } = await to.getTransferKey({ workspaceId });
    let after = "";
    do {
      const { sealed, next } = await from.sealSecrets({ workspaceId, publicKey, after });
      await to.openSecrets({ workspaceId, sealed });
      after = next;
    } while (after !== "");
  }
}

/**
 * Everything of the frozen workspace. A complete export is not written again, because its manifest
 * identifies the import. After the switch, what is missing is imported from the folder: the secrets
 * arrived before it. Returns what was copied.
 */
async function copy(move: Move, { source, hasExport, frozenAt, handoverHash }: Seen) {
  const { id: workspaceId, cell, folder, terminal } = move;
  if (source === "frozen" && !hasExport)
    await exportTo(move.source, { workspaceId, folder, quietSince: frozenAt }, terminal);
  const checked = await checkFolder(folder);
  const { manifest } = checked;
  const isOfMove = manifest.isStopped && manifest.handoverHash === handoverHash;
  if (!isOfMove || manifest.workspaceId !== workspaceId)
    throw new CommandFailure(
      "other_export",
      `${folder} is not the export of this move; name another folder`,
    );
  await assertFilesOfReady(folder, manifest);
  await importHeld(move.target, { folder, ...checked, cell }, terminal);
  if (source === "frozen") await carrySecrets(move);
  return manifest.handoverHash;
}

async function perform(move: Move, step: Exclude<MoveStep, "done">, seen: Seen): Promise<Known> {
  const { id, cell, source, target } = move;
  const client = source.client("accounts", WorkspaceMoveService);
  // The state says so only of the move that is copied, or was switched.
  const handoverHash = Buffer.from(seen.handoverHash, "hex");
  switch (step) {
    case "freeze":
      await client.freezeWorkspace({ id, cell });
      return {};
    case "wait":
      for (const platform of await listOtherPlatforms(move))
        move.terminal.note({
          json: { pausedHere: platform },
          text: `publishing on ${platform} is paused here and not in the other cell, which will publish there`,
        });
      await waitUntilQuiet(move);
      return { quietSince: seen.frozenAt };
    case "copy":
      return { copiedHash: await copy(move, seen) };
    case "switch":
      await client.switchWorkspace({ id, cell, handoverHash });
      return {};
    case "release": {
      const { handover } = await client.switchWorkspace({ id, cell, handoverHash });
      await carryPauses(move);
      await finishImport(target, { workspaceId: id, isStopped: true }, handover);
      return {};
    }
  }
}

async function isJustRestored(source: Services): Promise<boolean> {
  const { recovery } = await source.client("delivery", RecoveryService).getRecovery({});
  const restoredAt = toInstant(recovery?.restoredAt);
  return restoredAt !== null && Date.now() - Date.parse(restoredAt) < REPEATS_MINUTES * 60_000;
}

/** What is known of both cells, and what this run knows of the same move. */
async function observe(
  { id, cell, folder, isGivenUp, ...cells }: Move,
  known: Known,
): Promise<Seen> {
  const workspace = await findWorkspace(cells.source, id);
  const frozenAt = toInstant(workspace?.move?.frozenAt) ?? "";
  const handoverHash = Buffer.from(workspace?.move?.handoverHash ?? []).toString("hex");
  const source = sourceOf(workspace, cell);
  return {
    isQuiet: known.quietSince === frozenAt,
    isCopied: known.copiedHash === handoverHash,
    hasExport: existsSync(join(folder, "manifest.json")),
    // A restored cell gives workspaces up with its accounts service alone.
    isJustRestored: source === "working" && !isGivenUp && (await isJustRestored(cells.source)),
    isGivenUp,
    frozenAt,
    handoverHash,
    source,
    target: targetOf(await findWorkspace(cells.target, id)),
  };
}

const NEXT =
  "Old keys go on working through the old cell, which sends its clients to the new one. Give them the new address. After a week, when the old cell has sent its last webhooks, remove the workspace there: `postrider workspace delete ID --now --confirm NAME`.";

async function run(move: Move): Promise<Result> {
  for (let known: Known = {}; ;) {
    const seen = await observe(move, known);
    const decision = decideMove(seen);
    if (decision.kind === "refused") throw new CommandFailure(decision.code, decision.message);
    const { step } = decision;
    if (step === "done") {
      const json = { id: move.id, status: "moved", cell: move.cell };
      return { json, text: [formatRecord(json), "", NEXT].join("\n") };
    }
    move.terminal.note({ json: { step }, text: step });
    known = { ...known, ...(await perform(move, step, seen)) };
  }
}

/** The import in the other cell, which can never end without its move, is deleted. */
async function cancel({ id, source, target }: Move): Promise<Result> {
  await source.client("accounts", WorkspaceMoveService).cancelWorkspaceMove({ id });
  const left = await findWorkspace(target, id);
  if (left?.isImporting === true)
    await target
      .client("accounts", WorkspaceService)
      .deleteWorkspace({ id, graceSeconds: 0n, name: left.name });
  const json = { id, status: "active" };
  return { json, text: formatRecord(json) };
}

/** The services and the operator's key of the other cell. */
function openTarget(file: string): Services {
  if (!existsSync(file)) throw new UsageError(`--target ${file} does not exist`);
  return new Services(readSettings(parseEnv(readFileSync(file, "utf8"))));
}

async function moveWorkspace(
  source: Services,
  args: Arguments,
  terminal: Terminal,
): Promise<Result> {
  const id = getPositional(args);
  if (!isId(id)) throw notFound();
  await using target = openTarget(getText(args, "target"));
  const isCancelled = args.values.cancel === true;
  const isGivenUp = args.values["give-up"] === true;
  const cell = isCancelled ? "" : getText(args, "to");
  const folder = isCancelled || isGivenUp ? "" : getText(args, "folder");
  const move = { id, cell, folder, isGivenUp, source, target, terminal };
  return await (isCancelled ? cancel(move) : run(move));
}

export const workspaceMoveCommands: readonly Command[] = [
  {
    words: "workspace move",
    synopsis: "ID --target FILE [--to CELL --folder FOLDER] [--cancel] [--give-up]",
    summary:
      "move a workspace with its keys, tokens and files to another cell, whose settings for this tool are in FILE; FOLDER keeps the export meanwhile; a stopped move continues; --cancel ends a move before the switch, and the workspace works here again; --give-up leaves it to the cell --to, which works with it, when this one was restored to before the switch",
    run: moveWorkspace,
  },
];
