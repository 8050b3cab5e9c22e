import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const IDENTITY = "release@postrider";
const NAMESPACE = "postrider-release";
/** Of `git tag --sign`. */
const OF_TAGS = "git";

/**
 * Signs each file with a private SSH key, and writes the public key as `allowed_signers` beside
 * them. Verifies as operators do (docs/upgrading.md).
 *
 * @returns The paths of `allowed_signers` and of the signatures.
 */
export function signFiles(
  folder: string,
  key: string,
  names: readonly string[],
): readonly string[] {
  const publicKey = execFileSync("ssh-keygen", ["-y", "-f", key], { encoding: "utf8" });
  const allowed = join(folder, "allowed_signers");
  writeFileSync(allowed, `${IDENTITY} namespaces="${NAMESPACE},${OF_TAGS}" ${publicKey}`);
  const signatures = names.map((name) => {
    const file = join(folder, name);
    const signature = `${file}.sig`;
    // `ssh-keygen` would keep the signature of a former file.
    rmSync(signature, { force: true });
    execFileSync("ssh-keygen", ["-Y", "sign", "-n", NAMESPACE, "-f", key, file]);
    const who = ["-f", allowed, "-I", IDENTITY, "-n", NAMESPACE, "-s", signature];
    execFileSync("ssh-keygen", ["-Y", "verify", ...who], { input: readFileSync(file) });
    return signature;
  });
  return [allowed, ...signatures];
}
