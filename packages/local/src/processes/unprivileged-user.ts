import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";

export interface ProcessUser {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Postgres refuses to run as root. An existing folder keeps its owner; a new one belongs to
 * `nobody`. Undefined when this process is not root.
 */
export function unprivilegedUser(dataDir: string): ProcessUser | undefined {
  if (process.getuid?.() !== 0) return undefined;

  const owner = statSync(dataDir, { throwIfNoEntry: false });
  return owner === undefined || owner.uid === 0 ? readNobody() : { uid: owner.uid, gid: owner.gid };
}

/** 65534 if `nobody` is not listed. */
export function readNobody(passwd = readFileSync("/etc/passwd", "utf8")): ProcessUser {
  const fields = passwd
    .split("\n")
    .find((line) => line.startsWith("nobody:"))
    ?.split(":");
  const uid = Number(fields?.[2]);
  const gid = Number(fields?.[3]);
  return fields !== undefined && uid > 0 && gid > 0 ? { uid, gid } : { uid: 65_534, gid: 65_534 };
}

/** From the root down to `folder`; undefined when the user may enter all of them. */
export function firstClosedFolder(folder: string, user: ProcessUser): string | undefined {
  const folders: string[] = [];
  for (let at = realpathSync(folder); ; at = dirname(at)) {
    folders.unshift(at);
    if (at === dirname(at)) return folders.find((each) => !mayEnter(statSync(each), user));
  }
}

/** By the execute bit that applies to the user: of the owner, the group, or others. */
export function mayEnter(
  folder: { mode: number; uid: number; gid: number },
  user: ProcessUser,
): boolean {
  if (folder.uid === user.uid) return (folder.mode & 0o100) !== 0;

  return (folder.mode & (folder.gid === user.gid ? 0o010 : 0o001)) !== 0;
}
