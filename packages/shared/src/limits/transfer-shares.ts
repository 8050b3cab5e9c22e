import { networkOf } from "#src/http/remote-network.ts";
import type { Share } from "#src/limits/semaphore.ts";

/** Who and what a transfer of bytes belongs to, as far as it is known. */
export interface TransferOwner {
  readonly workspaceId?: string;
  /** The remote address of a client without an API key; all addresses of an IPv6 /64 network count as one. */
  readonly address?: string;
  /** The upload grant, which allows one transfer at a time. */
  readonly grant?: string;
  /** The file that is read, so that the readers of one published address leave room for its workspace. */
  readonly file?: string;
}

/** Maximum ratio of the transfers of one file to the free permits: one file gets a quarter of all permits. */
const FILE_PER_FREE = 1 / 3;

/**
 * Returns the shares of the permits that a transfer uses. They are the same for uploads, downloads, imports and checks
 * of files, in every process: neither a workspace nor an address gets more permits than it leaves free for others.
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
