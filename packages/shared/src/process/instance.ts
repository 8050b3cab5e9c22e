import { hostname } from "node:os";
import { deriveId } from "#src/ids.ts";

interface Listener {
  readonly service: string;
  /** Port on which the process answers RPCs; 0 if the system chooses it. */
  readonly port: number;
}

/**
 * Returns a name that one running process has at a time, and that a process which replaces it after a crash has again: two
 * processes on one host cannot have the same port, and each container has a host name of its own, which it keeps when it is
 * started again. Undefined for a port that the system chooses.
 *
 * A process may take over at once what an earlier process of its name has left behind, for example its leases, instead of
 * waiting for their end. The code that does so must be safe even if the earlier process still runs.
 */
export function instanceName({ service, port }: Listener): string | undefined {
  return port === 0 ? undefined : `postrider-${service}@${hostname()}:${port}`;
}

/** Returns the id of the process with the name of `instanceName`, for columns that name the owner of a lease. */
export function instanceId(listener: Listener): string | undefined {
  const name = instanceName(listener);
  return name === undefined ? undefined : deriveId(name);
}
