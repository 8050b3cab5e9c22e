import type { AddressBudgets } from "#src/clients/admission/address-budgets.ts";
import type { KeyRecord } from "#src/clients/admission/key-records.ts";
import {
  rateLimitOf,
  retryAfterSeconds,
  spendOnCredit,
  spendPrepaid,
  type WorkspaceBudget,
} from "#src/clients/admission/workspace-budget.ts";
import type { AdmissionResult } from "#src/domain/admission.ts";

const UNAVAILABLE: AdmissionResult = { kind: "unavailable", retryAfterSeconds: 1 };

type Workspace = NonNullable<KeyRecord["workspace"]>;

export interface Answers {
  /** For a request without a key that works; counts on its address. */
  refuse(address: string, now: number): AdmissionResult;
  /** From a fresh record. Undefined when accounts must be asked for more. */
  known(record: KeyRecord, address: string, now: number): AdmissionResult | undefined;
  /** From what accounts has just answered; undefined = the key does not work. */
  final(record: KeyRecord | undefined, address: string, now: number): AdmissionResult;
  /** Without accounts: from what is left of an older answer. */
  offline(record: KeyRecord | undefined, address: string, now: number): AdmissionResult;
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

/** Turns what is known of a key and its workspace's budget into the answer to one request, which is thereby counted. */
export function createAnswers(addresses: AddressBudgets): Answers {
  function refuse(address: string, now: number): AdmissionResult {
    const isAnswered = addresses.take(address, now);
    const limit = addresses.stateOf(address, now);
    if (isAnswered) return { kind: "unauthenticated", limit };
    const retryAfterSeconds = addresses.retryAfterSeconds(address, now);
    return { kind: "rate_limited", workspaceId: undefined, retryAfterSeconds, limit };
  }

  /** The key works, so that the address is shown its limit and pays nothing. */
  function withoutWorkspace(record: KeyRecord, address: string, now: number): AdmissionResult {
    const isNamed = record.source.workspaceId !== undefined;
    const kind = isNamed ? "workspace_forbidden" : "workspace_required";
    return { kind, limit: addresses.stateOf(address, now) };
  }

  return {
    refuse,
    known: (record, address, now) => {
      const { workspace } = record;
      if (workspace === undefined) return withoutWorkspace(record, address, now);
      if (spendPrepaid(workspace.budget)) return admitted(record, workspace, now);
      return now < workspace.budget.emptyUntil ? limited(workspace.budget, now) : undefined;
    },
    final: (record, address, now) => {
      if (record === undefined) return refuse(address, now);
      const { workspace } = record;
      if (workspace === undefined) return withoutWorkspace(record, address, now);
      if (spendPrepaid(workspace.budget)) return admitted(record, workspace, now);
      return limited(workspace.budget, now);
    },
    offline: (record, address, now) => {
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
