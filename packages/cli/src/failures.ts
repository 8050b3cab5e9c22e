import { ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "@postrider/contracts/errors/v1/error_pb";
import { ServiceError } from "@postrider/shared/errors";

/** Error for a wrong command line, before any service was called. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** Error for a service whose address or secret is unknown. */
export class NotRunningError extends Error {
  override name = "NotRunningError";
}

/**
 * Error for a command that fails for an expected reason, such as an expired connect link; `code` is
 * stable.
 */
export class CommandFailure extends Error {
  override name = "CommandFailure";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly exitCode: number;
}

/** What to do about a fault whose path and code do not say it to the person at the command line. */
const ADVICE: Readonly<Record<string, string>> = {
  "/name wrong_name":
    "--confirm must be the name of the workspace, as `postrider workspace show ID` prints it",
  "/platform not_simulated":
    "--simulated needs a simulator, as `npm start` has one; to connect a real account, leave it out",
};

/** Whether the service itself said so, not a connection that failed. */
function isAnswered(cause: unknown): boolean {
  return cause instanceof ConnectError && cause.findDetails(ErrorInfoSchema).length > 0;
}

function describe({ reason, violations, cause }: ServiceError, called: string): string {
  const { cell, address } = violations[0] ?? {};
  if (reason === "wrong_cell")
    return `the workspace is in the cell ${cell}, at ${address}; run the command in that cell`;
  if (violations.length > 0) {
    const faults = violations.map(({ path, code, allowed = [] }) => {
      const fault = path === undefined ? code : `${path} ${code}`;
      const advice = ADVICE[fault];
      if (advice !== undefined) return advice;
      return allowed.length === 0 ? fault : `${fault} (allowed: ${allowed.join(", ")})`;
    });
    return `the request is invalid: ${faults.join(", ")}`;
  }
  if (reason === "not_found")
    return "the id does not exist; check it with the list commands of `postrider help`";
  if (reason === "already_exists")
    return "the workspace exists in this installation; delete it first, and wait until `postrider workspace show` says that it is removed";
  if (reason === "unavailable" && isAnswered(cause))
    return `${called} cannot do this now: its database does not answer, or the workspace is being moved to another cell. Run the command again`;
  if (reason === "unavailable" || reason === "upstream_timeout")
    return `${called} does not answer; start Postrider, or check the address`;
  return `${called} rejected the request: ${reason}`;
}

/**
 * Turns an error into a message and an exit code: 2 for a wrong command line, 1 for every other
 * failure.
 *
 * @param called The services that the command has called, in words.
 */
export function toFailure(error: unknown, called: string): Failure {
  if (error instanceof UsageError)
    return { code: "invalid_request", message: error.message, exitCode: 2 };
  if (error instanceof NotRunningError)
    return { code: "unavailable", message: error.message, exitCode: 1 };
  if (error instanceof CommandFailure)
    return { code: error.code, message: error.message, exitCode: 1 };
  if (error instanceof ServiceError)
    return { code: error.reason, message: describe(error, called), exitCode: 1 };
  const message = error instanceof Error ? error.message : String(error);
  return { code: "internal", message, exitCode: 1 };
}
