import type { AddressLimits } from "#src/operations/admission/address-limits.ts";
import type { AdmissionResult } from "#src/operations/admission/admission-result.ts";
import type { KeyRecord } from "#src/operations/admission/key-records.ts";
import {
  rateLimitOf,
  retryAfterSeconds,
  spendOnCredit,
  spendPrepaid,
  type WorkspaceBudget,
} from "#src/operations/admission/workspace-budget.ts";

const UNAVAILABLE: AdmissionResult = { kind: "unavailable", retryAfterSeconds: 1 };

type Workspace = NonNullable<KeyRecord["workspace"]>;

/** A refusal that counts towards the rate limit of the remote address. */
type Refusal =
  | { readonly kind: "unauthenticated" }
  | {
      readonly kind: "workspace_required" | "workspace_forbidden";
      readonly workspaceIds: readonly string[];
    };

export interface Answers {
  /** Refuses a request without a valid API key, and counts the request towards the limit of its remote address. */
  refuse(address: string, now: number): AdmissionResult;
  /**
   * Decides whether a request is admitted, from a stored answer about its API key that is at most 3 s old. Returns
   * undefined when the gateway must ask the accounts service for more granted requests, or whether the workspace is verified by
   * now.
   */
  fromRecord(record: KeyRecord, address: string, now: number): AdmissionResult | undefined;
  /**
   * Decides whether a request is admitted, from an answer of the accounts service that has just arrived. `record` is
   * undefined when the API key is not valid.
   */
  fromGrant(record: KeyRecord | undefined, address: string, now: number): AdmissionResult;
  /**
   * Decides whether a request is admitted while the accounts service does not answer, from an older stored answer about
   * its API key.
   */
  duringOutage(record: KeyRecord | undefined, address: string, now: number): AdmissionResult;
}

function admitted(record: KeyRecord, { budget, verified }: Workspace, now: number) {
  const { keyId, scopes } = record;
  const { workspaceId } = budget;
  const limit = rateLimitOf(budget, now);
  return { kind: "admitted", keyId, scopes, workspaceId, verified, limit } as const;
}

function limited(budget: WorkspaceBudget, now: number): AdmissionResult {
  return {
    kind: "rate_limited",
    workspaceId: budget.workspaceId,
    retryAfterSeconds: retryAfterSeconds(budget, now),
    limit: rateLimitOf(budget, now),
  };
}

/**
 * Creates the functions that decide, from stored answers of the accounts service, whether a single request is admitted,
 * and that count the request.
 */
export function createAnswers(addresses: AddressLimits): Answers {
  /**
   * Counts a refused request towards the rate limit of its remote address, and returns the refusal with the state of
   * this limit.
   */
  function charge(refusal: Refusal, address: string, now: number): AdmissionResult {
    const isWithinLimit = addresses.take(address, now);
    const limit = addresses.stateOf(address, now);
    if (isWithinLimit) return { ...refusal, limit };
    const retryAfterSeconds = addresses.retryAfterSeconds(address, now);
    return { kind: "rate_limited", workspaceId: undefined, retryAfterSeconds, limit };
  }

  function refuse(address: string, now: number): AdmissionResult {
    return charge({ kind: "unauthenticated" }, address, now);
  }

  /**
   * Refuses a request that names no workspace, or a workspace to which its valid API key does not belong. The request
   * cannot count towards the rate limit of a workspace, so it counts towards that of its remote address.
   */
  function withoutWorkspace(record: KeyRecord, address: string, now: number): AdmissionResult {
    const isNamed = record.source.workspaceId !== undefined;
    const kind = isNamed ? "workspace_forbidden" : "workspace_required";
    return charge({ kind, workspaceIds: record.workspaceIds }, address, now);
  }

  return {
    refuse,
    fromRecord: (record, address, now) => {
      const { workspace } = record;
      if (workspace === undefined) return withoutWorkspace(record, address, now);
      const { budget, verified } = workspace;
      // That a workspace is not verified is not taken from a stored answer: the operator who verifies it is told at once that it
      // may write posts, so its next request must find that.
      if (verified && spendPrepaid(budget)) return admitted(record, workspace, now);
      return budget.prepaid < 1 && now < budget.emptyUntil ? limited(budget, now) : undefined;
    },
    fromGrant: (record, address, now) => {
      if (record === undefined) return refuse(address, now);
      const { workspace } = record;
      if (workspace === undefined) return withoutWorkspace(record, address, now);
      if (spendPrepaid(workspace.budget)) return admitted(record, workspace, now);
      return limited(workspace.budget, now);
    },
    duringOutage: (record, address, now) => {
      if (record === undefined || record.usableUntil <= now) return UNAVAILABLE;
      const { workspace } = record;
      if (workspace === undefined) return withoutWorkspace(record, address, now);
      const { budget } = workspace;
      if (spendPrepaid(budget) || spendOnCredit(budget, now))
        return admitted(record, workspace, now);
      return limited(budget, now);
    },
  };
}
