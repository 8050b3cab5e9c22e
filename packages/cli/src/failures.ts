import { ServiceError } from "@postrider/shared/errors";

/** The command line itself is wrong; nothing was asked of anybody. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** No service to talk to is known. */
export class NotRunningError extends Error {
  override name = "NotRunningError";
}

/** Something went as it can go, and not as it was meant; `code` is stable. */
export class CommandFailure extends Error {
  override name = "CommandFailure";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** What the tool says when a command did not work. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly exitCode: number;
}

function describe({ reason, violations }: ServiceError, asked: string): string {
  if (violations.length > 0) {
    const faults = violations.map(({ path, code }) =>
      path === undefined ? code : `${path} ${code}`,
    );
    return `the request was refused: ${faults.join(", ")}`;
  }
  if (reason === "not_found") return "there is nothing with that id";
  if (reason === "unavailable" || reason === "upstream_timeout")
    return `${asked} does not answer; is the stack running (npm start)?`;
  return `${asked} refused: ${reason}`;
}

/**
 * A failure in words and with an exit code: 2 for a wrong command line, 1 for everything else.
 *
 * @param asked The services that the command has talked to.
 */
export function toFailure(error: unknown, asked: string): Failure {
  if (error instanceof UsageError)
    return { code: "invalid_request", message: error.message, exitCode: 2 };
  if (error instanceof NotRunningError)
    return { code: "unavailable", message: error.message, exitCode: 1 };
  if (error instanceof CommandFailure)
    return { code: error.code, message: error.message, exitCode: 1 };
  if (error instanceof ServiceError)
    return { code: error.reason, message: describe(error, asked), exitCode: 1 };
  const message = error instanceof Error ? error.message : String(error);
  return { code: "internal", message, exitCode: 1 };
}
