import { hostname } from "node:os";
import { deriveId } from "#src/ids.ts";

interface Listener {
  readonly service: string;
  readonly port: number;
}

/**
 * One running process has this name at a time, and the one that replaces it after a crash has it
 * again: two processes on one host cannot have the same port, and a container keeps its host name
 * when it is started again. Undefined for a port that the system chooses.
 *
 * A process may take over what an earlier process of its name left behind, for example leases. The
 * code that does so must be safe even if that one still runs.
 */
export function instanceName({ service, port }: Listener): string | undefined {
  return port === 0 ? undefined : `postrider-${service}@${hostname()}:${port}`;
}

/** Returns the id of this process for columns that name the owner of a lease. */
export function instanceId(listener: Listener): string | undefined {
  const name = instanceName(listener);
  return name === undefined ? undefined : deriveId(name);
}
