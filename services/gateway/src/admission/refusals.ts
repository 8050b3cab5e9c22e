import type { Cells } from "@postrider/shared/config/cells";
import { createAddressLimits } from "#src/admission/address-limits.ts";
import type { AdmissionResult, Refusal } from "#src/admission/admission-result.ts";
import type { KnownKey } from "#src/admission/known-keys.ts";
import { findOtherCell, type OtherCell, toOtherCell } from "#src/admission/other-cell.ts";
import type { WorkspaceBudget } from "#src/admission/workspace-budget.ts";
import type { AdmissionSource } from "#src/clients/admit-batches.ts";

/** An import that is a part of a move ends soon; a client that was sent here waits for it. */
const IMPORTING: AdmissionResult = { kind: "unavailable", retryAfterSeconds: 5 };

/** Refused requests count towards the limit of their address. */
export class Refusals {
  readonly #cells: Cells;
  readonly #addresses = createAddressLimits();

  constructor(cells: Cells) {
    this.#cells = cells;
  }

  /** Of a missing, malformed or unknown key; one of another cell is sent there. */
  ofKey(key: string | undefined, address: string, now: number): AdmissionResult {
    const other = key === undefined ? undefined : findOtherCell(key, this.#cells);
    return this.#ofCell(other, address, now);
  }

  /** Undefined if the workspace is here. */
  ofElsewhere({ movedTo, isImporting }: WorkspaceBudget, address: string, now: number) {
    if (movedTo !== "") return this.#ofCell(toOtherCell(movedTo, this.#cells), address, now);
    return isImporting ? IMPORTING : undefined;
  }

  ofWorkspace(known: KnownKey, source: AdmissionSource, address: string, now: number) {
    const kind = source.workspaceId === undefined ? "workspace_required" : "workspace_forbidden";
    const workspaceIds = [...known.workspaceIds];
    return this.#charge(address, now, (limit) => ({ kind, limit, workspaceIds }));
  }

  sweep(now: number): void {
    this.#addresses.sweep(now);
  }

  #ofCell(other: OtherCell | undefined, address: string, now: number): AdmissionResult {
    const { cell = "", cellAddress } = other ?? {};
    return this.#charge(address, now, (limit) =>
      cellAddress === undefined
        ? { kind: "unauthenticated", limit }
        : { kind: "wrong_cell", limit, cell, cellAddress },
    );
  }

  #charge(
    address: string,
    now: number,
    refusal: (limit: Refusal["limit"]) => Refusal,
  ): AdmissionResult {
    const isWithinLimit = this.#addresses.take(address, now);
    const limit = this.#addresses.stateOf(address, now);
    if (isWithinLimit) return refusal(limit);
    const retryAfterSeconds = this.#addresses.retryAfterSeconds(address, now);
    return { kind: "rate_limited", workspaceId: undefined, retryAfterSeconds, limit };
  }
}
