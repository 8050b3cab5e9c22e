import type { Fault } from "#src/faults/rule.ts";

export interface FaultableRequest {
  readonly platform: string;
  readonly operations: readonly string[];
  readonly method: string;
  readonly path: string;
  readonly account: { readonly externalId: string; readonly username: string } | undefined;
}

export function matchesPath(pattern: string, method: string, path: string): boolean {
  const [wantedMethod = "", wantedPath = ""] = pattern.split(" ", 2);
  return (wantedMethod === "*" || wantedMethod === method) && matchesWildcard(wantedPath, path);
}

function matchesWildcard(pattern: string, text: string): boolean {
  const [head = "", ...rest] = pattern.split("*");
  const tail = rest.pop();
  if (tail === undefined) return text === head;

  if (!text.startsWith(head) || !text.endsWith(tail) || text.length < head.length + tail.length)
    return false;

  let from = head.length;
  for (const part of rest) {
    const at = text.indexOf(part, from);
    if (at === -1) return false;

    from = at + part.length;
  }
  return from <= text.length - tail.length;
}

function concernsAccount(fault: Fault, account: FaultableRequest["account"]): boolean {
  if (fault.account === undefined) return true;

  return (
    account !== undefined &&
    (fault.account === account.externalId ||
      fault.account.toLowerCase() === account.username.toLowerCase())
  );
}

function namesOperation(fault: Fault, request: FaultableRequest): boolean {
  if (fault.operation === undefined) return false;

  return fault.operation.includes(" ")
    ? matchesPath(fault.operation, request.method, request.path)
    : request.operations.includes(fault.operation);
}

export function firstMatch(faults: Iterable<Fault>, request: FaultableRequest): Fault | undefined {
  for (const fault of faults)
    if (
      fault.platform === request.platform &&
      fault.remaining > 0 &&
      fault.mode !== "stale_reads" &&
      concernsAccount(fault, request.account) &&
      namesOperation(fault, request)
    )
      return fault;

  return undefined;
}

export function staleReads(
  faults: Iterable<Fault>,
  platform: string,
  account: FaultableRequest["account"],
): Fault[] {
  return [...faults].filter(
    (fault) =>
      fault.mode === "stale_reads" &&
      fault.platform === platform &&
      concernsAccount(fault, account),
  );
}
