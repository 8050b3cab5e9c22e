import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { execute } from "./tools.ts";

const CREDENTIAL = /^.*(?:_authToken|_auth|_password)\s*=\s*"?([^"\s]+)/gm;

/** What a build is given to reach the package registry, and what of it must not be in an image. */
export interface RegistryAccess {
  readonly npmrcFile: string;
  readonly secrets: readonly string[];
}

/** The user's own access and one more credential, which nobody needs: it would show a leak on every machine. */
export function writeRegistryAccess(folder: string): RegistryAccess {
  const own = join(homedir(), ".npmrc");
  const canary = `//registry.invalid/:_authToken=${randomBytes(16).toString("hex")}\n`;
  const text = `${existsSync(own) ? readFileSync(own, "utf8") : ""}\n${canary}`;
  const npmrcFile = join(folder, "npmrc");
  writeFileSync(npmrcFile, text, { mode: 0o600 });
  return { npmrcFile, secrets: [...text.matchAll(CREDENTIAL)].map(([, value]) => value ?? "") };
}

/** The files below `folder` in which one of the secrets stands. */
export async function findSecrets(
  folder: string,
  { npmrcFile, secrets }: RegistryAccess,
): Promise<readonly string[]> {
  const patterns = `${npmrcFile}.patterns`;
  writeFileSync(patterns, `${secrets.join("\n")}\n`, { mode: 0o600 });
  const search = ["--recursive", "--files-with-matches", "--fixed-strings", "--file", patterns];
  // grep fails when it finds nothing.
  const found = await execute("sh", ["-c", 'grep "$@" || [ $? = 1 ]', "grep", ...search, folder]);
  return found.split("\n").filter((line) => line !== "");
}
