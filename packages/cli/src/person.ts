import { hostname, userInfo } from "node:os";

/** Returns the user and the computer that run the operator's tool, for the audit log, such as `ana@laptop`. */
export function findPerson(): string {
  return `${findUser()}@${hostname()}`;
}

function findUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run as a user id that has no name.
    return String(process.getuid?.() ?? "unknown");
  }
}
