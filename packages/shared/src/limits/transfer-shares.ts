import { networkOf } from "#src/http/remote-network.ts";
import type { Share } from "#src/limits/semaphore.ts";

/** To whom a transfer counts, as far as they are known. */
export interface TransferOwner {
  readonly workspaceId?: string;
  /** Address of a client without an API key. All addresses of an IPv6 /64 network count as one. */
  readonly address?: string;
  /** Each grant allows one transfer at a time. */
  readonly grant?: string;
  /** The readers of one published file leave permits for other files of its workspace. */
  readonly file?: string;
}

/** With 1/3, one file gets at most a quarter of all permits while the others are free. */
const FILE_PER_FREE = 1 / 3;

/** Neither a workspace nor an address gets more permits than it leaves free. */
export function transferShares(owner: TransferOwner): readonly Share[] {
  const { workspaceId, address, grant, file } = owner;
  return [
    ...(workspaceId === undefined ? [] : [{ key: `workspace ${workspaceId}`, perFree: 1 }]),
    ...(address === undefined ? [] : [{ key: `address ${networkOf(address)}`, perFree: 1 }]),
    ...(grant === undefined ? [] : [{ key: `grant ${grant}`, max: 1 }]),
    ...(file === undefined ? [] : [{ key: `file ${file}`, perFree: FILE_PER_FREE }]),
  ];
}
