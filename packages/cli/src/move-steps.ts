import type { Workspace } from "@postrider/contracts/accounts/v1/workspace_pb";

/**
 * How a move goes on, decided anew before each step from what both cells store, so a killed command
 * continues with the same words. The source is `working`, then `frozen`, then `moved`; the target
 * is `absent`, then `importing`, then `working`. A cell publishes for the workspace only while it
 * is `working` there. While the source is `frozen` neither publishes, and `--cancel` leads back to
 * `working`; `moved` is for good. The import in the target ends only with the handover secret of
 * this move to this cell, which the source tells only once it is `moved`: so the target can never
 * be `working` while the source or a third cell is or can become so, whatever is killed, repeated,
 * or run beside it. From `frozen` on each step leads on to `moved` and `working`, so in the end one
 * cell publishes.
 */
export interface MoveState {
  /**
   * `stopped`: it is being deleted or imported itself. `elsewhere`: it is frozen for, or moved to,
   * a third cell.
   */
  readonly source: "absent" | "stopped" | "elsewhere" | "working" | "frozen" | "moved";
  /** `stopped`: it is being deleted, or frozen for, or moved to, a further cell. */
  readonly target: "absent" | "stopped" | "importing" | "working";
  /** Whether this run has seen that nothing of the frozen workspace is in progress. */
  readonly isQuiet: boolean;
  /** Whether this run has imported everything into the target, which stays stopped. */
  readonly isCopied: boolean;
  /** Whether the folder has a complete export. */
  readonly hasExport: boolean;
  /**
   * Whether the source was restored within 15 minutes: what becomes due is searched for before it
   * is sent, but in the other cell it would not be.
   */
  readonly isJustRestored: boolean;
  /** Whether the source is to leave the workspace to the target, which works, without a copy. */
  readonly isGivenUp: boolean;
}

export function sourceOf(workspace: Workspace | undefined, cell: string): MoveState["source"] {
  if (workspace === undefined) return "absent";
  const { move, deletion } = workspace;
  if (move !== undefined && move.cell !== cell) return "elsewhere";
  if (move?.movedAt !== undefined) return "moved";
  if (move !== undefined) return "frozen";
  return deletion === undefined ? "working" : "stopped";
}

export function targetOf(workspace: Workspace | undefined): MoveState["target"] {
  if (workspace === undefined) return "absent";
  const { isImporting, deletion, move } = workspace;
  if (isImporting) return "importing";
  return deletion === undefined && move === undefined ? "working" : "stopped";
}

export type MoveStep = "freeze" | "wait" | "copy" | "switch" | "release" | "done";

export type MoveDecision =
  | { readonly kind: "step"; readonly step: MoveStep }
  | { readonly kind: "refused"; readonly code: string; readonly message: string };

function step(name: MoveStep): MoveDecision {
  return { kind: "step", step: name };
}

function refused(code: string, message: string): MoveDecision {
  return { kind: "refused", code, message };
}

const LEFT_OVER = refused(
  "already_exists",
  "the other cell has the workspace, or a part of it from an earlier move; delete it there with `postrider workspace delete ID --now --confirm NAME`, and move it when it is removed",
);

/** A source that was restored to a moment before its switch does not know of it. */
const BOTH_HAVE = refused(
  "works_elsewhere",
  "the other cell works with this workspace; if it was moved there before this cell was restored, do not delete it there, but give it up here: the same command with --give-up, which is for good",
);

function ofAbsent({ target }: MoveState): MoveDecision {
  if (target === "working") return step("done");
  return refused("not_found", "the workspace does not exist here");
}

function ofWorking({ target, isGivenUp, isJustRestored }: MoveState): MoveDecision {
  if (target === "working") return isGivenUp ? step("freeze") : BOTH_HAVE;
  if (isJustRestored)
    return refused(
      "just_restored",
      "the data of this cell was restored or adopted within the last 15 minutes; move the workspace when they are over",
    );
  return target === "absent" ? step("freeze") : LEFT_OVER;
}

function ofFrozen({ target, isQuiet, isCopied, isGivenUp }: MoveState): MoveDecision {
  if (target === "working") return isGivenUp ? step("switch") : BOTH_HAVE;
  if (target === "stopped") return LEFT_OVER;
  if (!isQuiet) return step("wait");
  return step(isCopied && target === "importing" ? "switch" : "copy");
}

/**
 * A switch follows a complete copy, so without its folder the import is taken as it is. With it the
 * copy is made complete, in case another run has deleted the import before the switch and begun it
 * again.
 */
function ofMoved({ target, isCopied, hasExport }: MoveState): MoveDecision {
  if (target === "working") return step("done");
  if (target === "stopped")
    return refused(
      "invalid_transition",
      "the workspace is moved, and does not work in the other cell; `postrider workspace show` there says why",
    );
  if (target === "importing") return step(isCopied || !hasExport ? "release" : "copy");
  if (hasExport) return step("copy");
  return refused(
    "not_found",
    "the workspace is moved, and the other cell does not have it: name the folder of its export",
  );
}

export function decideMove(state: MoveState): MoveDecision {
  if (state.isGivenUp && state.target !== "working")
    return refused("invalid_transition", "the other cell does not work with the workspace");
  switch (state.source) {
    case "absent":
      return ofAbsent(state);
    case "stopped":
      return refused(
        "invalid_transition",
        "the workspace is being deleted or imported here; `postrider workspace show` says which",
      );
    case "elsewhere":
      return refused(
        "other_cell",
        "the workspace is frozen for, or moved to, another cell than the named one; `postrider workspace show` says which",
      );
    case "working":
      return ofWorking(state);
    case "frozen":
      return ofFrozen(state);
    case "moved":
      return ofMoved(state);
  }
}
