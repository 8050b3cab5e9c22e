import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";

export interface ProcessUser {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Returns the user as which Postgres must be started, because Postgres refuses to run as root.
 *
 * @param dataDir An existing folder keeps its owner; a new one belongs to `nobody`.
 * @returns undefined when this process is not root and starts Postgres as its own user.
 */
export function unprivilegedUser(dataDir: string): ProcessUser | undefined {
  if (process.getuid?.() !== 0) return undefined;

  const owner = statSync(dataDir, { throwIfNoEntry: false });
  return owner === undefined || owner.uid === 0 ? readNobody() : { uid: owner.uid, gid: owner.gid };
}

/** Reads uid and gid of `nobody` from the text of `/etc/passwd`; 65534 if the user is not listed. */
export function readNobody(passwd = readFileSync("/etc/passwd", "utf8")): ProcessUser {
  const fields = passwd
    .split("\n")
    .find((line) => line.startsWith("nobody:"))
    ?.split(":");
  const uid = Number(fields?.[2]);
  const gid = Number(fields?.[3]);
  return fields !== undefined && uid > 0 && gid > 0 ? { uid, gid } : { uid: 65_534, gid: 65_534 };
}

/**
 * Finds the first folder that a user may not enter, from the root down to `folder` itself.
 *
 * @returns undefined when the user may enter all of them.
 */
export function firstClosedFolder(folder: string, user: ProcessUser): string | undefined {
  const folders: string[] = [];
  for (let at = realpathSync(folder); ; at = dirname(at)) {
    folders.unshift(at);
    if (at === dirname(at)) return folders.find((each) => !mayEnter(statSync(each), user));
  }
}

/**
 * Whether a user may enter a folder. The execute bit that applies to the user decides: the bit for the owner, for the
 * group, or for others.
 */
export function mayEnter(
  folder: { mode: number; uid: number; gid: number },
  user: ProcessUser,
): boolean {
  if (folder.uid === user.uid) return (folder.mode & 0o100) !== 0;

  return (folder.mode & (folder.gid === user.gid ? 0o010 : 0o001)) !== 0;
}
