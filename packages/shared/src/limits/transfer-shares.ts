import { networkOf } from "#src/http/remote-network.ts";
import type { Share } from "#src/limits/semaphore.ts";

/** The workspace, client address, upload grant and file to which a transfer of bytes counts, as far as they are known. */
export interface TransferOwner {
  readonly workspaceId?: string;
  /** The remote address of a client without an API key. All addresses of an IPv6 /64 network count as one address. */
  readonly address?: string;
  /** The upload grant of an upload; each grant allows one transfer at a time. */
  readonly grant?: string;
  /**
   * The file that a transfer reads. It has a limit of its own, so that the readers of one published file leave permits for
   * other files of its workspace.
   */
  readonly file?: string;
}

/**
 * Maximum ratio of the permits that the transfers of one file use to the permits that are free. With 1/3, one file gets
 * at most a quarter of all permits, while the other three quarters are free.
 */
const FILE_PER_FREE = 1 / 3;

/**
 * Returns the limits on the permits that a transfer uses, one for each of its owners. The limits are the same for uploads,
 * downloads, imports and checks of files, in every process: neither a workspace nor an address gets more permits than it leaves
 * free for others.
 */
export function transferShares(owner: TransferOwner): readonly Share[] {
  const { workspaceId, address, grant, file } = owner;
  return [
    ...(workspaceId === undefined ? [] : [{ key: `workspace ${workspaceId}`, perFree: 1 }]),
    ...(address === undefined ? [] : [{ key: `address ${networkOf(address)}`, perFree: 1 }]),
    ...(grant === undefined ? [] : [{ key: `grant ${grant}`, max: 1 }]),
    ...(file === undefined ? [] : [{ key: `file ${file}`, perFree: FILE_PER_FREE }]),
  ];
}
